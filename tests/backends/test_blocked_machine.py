"""Loops of blocked programs: segments, states, effects, nesting, instances whose ranges differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intent_np.backends.program import Counters, run
from intent_np.terms.blocked import (
    Base,
    BlockedProgram,
    Fold,
    Loop,
    Perform,
    Point,
    Segment,
    Slice,
    Tile,
    Traverse,
    Whole,
)
from intent_np.terms.core import replace
from intent_np.terms.dtypes import f32, i32, index
from intent_np.terms.index import Cast, Const, Extent, Physical, Value, add, apply, const, le, lt, mul, select, sub
from intent_np.terms.normal import (
    Arg,
    Axis,
    Carry,
    Combine,
    Contract,
    Coord,
    Load,
    Proj,
    Reduce,
    Store,
    builtin,
    identity,
)

from .machine_programs import axis, div, exp, lanewise, one_group, reduction, view

ORDERS = ("forward", "reverse", "random")
M, N = Extent("M"), Extent("N")
X, Y = view("x", "in", f32, M, N), view("y", "out", f32, M)
R, C = axis(M, "r"), axis(N, "c")
POINT, SLICE = Point(R), Slice(C, Physical("BC", 8))
SUM, MAX = builtin("sum", f32), builtin("max", f32)
ZERO, LOW = identity("sum", f32), identity("max", f32)


def blocked(
    *effects: Any, space: tuple[Any, ...] = (POINT,), parameters: tuple[Any, ...] = (X, Y, M, N)
) -> BlockedProgram:
    return one_group("p", parameters, space, effects)


def element(fill: float = 0.0, c: Any = SLICE) -> Load:
    return Load(X, (Coord(POINT), Coord(c)), lt(Coord(c), N), fill)


def rows(program: BlockedProgram, x: Any) -> Any:
    """`y` of a program over rows, whatever the order and the pieces."""
    found = []
    for order, budget in zip(ORDERS, (1 << 24, 1, 1000), strict=True):
        y = np.full(x.shape[0], np.nan, np.float32)
        run(program, {"x": x, "y": y}, strict=True, order=order, budget=budget)
        found.append(y)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    return found[0]


def draws(*shape: int) -> Any:
    return np.random.default_rng(6).normal(-5, 1, shape).astype(np.float32)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 40])
def test_a_fold_combines_blocks_or_lanes(n: int) -> None:
    x = draws(5, n)
    masked = select(lt(Coord(SLICE), N), element(), LOW)
    across = Fold(SLICE, MAX, (reduction("max", SLICE, masked),), (LOW,))
    expected = x.max(1, initial=-np.inf)
    np.testing.assert_array_equal(rows(blocked(Store(Y, (Coord(POINT),), across)), x), expected)
    np.testing.assert_array_equal(rows(blocked(Store(Y, (Coord(POINT),), lanewise("max", SLICE, masked))), x), expected)


def two_in_one(stepped: bool) -> Loop:
    """The maximum by lanes and the sum by blocks, in one loop of two segments: whole blocks, and the rest."""
    full = apply("mul", apply("floordiv", N, const(8)), const(8))
    bare = replace(element(), valid=None, fill=0)
    whole = (bare, reduction("sum", SLICE, bare))
    inside = lt(Coord(SLICE), N)
    rest = (select(inside, element(), LOW), reduction("sum", SLICE, element()))
    state = Carry(SLICE, 0, f32, (SLICE,)), Carry(SLICE, 1, f32, ())

    def values(v: tuple[Value, Value]) -> tuple[Value, ...]:
        return (apply("maximum", state[0], v[0]), add(state[1], v[1])) if stepped else v

    segments = (Segment(const(0), full, values(whole), (), "full"), Segment(full, N, values(rest), (), "boundary"))
    return Loop(SLICE, (MAX, SUM), (LOW, ZERO), segments, (True, False), stepped)


@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("n", [0, 5, 8, 29, 32])
def test_a_loop_serves_several_folds_in_segments(n: int, stepped: bool) -> None:
    x = draws(4, n)
    loop = two_in_one(stepped)
    largest = Reduce(SLICE, MAX, (Proj(loop, 0),), (LOW,))
    found = rows(blocked(Store(Y, (Coord(POINT),), apply("maximum", largest, Proj(loop, 1)))), x)
    np.testing.assert_allclose(found, np.maximum(x.max(1, initial=-np.inf), x.sum(1)), rtol=1e-6)


def test_a_loop_of_several_users_runs_once() -> None:
    z = view("z", "out", f32, M, N)
    effect = Store(z, (Coord(POINT), Coord(SLICE)), element(), lt(Coord(SLICE), N))
    inside = reduction("sum", SLICE, element())
    loop = Loop(SLICE, (SUM,), (ZERO,), (Segment(const(0), N, (inside,), (effect,)),), (False,))
    users = Perform(loop), Store(Y, (Coord(POINT),), Proj(loop, 0))
    x, counters = draws(3, 20), Counters()
    for effects in (users, users[::-1]):
        y, copy = np.zeros(3, np.float32), np.zeros_like(x)
        counters = Counters()
        run(blocked(*effects, parameters=(X, Y, z, M, N)), {"x": x, "y": y, "z": copy}, strict=True, counters=counters)
        np.testing.assert_array_equal(copy, x)
        np.testing.assert_allclose(y, x.sum(1), rtol=1e-6)
        assert counters.iterations == 3 * 3
        assert counters.stores == x.size + 3


@pytest.mark.parametrize("inner", [False, True])
def test_an_effect_reads_what_was_there_before_the_one_beside_it(inner: bool) -> None:
    """z = y as it was, though each iteration stores to y first; or the sum of a block of it, in a loop of its own."""
    v, z = view("v", "inout", f32, N), view("z", "out", f32, N)
    at, member = Coord(SLICE), lt(Coord(SLICE), N)
    value: Value = Load(v, (at,), member)
    if inner:
        other = Slice(Axis(const(0), const(4)), Physical("B4", 4))
        value = reduction("sum", other, Fold(other, SUM, (mul(value, Cast(Coord(other), f32)),), (ZERO,), True))
    effects = Store(v, (at,), Const(1.0, f32), member), Store(z, (at,), value, member)
    loop = Loop(SLICE, (), (), (Segment(const(0), N, (), effects),), ())
    before = draws(20)
    after, found = before.copy(), np.zeros(20, np.float32)
    run(blocked(Perform(loop), space=(), parameters=(v, z, N)), {"v": after, "z": found}, strict=True)
    np.testing.assert_allclose(found, before * (6 if inner else 1), rtol=1e-6)
    np.testing.assert_array_equal(after, 1)


def test_loops_of_one_slice_nest_without_confusion() -> None:
    """Within a traversal of the columns, a fold over the same slice has iterations of its own."""
    y = view("y", "out", f32, M, N)
    store = Store(
        y, (Coord(POINT), Coord(SLICE)), div(element(), lanewise("sum", SLICE, element())), lt(Coord(SLICE), N)
    )
    x, out = draws(3, 21), np.zeros((3, 21), np.float32)
    counters = Counters()
    run(blocked(Traverse(SLICE, store), parameters=(X, y, M, N)), {"x": x, "y": out}, strict=True, counters=counters)
    np.testing.assert_allclose(out, x / x.sum(1, keepdims=True), rtol=1e-5)
    assert counters.iterations == 2 * 3 * 3, "the fold is invariant, so it runs once"


def triangle(narrowed: bool) -> BlockedProgram:
    """y[q] = sum of x[q, k] for k <= q: over all blocks with a mask, or over the blocks that may have members."""
    q = Tile(R, Physical("BQ", 8))
    x = Load(X, (Coord(q), Coord(SLICE)), apply("and", lt(Coord(q), M), lt(Coord(SLICE), N)), 0.0)
    masked = select(le(Coord(SLICE), Coord(q)), x, ZERO)
    stop = apply("minimum", N, add(Base(q), q.size)) if narrowed else N
    loop = Loop(SLICE, (SUM,), (ZERO,), (Segment(const(0), stop, (masked,), ()),), (True,))
    total = Reduce(SLICE, SUM, (Proj(loop, 0),), (ZERO,))
    return blocked(Store(Y, (Coord(q),), total, lt(Coord(q), M)), space=(q,))


def test_instances_leave_a_loop_each_at_its_end() -> None:
    x = draws(64, 64)
    counts = []
    for narrowed in (False, True):
        np.testing.assert_allclose(rows(triangle(narrowed), x), np.tril(x).sum(1), rtol=1e-5)
        counters = Counters()
        run(triangle(narrowed), {"x": x, "y": np.zeros(64, np.float32)}, counters=counters)
        counts.append((counters.loads, counters.iterations))
    assert counts == [(64 * 64, 64), (64 * 36, 36)], "a triangle is half of the blocks"


def test_an_invariant_is_loaded_once() -> None:
    scale = view("scale", "in", f32, M)
    value = reduction("sum", SLICE, mul(element(), Load(scale, (Coord(POINT),))))
    program = blocked(Store(Y, (Coord(POINT),), Fold(SLICE, SUM, (value,), (ZERO,))), parameters=(X, scale, Y, M, N))
    x, counters = draws(5, 32), Counters()
    run(program, {"x": x, "scale": x[:, 0], "y": np.zeros(5, np.float32)}, counters=counters)
    assert counters.loads == x.size + 5


@pytest.mark.parametrize("offsets", [[0, 3, 3, 20], [5, 5], [0]])
def test_bounds_may_be_read_from_memory(offsets: list[int]) -> None:
    """A program for each group of a ragged domain, and a loop over its members."""
    o, v = view("offsets", "in", i32, Extent("G1")), view("v", "in", f32, N)
    y = view("y", "out", f32, sub(Extent("G1"), const(1)))
    g = Point(axis(sub(Extent("G1"), const(1)), "g"))
    t = Slice(Axis(*(Cast(Load(o, (add(Coord(g), const(d)),)), index) for d in (0, 1))), Physical("BT", 4))
    member = lt(Coord(t), t.axis.hi)
    total = lanewise("sum", t, Load(v, (Coord(t),), member, 0.0))
    program = blocked(Store(y, (Coord(g),), total), space=(g,), parameters=(o, v, y))
    values, out = draws(20), np.zeros(len(offsets) - 1, np.float32)
    run(program, {"offsets": np.int32(offsets), "v": values, "y": out}, strict=True)
    np.testing.assert_allclose(out, [values[a:b].sum() for a, b in zip(offsets, offsets[1:], strict=False)], rtol=1e-5)


@pytest.mark.parametrize("n", [1, 7, 8, 30])
def test_attention_as_one_loop_with_three_states(n: int) -> None:
    """The online softmax: greatest score, sum of weights, weighted sum of values, rescaled as the greatest grows."""
    D = 16
    q, k, v = (view(s, "in", f32, e, const(D)) for s, e in (("q", M), ("k", N), ("v", N)))
    y = view("y", "out", f32, M, const(D))
    rows_, d = Tile(R, Physical("BM", 4)), Whole(axis(const(D), "d"), Physical("BD", D))
    here, member = lt(Coord(rows_), M), lt(Coord(SLICE), N)
    scores = Contract(d, Load(q, (Coord(rows_), Coord(d)), here), Load(k, (Coord(SLICE), Coord(d)), member), f32)
    top = reduction("max", SLICE, select(member, scores, LOW))
    weights = select(member, exp(apply("sub", scores, top)), ZERO)
    parts = (
        top,
        reduction("sum", SLICE, weights),
        Contract(SLICE, weights, Load(v, (Coord(SLICE), Coord(d)), member), f32),
    )
    (am, *a), (bm, *b) = ([Arg(s, i, f32) for i in range(3)] for s in "ab")
    new = apply("maximum", am, bm)
    fa, fb = (exp(apply("sub", m, new)) for m in (am, bm))
    bodies = (new, *(add(mul(p, fa), mul(r, fb)) for p, r in zip(a, b, strict=True)))
    fold = Fold(SLICE, Combine((f32, f32, f32), bodies), parts, (LOW, ZERO, ZERO))
    store = Store(y, (Coord(rows_), Coord(d)), div(Proj(fold, 2), Proj(fold, 1)), here)
    m = 10
    arrays = [np.random.default_rng(7).normal(size=(e, D)).astype(np.float32) for e in (m, n, n)]
    out = np.zeros((m, D), np.float32)
    run(
        blocked(store, space=(rows_,), parameters=(q, k, v, y)),
        dict(zip("qkvy", [*arrays, out], strict=True)),
        strict=True,
    )
    s = (arrays[0] @ arrays[1].T).astype(np.float64)
    p = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(1, keepdims=True) @ arrays[2], rtol=1e-4, atol=1e-5)


def test_a_domain_need_not_start_at_zero() -> None:
    inner = Axis(const(3), sub(N, const(2)))
    for a in (Slice(inner, Physical("B", 4)), Tile(inner, Physical("B", 4)), Whole(inner, Physical("B", 16))):
        v, y = view("v", "in", f32, N), view("y", "out", f32, N)
        store: Any = Store(y, (Coord(a),), Load(v, (Coord(a),), lt(Coord(a), inner.hi)), lt(Coord(a), inner.hi))
        program = blocked(
            Traverse(a, store) if isinstance(a, Slice) else store,
            space=(a,) if isinstance(a, Tile) else (), parameters=(v, y, N),
        )  # fmt: skip
        values, out = draws(17), np.zeros(17, np.float32)
        run(program, {"v": values, "y": out}, strict=True)
        np.testing.assert_array_equal(out, np.where((np.arange(17) >= 3) & (np.arange(17) < 15), values, 0))


def test_a_constant_may_be_folded() -> None:
    program = blocked(Store(Y, (Coord(POINT),), Fold(SLICE, SUM, (Const(1.0, f32),), (ZERO,))))
    np.testing.assert_array_equal(rows(program, draws(3, 20)), [3, 3, 3])
