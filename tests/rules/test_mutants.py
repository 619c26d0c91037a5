"""Rules broken on purpose: every one is refuted by values, or as right as the rule that it was made of."""

from __future__ import annotations

import pytest

from intent_np.rules.tables import BUILTIN
from intent_np.testing.rules.mutants import Mutant, mutants
from intent_np.testing.rules.verdict import judge_scalar

from .test_verdicts import MERELY_TESTED, OPAQUE, shown

SCALAR = [r for t in BUILTIN.tables if t.language is None for r in t.rules]
UNDECIDED = MERELY_TESTED | OPAQUE
MUTANTS = [m for r in SCALAR if r.name not in UNDECIDED for m in mutants(r)]
KEEPS_UNDEFINED = {"c != 0"}
"""Guards that only keep what is undefined as it is written."""
GUARDS = [m for m in MUTANTS if m.kind == "guard" and m.change[9:-1] not in KEEPS_UNDEFINED]
OTHERS = [m for m in MUTANTS if m.kind != "guard"][::4]


def named(m: Mutant) -> str:
    return f"{m.of} {m.change}"


@pytest.mark.parametrize("m", GUARDS, ids=named)
def test_a_rule_needs_each_of_its_guards(m: Mutant) -> None:
    assert judge_scalar(m.rule).status == "refuted"


@pytest.mark.parametrize("m", OTHERS, ids=named)
def test_a_changed_rule_is_refuted_or_right(m: Mutant) -> None:
    verdict = judge_scalar(m.rule)
    assert verdict.status != "tested", verdict
    if verdict.program:
        before, after = shown(verdict)
        assert before != after


def test_there_are_many_of_every_kind() -> None:
    kinds = [m.kind for m in MUTANTS]
    assert {k: kinds.count(k) >= 25 for k in kinds} == dict.fromkeys(
        ("guard", "comparison", "literal", "operand"), True
    )
    assert len(MUTANTS) >= 300


def test_unsound_simplifications_are_impossible_to_add() -> None:
    """What other compilers were wrong about: each in its exact form, and all of them refuted at values."""
    tempting = {r.name: r for t in BUILTIN.tables for r in t.tempting}
    for name in (
        "ceil-div-by-sum",
        "ceil-div-by-sum-in-kernels",
        "mod-of-vector",
        "floordiv-truncates",
        "mod-moves-in",
    ):
        assert judge_scalar(tempting[name]).status == "refuted"
