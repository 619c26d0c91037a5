"""Simplification and substitution keep the meaning, come to an end, and have nothing left to do."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from intent_np.rules.simplify import node, simplify, simplify_all, substitute
from intent_np.terms.blocked import Base
from intent_np.terms.core import Arena, rewrite, walk
from intent_np.terms.dtypes import DTYPES, DType, bool_, f16, f32, i8, i32, u8, u32
from intent_np.terms.gpu import Range
from intent_np.terms.index import Cast, Const, Param, Stride, Value, apply, const
from intent_np.terms.normal import Coord
from intent_np.terms.operators import OPERATORS
from intent_np.testing.rules.meaning import evaluate, same, samples

from .random_terms import Index, value

SEEDS = range(400)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_index_terms_keep_their_values(depth: int) -> None:
    decided = 0
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            t = draw.predicate(depth) if seed % 2 else draw.term(depth)
            s = simplify(t)
            decided += isinstance(s, Const) and not isinstance(t, Const)
            assert simplify(s) is s, (t, s, simplify(s))
            for _ in range(10):
                env = draw.values(t, s)
                if env is not None and (before := value(t, env)) is not None:
                    assert value(s, env) == before, (t, s, env)
    assert decided > 10


class Scalars:
    """Draws values of any element type over parameters, with the constants that rules look for."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def dtype(self) -> DType:
        return self.random.choice((f16, f32, DTYPES["f64"], DTYPES["bf16"], i8, u8, i32, u32, DTYPES["i64"]))

    def constant(self, d: DType) -> Const:
        if d is bool_:
            return Const(self.random.random() < 0.5, d)
        if d.is_float:
            return const(
                self.random.choice((0.0, -0.0, 1.0, -1.0, 2.0, 0.5, float("inf"), float("-inf"), float("nan"))), d
            )
        low, high = d.range
        return Const(self.random.choice([v for v in (0, 1, 2, 3, 7, -1, 100, high, low) if low <= v <= high]), d)

    def term(self, d: DType, depth: int) -> Value:
        pick = self.random.random()
        if depth <= 0 or pick < 0.1:
            return self.constant(d) if self.random.random() < 0.4 else Param(self.random.choice("xyz") + d.name, d)
        if d is bool_ and pick < 0.4:
            of = self.dtype()
            return apply(
                self.random.choice(("lt", "le", "eq", "ne")), self.term(of, depth - 1), self.term(of, depth - 1)
            )
        if pick < 0.3:
            return apply("select", self.term(bool_, depth - 1), self.term(d, depth - 1), self.term(d, depth - 1))
        if pick < 0.4 and d is not bool_:
            return Cast(self.term(self.dtype(), depth - 1), d)
        names = [o.name for o in OPERATORS.values() if o.accepts(d) and o.result == ("bool" if d is bool_ else "same")]
        names = [
            n for n in names if n not in ("select", "shl", "shr") and not (d.is_float and OPERATORS[n].about in LIBRARY)
        ]
        op = OPERATORS[self.random.choice(names)]
        return apply(op, *(self.term(d, depth - 1) for _ in range(op.arity if op.arity > 0 else 2)))


LIBRARY = {
    o.about for o in OPERATORS.values() if o.operands == "f" and o.name not in ("div", "fma", "fmod", "pow", "sqrt")
}
"""Functions that no rule knows: they only cost time here."""


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_values_of_every_type_keep_their_bits(depth: int) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        with Arena():
            draw = Scalars(seed)
            d = bool_ if seed % 5 == 0 else draw.dtype()
            t = draw.term(d, depth)
            s = simplify(t)
            assert s.type is t.type
            assert simplify(s) is s, (t, s)
            env: dict[Any, Any] = {p: samples(p.dtype, 60, rng) for p in walk(t) if isinstance(p, Param)}
            (before, poison), (after, worse) = evaluate(t, env), evaluate(s, env)
            assert np.all(poison | (same(before, after, d) & ~worse)), (t, s)


def test_the_end_is_reached_early() -> None:
    """`node` has a bound only against wrong tables: no term comes near it."""
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            t = draw.predicate(4)
            rewrite((t,), counted)


def counted(t: Any) -> Any:
    for _ in range(8):
        new = node(t)
        if new is t:
            return t
        t = new
    raise AssertionError(f"{t} goes on and on")


@pytest.mark.parametrize("everywhere", [False, True])
def test_substitution_replaces_values(everywhere: bool) -> None:
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            t, new = draw.term(3), draw.term(2)
            # extents and sizes are parts of axes, whose coordinates would be others
            places = [
                leaf for leaf in draw.leaves if leaf in walk(t) and isinstance(leaf, (Coord, Base, Range, Stride))
            ]
            if not places:
                continue
            leaf = draw.random.choice(places)
            s = substitute(t, {leaf: new}, everywhere)
            for _ in range(10):
                env = draw.values(t, new, s)
                if env is None or (inner := value(new, env)) is None:
                    continue
                if (before := value(t, env | {leaf: inner})) is not None:
                    assert value(s, env) == before, (t, leaf, new, s, env)


def test_substitution_is_simultaneous() -> None:
    with Arena():
        x, y = Param("x", i32), Param("y", i32)
        swapped = substitute(apply("sub", x, y), {x: y, y: x})
        assert swapped is apply("sub", y, x)


def test_a_decided_predicate_disappears() -> None:
    with Arena():
        x, y, p = Param("x", f32), Param("y", f32), Param("p", bool_)
        t = apply("select", apply("and", p, apply("lt", x, y)), x, y)
        assert substitute(t, {p: Const(False, bool_)}) is y
        assert substitute(t, {p: Const(True, bool_)}) is apply("select", apply("lt", x, y), x, y)


def test_nothing_to_do_gives_the_same_object() -> None:
    with Arena():
        x, y = Param("x", f32), Param("y", f32)
        t = apply("add", apply("mul", x, y), y)
        assert simplify(t) is t
        assert simplify_all((t, x)) == (t, x)
        assert substitute(t, {Param("z", f32): x}) is t
        assert substitute(t, {}) is t


@pytest.mark.parametrize("d", [i8, u8, i32, u32], ids=str)
def test_constants_wrap_as_their_type_does(d: DType) -> None:
    with Arena():
        x, top = Param("x", d), Const(d.range[1], d)
        assert simplify(apply("add", apply("add", x, top), Const(2, d))) is apply("add", x, Const(d.range[0] + 1, d))
        assert simplify(apply("add", top, Const(1, d))) is Const(d.range[0], d)
        assert simplify(apply("floordiv", x, Const(0, d))) is apply("floordiv", x, Const(0, d))
        zero = apply("floordiv", top, Const(0, d))
        assert simplify(zero) is zero  # invalid: it stays as it is written


def test_index_constants_that_do_not_fit_stay_apart() -> None:
    with Arena():
        x, big = Param("x", DTYPES["index"]), const(2**40)
        for name in ("mul", "floordiv"):
            t = apply(name, apply(name, x, big), big)
            assert simplify(t) is t
        far = apply("add", apply("mul", x, const(2**62)), apply("mul", x, const(2**62)))
        assert simplify(far) is far
