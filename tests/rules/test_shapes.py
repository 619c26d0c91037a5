"""Rules about shapes keep the type, the extents and every element; each makes its term smaller by the measure."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intent_np.numerics import cast, invalid_cast
from intent_np.passes.compose_shapes import rewritten
from intent_np.rules.pattern import Rule, rule, structure
from intent_np.rules.rule_set import RuleSet, Table
from intent_np.rules.shape_attributes import FUNCTIONS, holds_exactly
from intent_np.rules.shapes import RULES, measure, p, s, v
from intent_np.rules.structures import source
from intent_np.rules.tables import BUILTIN
from intent_np.terms.core import Arena
from intent_np.terms.dtypes import DTYPES, bool_, f16, f32, f64, i8, i32, index
from intent_np.terms.index import Param, const
from intent_np.terms.logical import LOGICAL, Convert, Filled, Pointwise, Transpose
from intent_np.terms.operators import OPERATORS
from intent_np.testing.rules.arranged import Maker, element, evaluated, random_value
from intent_np.testing.rules.meaning import same, samples
from intent_np.testing.rules.structured import firings, try_all
from intent_np.testing.rules.verdict import judge

from ..sources import executed


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_rules_keep_types_and_elements_and_end(seed: int) -> None:
    with Arena():
        value = random_value(seed)
        _, broken = firings(value, BUILTIN)
        assert broken is None, broken
        after = rewritten(value)
        assert after.type == value.type
        assert same(evaluated(value), evaluated(after), element(value)).all()
        assert rewritten(after) is after


def test_every_rule_fires() -> None:
    fired, broken = try_all(BUILTIN, [r.name for r in RULES])
    assert not broken
    assert min(fired[r.name] for r in RULES) >= 1


EXACT = [d for d in DTYPES.values() if d is not index and d.name != "u64"]


@pytest.mark.parametrize("d", EXACT, ids=lambda d: d.name)
def test_a_conversion_between_loses_nothing(d: Any) -> None:
    """Whatever the type in between, the result is that of one conversion, or the chain is not shortened."""
    rng = np.random.default_rng(1)
    values = samples(d, 4000, rng)
    with Arena(), np.errstate(all="ignore"):
        held = Filled(Param("s", d), (const(4),))
        between = [m for m in EXACT if m is not d and holds_exactly(held, m, "wrap", "wrap")]
        for m in between:
            back = cast(cast(values, m, d), d, m)
            assert same(back, values, d).all(), m
            for e in (f64, i32):
                fine = ~np.broadcast_to(invalid_cast(cast(values, m, d), e, m), values.shape)
                found, wanted = cast(values, e, d)[fine], cast(cast(values, m, d), e, m)[fine]
                assert same(found, wanted, e).all(), (m, e)
        assert bool_ not in between
        assert not holds_exactly(held, d, "bits", "wrap")


def test_lossy_conversions_stay() -> None:
    with Arena():
        maker = Maker(Random(0))
        for first, middle in ((f32, f16), (i32, f32), (i32, i8), (f64, f32), (f16, DTYPES["bf16"])):
            chain = Convert(Convert(maker.read((const(4),), first), middle), f64)
            assert rewritten(chain) is chain, (first, middle)


WRONG = (
    rule("any-permutation", structure("Transpose", v, p), v),
    rule("reshape-anything", structure("Reshape", v, s), v),
    rule("grows", structure("Transpose", v, p), structure("Transpose", structure("Transpose", v, p), p)),
)


@pytest.mark.parametrize("r", WRONG, ids=lambda r: r.name)
def test_a_wrong_rule_is_refuted_by_a_program(r: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("wrong", (r,), language=LOGICAL, functions=FUNCTIONS, measure=measure)
    (verdict,) = judge(RuleSet((table,)))
    assert verdict.status == "refuted"
    assert verdict.detail
    executed(verdict.program)
    shown = capsys.readouterr().out.splitlines()
    if r.name == "any-permutation":
        before, after = shown
        assert before != after
    assert shown  # the right side may have no type, or be right and larger


def test_rules_are_data_and_read_like_it() -> None:
    names = [r.name for r in RULES]
    assert len(set(names)) == len(names)
    assert all(r.why and r.numerics == "exact" for r in RULES)
    (r,) = (r for r in RULES if r.name == "transpose-transpose")
    assert (str(r.left), str(r.right)) == ("Transpose(Transpose(v, p), q)", "Transpose(v, composed(p, q))")
    assert "# take-take" in source(RULES, LOGICAL)["Take"]
    assert all(f.__doc__ for f in FUNCTIONS.values() if not f.__name__.startswith("_"))


def test_a_deep_chain_is_rewritten() -> None:
    with Arena():
        t: Any = Maker(Random(1)).read((const(2), const(3)), f32)
        for _ in range(3000):
            t = Pointwise(OPERATORS["add"], (Transpose(t, (1, 0)), const(1, f32)))
        assert rewritten(Transpose(t, (0, 1))) is rewritten(t)
