"""The meaning of normal programs: coordinates, binders, ragged axes, regions, effects in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.backends.arrays.schedule import box, pieces
from intent_np.backends.reference.normal import run
from intent_np.errors import CheckError
from intent_np.terms.dtypes import bool_, f16, f32, i8, i32, i64, index
from intent_np.terms.index import Cast, Const, Extent, Value, add, apply, const, lt, mul, select
from intent_np.terms.normal import Arg, Axis, Combine, Contract, Coord, Load, Part, Program, Proj, Reduce, Region, Store

from .machine_programs import axis, div, exp, reduction, sub, view

M, N, K = (Extent(n) for n in "MNK")
R, C = axis(M, "r"), axis(N, "c")
X = view("x", "in", f32, M, N)
V = view("v", "in", f32, N)
AT = (Coord(R), Coord(C))


def draws(*shape: int) -> Any:
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def result(program: Program, shape: tuple[int, ...], dtype: Any = np.float32, **arrays: Any) -> Any:
    """What `program` writes to `y`, whatever the order of points, the pieces, and the cuts of regions."""
    found = []
    for order, budget, cuts in (("forward", 1 << 24, 1), ("reverse", 1, 3), ("random", 512, 50)):
        y = np.full(shape, 99, dtype)
        run(program, arrays | {"y": y}, strict=True, order=order, budget=budget, cuts=cuts)
        found.append(y)
    for other in found[1:]:
        if np.dtype(dtype).kind == "f":
            np.testing.assert_allclose(other, found[0], rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(other, found[0])
    return found[0]


def stored(value: Value, *at: Any, dtype: Any = f32) -> Program:
    """A program that stores `value` at the coordinates of some axes, over the whole of them."""
    y = view("y", "out", dtype, *(a.hi for a in at))
    return Program("p", (X, V, y, M, N), (Store(y, tuple(Coord(a) for a in at), value),))


def test_a_transposed_sum_with_a_broadcast() -> None:
    x, v = draws(5, 7), draws(7)
    program = stored(add(Load(X, AT), Load(V, (Coord(C),))), C, R)
    np.testing.assert_array_equal(result(program, (7, 5), x=x, v=v), (x + v).T)


def test_a_coordinate_is_absolute_in_its_domain() -> None:
    inner = axis(N, "inner", lo=const(2))
    y = view("y", "out", index, N)
    program = Program("p", (y, N), (Store(y, (Coord(inner),), mul(Coord(inner), const(10))),))
    found = np.full(6, 99)
    run(program, {"y": found})
    np.testing.assert_array_equal(found, [99, 99, 20, 30, 40, 50])


def test_a_binder_hides_the_axis_outside_of_it() -> None:
    x = draws(6, 9)
    top = reduction("max", C, Load(X, AT))
    e = exp(sub(Load(X, AT), top))
    program = stored(div(e, reduction("sum", C, e)), R, C)
    oracle = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(
        result(program, (6, 9), x=x, v=draws(9)), oracle / oracle.sum(1, keepdims=True), rtol=1e-5
    )


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_reductions_of_nothing_give_the_identity(name: str, n: int) -> None:
    x = draws(3, n)
    numpy = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[name]
    start = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}[name]
    found = result(stored(reduction(name, C, Load(X, AT)), R), (3,), x=x, v=draws(n))
    np.testing.assert_allclose(found, numpy(x, 1, initial=start), rtol=1e-5)


def test_a_value_without_the_reduced_axis_counts_once_for_each_member() -> None:
    program = stored(reduction("sum", C, Const(2.0, f32)), R)
    np.testing.assert_array_equal(result(program, (3,), x=draws(3, 5), v=draws(5)), [10, 10, 10])


def argmax(x: Value, over: Axis) -> Value:
    """The greatest value and its first index: a combine of two components."""
    (av, ai), (bv, bi) = ((Arg(s, 0, f32), Arg(s, 1, index)) for s in "ab")
    left = apply("or", lt(bv, av), apply("and", apply("eq", av, bv), lt(ai, bi)))
    combine = Combine((f32, index), (select(left, av, bv), select(left, ai, bi)))
    return Reduce(over, combine, (x, Coord(over)), (Const(float("-inf"), f32), const(2**62)))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 16, 31])
def test_a_reduction_of_tuples(n: int) -> None:
    x = np.round(draws(4, n) * 2)  # ties
    program = stored(Proj(argmax(Load(X, AT), C), 1), R, dtype=index)
    expected = x.argmax(1) if n else np.full(4, 2**62)
    np.testing.assert_array_equal(result(program, (4,), np.int64, x=x, v=draws(n)), expected)


@pytest.mark.parametrize("extents", [(3, 4, 5), (3, 4, 0), (1, 1, 1), (0, 4, 5)])
def test_contractions_with_batch_and_free_axes(extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    B, L = Extent("B"), axis(K, "k")
    p, q = view("p", "in", f16, B, K, M), view("q", "in", f16, N, B, K)
    y = view("y", "out", f32, N, B, M)
    b = axis(B, "b")
    value = Contract(L, Load(p, (Coord(b), Coord(L), Coord(R))), Load(q, (Coord(C), Coord(b), Coord(L))), f32)
    program = Program("p", (p, q, y), (Store(y, (Coord(C), Coord(b), Coord(R)), value),))
    left, right = draws(2, k, m).astype(np.float16), draws(n, 2, k).astype(np.float16)
    expected = np.einsum("bkm,nbk->nbm", left.astype(np.float64), right.astype(np.float64))
    np.testing.assert_allclose(result(program, (n, 2, m), p=left, q=right), expected, rtol=1e-4, atol=1e-5)


def test_integer_contractions_are_exact_and_wrap() -> None:
    for d, acc in ((i8, i32), (i32, i32), (i64, i64)):
        a, b, y = view("a", "in", d, M, N), view("b", "in", d, N), view("y", "out", acc, M)
        program = Program("p", (a, b, y), (Store(y, (Coord(R),), Contract(C, Load(a, AT), Load(b, (Coord(C),)), acc)),))
        top = 2 ** (d.bits - 1) - 1
        left = np.array([[top, -top - 1, top]], f"i{d.bytes}")
        right = np.array([top, top, -1], f"i{d.bytes}")
        exact = sum(int(l) * int(r) for l, r in zip(left[0], right, strict=True))
        wrapped = (exact + 2 ** (acc.bits - 1)) % 2**acc.bits - 2 ** (acc.bits - 1)
        assert result(program, (1,), f"i{acc.bytes}", a=left, b=right)[0] == wrapped


# ---- ragged axes

OFFSETS = view("offsets", "in", i32, Extent("G1"))
G = axis(sub(Extent("G1"), const(1)), "g")
T = Axis(*(Cast(Load(OFFSETS, (add(Coord(G), const(d)),)), index) for d in (0, 1)))


@pytest.mark.parametrize("offsets", [[0, 3, 3, 9], [0, 0, 0, 0], [2, 5], [0]])
def test_reductions_over_a_ragged_axis(offsets: list[int]) -> None:
    y = view("y", "out", f32, sub(Extent("G1"), const(1)))
    program = Program("p", (OFFSETS, V, y), (Store(y, (Coord(G),), reduction("max", T, Load(V, (Coord(T),)))),))
    v = -np.abs(draws(max(offsets)))  # zeros for lanes outside would be greater
    expected = [v[a:b].max(initial=-np.inf) for a, b in zip(offsets, offsets[1:], strict=False)]
    np.testing.assert_array_equal(result(program, (len(offsets) - 1,), offsets=np.int32(offsets), v=v), expected)


def test_stores_and_contractions_over_a_ragged_axis() -> None:
    """Each group of rows has a matrix of its own."""
    a, w, y = view("a", "in", f32, M, K), view("w", "in", f32, Extent("E"), K, N), view("y", "out", f32, M, N)
    k = axis(K, "k")
    value = Contract(k, Load(a, (Coord(T), Coord(k))), Load(w, (Coord(G), Coord(k), Coord(C))), f32)
    program = Program("p", (OFFSETS, a, w, y), (Store(y, (Coord(T), Coord(C)), value),))
    offsets = np.int32([0, 4, 4, 9])
    rows, weights = draws(9, 5), draws(3, 5, 6)
    expected = np.concatenate(
        [rows[s:e] @ weights[g] for g, (s, e) in enumerate(zip(offsets[:-1], offsets[1:], strict=True))]
    )
    np.testing.assert_allclose(
        result(program, (9, 6), offsets=offsets, a=rows, w=weights), expected, rtol=1e-4, atol=1e-5
    )


def test_a_sum_over_each_group_of_a_ragged_domain() -> None:
    squares = Contract(T, Load(V, (Coord(T),)), Load(V, (Coord(T),)), f32)
    y = view("y", "out", f32, sub(Extent("G1"), const(1)))
    v = draws(8)
    v[0] = np.inf  # in no group: no NaN may come from it
    found = result(
        Program("p", (OFFSETS, V, y), (Store(y, (Coord(G),), squares),)), (2,), offsets=np.int32([1, 4, 8]), v=v
    )
    np.testing.assert_allclose(found, [(v[1:4] ** 2).sum(), (v[4:] ** 2).sum()], rtol=1e-5)


# ---- regions


def logsumexp(x: Any, over: Axis) -> Region:
    """Greatest element and scaled sum of a part; two parts combine by rescaling."""
    part = Part(over)
    here = x(Coord(part))
    top = reduction("max", part, here)
    total = reduction("sum", part, exp(sub(here, top)))
    (am, al), (bm, bl) = ((Arg(s, 0, f32), Arg(s, 1, f32)) for s in "ab")
    new = apply("maximum", am, bm)
    scale = [mul(l, exp(sub(m, new))) for m, l in ((am, al), (bm, bl))]
    combine = Combine((f32, f32), (new, add(*scale)))
    return Region(over, combine, (top, total), (Const(float("-inf"), f32), Const(0.0, f32)))


@pytest.mark.parametrize("n", [1, 2, 17])
def test_a_region_is_the_same_for_any_cuts(n: int) -> None:
    x = draws(3, n)
    region = logsumexp(lambda c: Load(X, (Coord(R), c)), C)
    program = stored(add(Proj(region, 0), apply("log", Proj(region, 1))), R)
    found = result(program, (3,), x=x, v=draws(n))
    np.testing.assert_allclose(found, np.log(np.exp(x.astype(np.float64)).sum(1)), rtol=1e-5)


def test_a_region_of_nothing_is_its_identities() -> None:
    region = logsumexp(lambda c: Load(X, (Coord(R), c)), C)
    assert result(stored(Proj(region, 0), R), (2,), x=draws(2, 0), v=draws(0)).tolist() == [-np.inf, -np.inf]


def test_a_region_over_a_ragged_axis_skips_the_parts_that_are_empty() -> None:
    region = logsumexp(lambda c: Load(V, (c,)), T)
    y = view("y", "out", f32, sub(Extent("G1"), const(1)))
    program = Program("p", (OFFSETS, V, y), (Store(y, (Coord(G),), Proj(region, 1)),))
    v = draws(9)
    parts = [v[0:3], v[3:3], v[3:9]]
    expected = [np.exp(p - p.max()).sum() if p.size else 0 for p in parts]
    np.testing.assert_allclose(result(program, (3,), offsets=np.int32([0, 3, 3, 9]), v=v), expected, rtol=1e-5)


# ---- effects

Z = view("z", "inout", f32, N)
BACKWARDS = sub(sub(N, const(1)), Coord(C))


def test_a_store_that_reads_its_own_view_reads_what_was_there() -> None:
    z = np.arange(9, dtype=np.float32)
    run(Program("p", (Z, N), (Store(Z, (Coord(C),), Load(Z, (BACKWARDS,))),)), {"z": z}, budget=1)
    np.testing.assert_array_equal(z, np.arange(9)[::-1])


@pytest.mark.parametrize("alias", [False, True])
def test_a_load_reads_after_the_effect_that_it_names(alias: bool) -> None:
    """y = (z before anything) * 100 + (z after the first store) * 10 + (z after the second)."""
    other = view("other", "inout", f32, N)
    first = Store(Z, (Coord(C),), Const(1.0, f32))
    second = Store(other if alias else Z, (Coord(C),), Const(2.0, f32))
    values = [Load(Z, (Coord(C),), after=e) for e in (None, first, second)]
    total = add(add(mul(values[0], Const(100.0, f32)), mul(values[1], Const(10.0, f32))), values[2])
    y = view("y", "out", f32, N)
    program = Program("p", (Z, other, y, N), (first, second, Store(y, (Coord(C),), total)))
    z, out = np.full(5, 3, np.float32), np.zeros(5, np.float32)
    run(program, {"z": z, "other": z if alias else z.copy(), "y": out})
    np.testing.assert_array_equal(out, 312)


def test_a_store_that_writes_an_element_twice_is_in_conflict() -> None:
    y = view("y", "out", f32, N)
    program = Program("p", (V, y, N), (Store(y, (apply("floordiv", Coord(C), const(2)),), Load(V, (Coord(C),))),))
    for budget in (1, 1 << 20):
        with pytest.raises(CheckError, match="accesses to 'y' are in conflict"):
            run(program, {"v": draws(6), "y": draws(6)}, strict=True, budget=budget)


def test_masked_stores_leave_the_rest() -> None:
    y = view("y", "out", bool_, N)
    even = apply("eq", apply("mod", Coord(C), const(2)), const(0))
    found = np.zeros(5, bool)
    run(Program("p", (y, N), (Store(y, (Coord(C),), Const(True, bool_), even),)), {"y": found})
    np.testing.assert_array_equal(found, [True, False, True, False, True])


# ---- pieces


@given(st.lists(st.integers(0, 6), max_size=3), st.integers(1, 300), st.sampled_from(["forward", "reverse", "random"]))
def test_pieces_cover_every_point_once(extents: list[int], budget: int, order: str) -> None:
    sizes = box(extents, lambda s: 4 * int(np.prod(s)), budget)
    assert 4 * np.prod(sizes) <= budget or all(s <= 1 for s in sizes)
    seen = np.zeros(extents, int)
    for piece in pieces(extents, [max(1, s) for s in sizes], order):
        if extents:
            seen[np.ix_(*piece)] += 1
        else:
            seen += 1
    assert (seen == 1).all()
