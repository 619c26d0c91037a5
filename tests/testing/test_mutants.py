"""Mutants: one thing is wrong while they are applied, what lists them is true, and a suite notices."""

from __future__ import annotations

import pytest

from intent_np.passes.pipeline import PIPELINE
from intent_np.rules.rule_set import active
from intent_np.rules.tables import BUILTIN
from intent_np.testing.mutants import candidates, mutants, pass_mutants
from intent_np.testing.mutants.campaign import WITNESSED
from intent_np.testing.mutants.hunt import Fate, hunt, summary
from intent_np.testing.mutants.passes import NO_MEANING
from intent_np.testing.mutants.rules import mutated, rule_mutants
from intent_np.testing.mutants.suite import Trial, corpus_trials, explored
from kernels import cases

RULES = rule_mutants(3)


@pytest.fixture(scope="module")
def known() -> list:
    return candidates()


def test_every_guard_and_every_module_of_passes_has_one(known: list) -> None:
    names = {m.name for m in known}
    for r in BUILTIN.rules:
        assert {f"rule {r.name}: dropped guard {i + 1}" for i in range(len(r.when))} <= names
    modules = {p.module.rpartition(".")[2] for p in PIPELINE} - set(NO_MEANING)
    assert modules <= {name.partition(".")[0] for name in names}
    assert len(names) == len(known)


def test_witnesses_are_listed() -> None:
    found = mutants()
    assert len(found) >= 150, f"{len(found)}: python -m benchmarks.mutants --search"
    assert len({m.kind for m in found}) >= 8
    assert all(len(line.split(" | ")) == 4 for line in WITNESSED.read_text().splitlines())


def test_a_mutant_is_in_force_for_a_while_and_no_longer() -> None:
    from intent_np.passes import narrow_ranges

    before = {n: f.__code__ for n, f in vars(narrow_ranges).items() if hasattr(f, "__code__")}
    changed = 0
    for mutant in pass_mutants(None, lambda name, change: name.startswith("narrow_ranges._bound:")):
        with mutant.applied():
            changed += {n: f.__code__ for n, f in vars(narrow_ranges).items() if hasattr(f, "__code__")} != before
        assert {n: f.__code__ for n, f in vars(narrow_ranges).items() if hasattr(f, "__code__")} == before
    assert changed
    (guardless,) = [m for m in RULES if m.name == "rule mod-small: dropped guard 2"]
    assert len(mutated(guardless).when) == 1
    assert len(active().rule("mod-small").when) == 2


def trials(*names: str) -> list[Trial]:
    return explored(corpus_trials(c for c in cases() if c.name in names), jobs=1)


@pytest.mark.slow
def test_a_suite_notices(known: list) -> None:
    listed = [line.split(" | ") for line in WITNESSED.read_text().splitlines()]
    by_name = {m.name: m for m in known}
    wanted = [name for name, _, witness, _ in listed if witness == "histogram, machine" and name in by_name][:4]
    rule = next(m for m in RULES if m.name == "rule mod-small: dropped guard 2")
    fates = hunt([*(by_name[name] for name in wanted), rule], trials("histogram"), jobs=1)
    assert [f.status for f in fates] == ["killed"] * (len(wanted) + 1)
    assert fates[-1].witness == "rules check"
    assert summary(fates)["rate"] == 1.0


def test_survivors_lower_the_rate_and_equivalents_do_not_count() -> None:
    fates = [
        Fate("a.f: off by one 1", "off by one", "", s) for s in ("killed", "survived", "not reached", "equivalent")
    ]
    made = summary(fates)
    assert (made["mutants"], made["counted"], made["killed"], made["rate"]) == (4, 3, 1, 0.3333)
    assert len(made["survivors"]) == 2
