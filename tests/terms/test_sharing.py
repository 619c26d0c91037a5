"""Work is linear in the graph: deep and shared terms are built, walked, printed, read, rewritten and replaced."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from intent_np.rules.affine import affine
from intent_np.rules.facts import at_most, is_finite, lower, multiple_of, upper
from intent_np.rules.simplify import simplify, substitute, uses
from intent_np.terms.blocked import BLOCKED
from intent_np.terms.core import Arena, rewrite, walk
from intent_np.terms.dtypes import f32, index
from intent_np.terms.gpu import GPU, Kernel, Let, Var
from intent_np.terms.index import Cast, Const, Extent, Param, Value, add, apply, const, lt, mul, select, sub
from intent_np.terms.normal import NORMAL
from intent_np.terms.parse import ParseError, parse
from intent_np.terms.text import brief, show

DEPTH = 2000
X, Y = "x", "y"


def doubled(t: Any) -> Value:
    return add(t, t)


def rotated(t: Any) -> Value:
    return select(lt(t, Param(Y, f32)), mul(t, t), sub(t, Param(Y, f32)))


STEPS: dict[str, tuple[Callable[[Any], Value], Any]] = {
    "chain": (lambda t: apply("exp", t), f32),
    "sum of two": (doubled, f32),
    "three uses": (rotated, f32),
    "index sums": (doubled, index),
    "quotients": (lambda t: add(apply("floordiv", t, const(3)), mul(t, const(2))), index),
    "minima": (lambda t: apply("minimum", apply("maximum", t, Extent("N")), add(t, const(1))), index),
    "comparisons": (lambda t: select(lt(t, Extent("N")), add(t, const(1)), t), index),
}


def tower(step: str, depth: int = DEPTH) -> Any:
    make, d = STEPS[step]
    t: Any = Param(X, d)
    for _ in range(depth):
        t = make(t)
    return t


@pytest.mark.parametrize("step", STEPS)
def test_a_tall_shared_graph_is_no_trouble(step: str) -> None:
    with Arena():
        start = time.perf_counter()
        t = tower(step)
        count = len(walk(t))
        assert count <= 8 * DEPTH
        assert rewrite((t,), lambda u: u)[0] is t
        leaf = Param(X, STEPS[step][1])
        other = Param("z", STEPS[step][1])
        assert leaf not in walk(*rewrite((t,), lambda u: other if u is leaf else u))
        assert leaf not in walk(substitute(t, {leaf: other}))
        assert len(uses((t,))) == count
        simplify(t)
        text = show(t)
        assert len(text) < 120 * count
        assert parse(text, NORMAL) is t
        assert len(brief(t)) <= 160
        assert len(str(t)) <= 160
        if t.type is index:
            affine(t), lower(t), upper(t), multiple_of(t, 8), at_most(t, add(t, const(1)))
        else:
            is_finite(t)
        assert time.perf_counter() - start < 30  # seconds; exponential work takes longer than anybody waits


@pytest.mark.parametrize("step", ["chain", "three uses", "minima"])
def test_statements_that_repeat_a_large_value_stay_short(step: str) -> None:
    """A kernel names what it shares by statements, but nobody has to have made them."""
    with Arena():
        v = tower(step, 400)
        scalar = Var("s", v.type)
        (inside,) = rewrite((v,), lambda u: scalar if u is Param(X, v.type) else u)
        kernel = Kernel("k", (), (), (), (), (Let(scalar, Cast(const(3), v.type)), Let(Var("t", v.type), inside)))
        text = show(kernel)
        assert len(text) < 120 * len(walk(kernel))
        assert parse(text, GPU) is kernel
        assert "s = variable" in text


def test_a_nested_guard_stays_printable() -> None:
    with Arena():
        t: Any = lt(Extent("N"), const(3))
        for i in range(300):
            t = apply("or" if i % 2 else "and", t, lt(Extent("N"), const(i)), lt(Extent("M"), const(i)))
        assert parse(show(t), BLOCKED) is t


def test_parsing_is_as_deep_as_printing() -> None:
    """Text by hand may be deeper than ours."""
    with Arena():
        inner = "1.0:f32"
        for _ in range(60):
            inner = f"exp({inner})" if len(inner) % 2 else f"(-3.0:f32 + ({inner}))"
        assert any(isinstance(t, Const) for t in walk(parse(inner, NORMAL)))
        with pytest.raises(ParseError, match="line 1: nested too deeply"):
            parse("exp(" * 5000 + "1.0:f32" + ")" * 5000, NORMAL)
