"""What a machine refuses: accesses outside of a view, races, unwritten reads, padded lanes, wrong arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intent_np.backends.program import run
from intent_np.errors import CallError, CheckError, CompileError
from intent_np.terms.blocked import BlockedProgram, Point, Slice, Tile, Traverse, Whole
from intent_np.terms.core import replace
from intent_np.terms.dtypes import f32, index
from intent_np.terms.gpu import For, If, Kernel, Let, Range, Var
from intent_np.terms.grouped import Group, GroupedProgram
from intent_np.terms.index import Const, Extent, Param, Physical, Value, add, apply, const, lt
from intent_np.terms.normal import Axis, Coord, Load, Program, Reduce, Store, View

from . import machine_programs as programs
from .machine_programs import axis, one_group, reduction, view

N = Extent("N")
X, Y = view("x", "in", f32, N), view("y", "out", f32, N)
C = axis(N, "c")
BC = Physical("BC", 8)


def shifted(by: int) -> Program:
    return Program("shifted", (X, Y, N), (Store(Y, (Coord(C),), Load(X, (add(Coord(C), const(by)),))),))


def arguments(n: int = 11) -> dict[str, Any]:
    return {"x": np.arange(n, dtype=np.float32), "y": np.zeros(n, np.float32)}


@pytest.mark.parametrize(("by", "found"), [(1, "11"), (-1, "-1")])
def test_a_load_outside_of_its_view_names_the_axis_and_the_index(by: int, found: str) -> None:
    with pytest.raises(CheckError, match=r"access to 'x' is outside") as raised:
        run(shifted(by), arguments())
    assert raised.value.code == "E502"
    assert "axis 0 in 0..11" in raised.value.expected
    assert raised.value.found.startswith(f"index {found}, in ")


def test_an_invalid_lane_touches_nothing_and_gives_the_fill() -> None:
    at = add(Coord(C), const(1))
    program = Program("p", (X, Y, N), (Store(Y, (Coord(C),), Load(X, (at,), lt(at, N), -5.0)),))
    given = arguments(4)
    run(program, given)
    np.testing.assert_array_equal(given["y"], [1, 2, 3, -5])


def unguarded(kind: str) -> BlockedProgram:
    """A copy whose load, or store, lost its mask."""
    fragment: Any = {"tile": Tile(C, BC), "slice": Slice(C, BC), "whole": Whole(C, Physical("BW", 16))}[kind.split()[0]]
    inside = lt(Coord(fragment), N)
    load, store = (None, inside) if kind.endswith("load") else (inside, None)
    effect: Any = Store(Y, (Coord(fragment),), Load(X, (Coord(fragment),), load, 0.0), store)
    space = (fragment,) if isinstance(fragment, Tile) else ()
    return one_group("copy", (X, Y, N), space, (Traverse(fragment, effect) if isinstance(fragment, Slice) else effect,))


@pytest.mark.parametrize("what", ["load", "store"])
@pytest.mark.parametrize("kind", ["tile", "slice", "whole"])
def test_a_block_that_lost_its_mask_is_caught(kind: str, what: str) -> None:
    with pytest.raises(CheckError, match=f"access to '{'x' if what == 'load' else 'y'}' is outside"):
        run(unguarded(f"{kind} {what}"), arguments())


def test_a_kernel_that_lost_its_mask_is_caught() -> None:
    p = programs.matmul_gpu(8, 8, 8)
    loop = p.body[3]
    lhs = loop.body[1]
    bare = replace(lhs, value=replace(lhs.value, valid=None))
    body = (*p.body[:3], replace(loop, body=(loop.body[0], bare, *loop.body[2:])), p.body[4])
    a = np.zeros((8, 12), np.float16)
    given = {"A": a, "B": a.T, "C": np.zeros((8, 8), np.float32)}
    run(p, given)
    with pytest.raises(CheckError, match="access to 'A' is outside"):
        run(replace(p, body=body), given)


def test_a_padded_lane_may_not_read_even_inside_the_view() -> None:
    half = axis(const(5), "half")  # half of x only
    w = Whole(half, BC)
    store = Store(Y, (Coord(w),), Load(X, (Coord(w),)), lt(Coord(w), const(5)))
    program = one_group("half", (X, Y, N), (), (store,))
    run(program, arguments())
    with pytest.raises(CheckError, match="a padded lane of a block reads 'x'"):
        run(program, arguments(), strict=True)


def grouped(value: Value, at: Value, *views: View) -> GroupedProgram:
    return GroupedProgram("g", (*views, N), (Group((C,), (Store(views[-1], (at,), value),)),))


def test_instances_that_write_one_element_are_in_conflict() -> None:
    program = grouped(Load(X, (Coord(C),)), apply("floordiv", Coord(C), const(2)), X, Y)
    run(program, arguments())
    for budget in (1, 1 << 20):  # one after the other, and all at once
        with pytest.raises(CheckError, match="accesses to 'y' are in conflict") as raised:
            run(program, arguments(), strict=True, budget=budget)
        assert "instances 0 and 1 write it" in raised.value.found


def test_lanes_that_write_one_element_are_in_conflict() -> None:
    t = Whole(axis(N, "t"), Physical("B", 16))
    store = Store(
        Y, (apply("floordiv", Coord(t), const(2)),), Load(X, (Coord(t),), lt(Coord(t), N), 0.0), lt(Coord(t), N)
    )
    with pytest.raises(CheckError, match="in conflict") as raised:
        run(one_group("lanes", (X, Y, N), (), (store,)), arguments(), strict=True)
    assert "two lanes of instance 0" in raised.value.found


@pytest.mark.parametrize("budget", [1, 1 << 20])
def test_an_instance_that_reads_what_another_writes_is_in_conflict(budget: int) -> None:
    z = View("z", "inout", f32, (N,), (const(1),))
    program = grouped(Load(z, (apply("mod", add(Coord(C), const(1)), N),)), Coord(C), z)
    with pytest.raises(CheckError, match="accesses to 'z' are in conflict"):
        run(program, {"z": arguments()["x"]}, strict=True, budget=budget)


def test_what_nobody_wrote_has_no_value() -> None:
    first = Store(Y, (Coord(C),), Load(X, (Coord(C),)), lt(Coord(C), const(3)))
    out = view("out", "out", f32, N)
    second = Store(out, (Coord(C),), Load(Y, (Coord(C),), after=first))
    program = Program("p", (X, Y, out, N), (first, second))
    with pytest.raises(CheckError, match="an element of 'y' is read before anything wrote it") as raised:
        run(program, arguments() | {"out": np.zeros(11, np.float32)}, strict=True)
    assert "(3,)" in raised.value.found


def test_instances_in_another_order_show_a_race() -> None:
    total = view("total", "out", f32, const(1))
    program = GroupedProgram("last", (X, total, N), (Group((C,), (Store(total, (const(0),), Load(X, (Coord(C),))),)),))
    results = set()
    for order in ("forward", "reverse"):
        out = np.zeros(1, np.float32)
        run(program, {"x": arguments()["x"], "total": out}, order=order)
        results.add(float(out[0]))
    assert results == {0.0, 10.0}


def test_a_loop_bound_that_varies_along_a_fragment_is_refused() -> None:
    inner = Axis(const(0), Coord(Whole(C, BC)))
    s = Slice(inner, BC)
    store = Store(Y, (Coord(s),), Const(1.0, f32), lt(Coord(s), N))
    with pytest.raises(CompileError, match="not well formed") as raised:
        run(one_group("p", (Y, N), (), (Traverse(s, store),)), {"y": np.zeros(8, np.float32)})
    assert "varies along a fragment axis" in raised.value.found


def test_a_fragment_that_is_too_small_for_its_axis_is_refused() -> None:
    w = Whole(C, BC)
    program = one_group("p", (X, Y, N), (), (Store(Y, (Coord(w),), Load(X, (Coord(w),))),))
    run(program, arguments(8))
    with pytest.raises(CompileError) as raised:
        run(program, arguments(9))
    assert "holds 8 of 9 members" in raised.value.found


def test_a_name_without_a_value_is_refused() -> None:
    body = (Store(Y, (Range(BC),), Var("t", f32, (BC,)), lt(Range(BC), N)),)
    with pytest.raises(CompileError) as raised:
        run(Kernel("k", (BC,), (Y, N), (const(1),), (Var("p", index),), body), {"y": np.zeros(8, np.float32)})
    assert "t is used before it has a value" in raised.value.found


def test_a_reduction_over_a_coordinate_that_nothing_binds_is_refused() -> None:
    p = Point(C)
    body = Store(Y, (Coord(p),), reduction("sum", Slice(C, BC), Load(X, (Coord(Slice(C, BC)),))))
    with pytest.raises(CompileError) as raised:
        run(one_group("p", (X, Y, N), (p,), (body,)), arguments())
    assert "outside of a loop" in raised.value.found


M, K = Extent("M", 100, 4), Param("scale", f32)
V = View("v", "inout", f32, (M, const(3)), (const(3), const(1)))
R, S = axis(M, "r"), axis(const(3), "s")
SCALED = Program("scaled", (V, M, K), (Store(V, (Coord(R), Coord(S)), apply("mul", Load(V, (Coord(R), Coord(S))), K)),))
GOOD = np.ones((4, 3), np.float32)


@pytest.mark.parametrize(
    ("code", "arrays", "scalars"),
    [
        ("E409", {}, {"scale": 2.0}),
        ("E409", {"v": [[1.0]]}, {"scale": 2.0}),
        ("E402", {"v": GOOD.astype(np.float64)}, {"scale": 2.0}),
        ("E403", {"v": GOOD[0]}, {"scale": 2.0}),
        ("E404", {"v": np.ones((4, 2), np.float32)}, {"scale": 2.0}),
        ("E407", {"v": np.ones((3, 4), np.float32).T}, {"scale": 2.0}),
        ("E406", {"v": np.broadcast_to(np.float32(1), (4, 3))}, {"scale": 2.0}),
        ("E412", {"v": np.ones((5, 3), np.float32)}, {"scale": 2.0}),
        ("E412", {"v": np.ones((104, 3), np.float32)}, {"scale": 2.0}),
        ("E411", {"v": GOOD}, {}),
        ("E411", {"v": GOOD}, {"scale": 1e39}),
        ("E411", {"v": GOOD}, {"scale": True}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(code: str, arrays: dict[str, Any], scalars: dict[str, Any]) -> None:
    before = GOOD.copy()
    with pytest.raises(CallError) as raised:
        run(SCALED, arrays, scalars)
    assert raised.value.code == code
    np.testing.assert_array_equal(GOOD, before)


def test_extents_that_no_array_shows_are_asked_for() -> None:
    at = axis(Extent("L"), "i")
    program = Program("p", (Y, N), (Store(Y, (Coord(C),), Reduce(at, *_ones())),))
    out = np.zeros(2, np.float32)
    with pytest.raises(CallError, match="the extent 'L' is not known"):
        run(program, {"y": out})
    run(program, {"y": out}, {"L": 7})
    np.testing.assert_array_equal(out, [7, 7])


def _ones() -> tuple[Any, ...]:
    r: Any = reduction("sum", C, Const(1.0, f32))
    return r.combine, r.values, r.identities


def test_scalars_may_be_numpy_ones() -> None:
    v = GOOD.copy()
    run(SCALED, {"v": v}, {"scale": np.float32(2)})
    np.testing.assert_array_equal(v, 2 * GOOD)


def test_workspaces_are_made_and_full_of_garbage() -> None:
    w = View("w", "workspace", f32, (N,), (const(1),))
    fill = Store(w, (Coord(C),), Load(X, (Coord(C),)), lt(const(0), Coord(C)))
    out = Store(Y, (Coord(C),), Load(w, (Coord(C),), after=fill))
    given = arguments(3)
    run(Program("p", (X, Y, w, N), (fill, out)), given)
    np.testing.assert_array_equal(given["y"], [np.nan, 1, 2])


def test_instances_leave_a_branch_and_a_loop_apart() -> None:
    """y[i] = i + i where i is even: loops of different lengths, and a branch inside."""
    i, t, total = Var("i", index), Var("t", index), Var("total", f32)
    even = apply("eq", apply("mod", i, const(2)), const(0))
    body = (
        Let(total, Const(0.0, f32)),
        For(t, const(0), i, const(1), (total,), (If(even, (Let(total, add(total, Const(2.0, f32))),)),)),
        If(even, (Store(Y, (i,), total),)),
    )
    kernel = Kernel("k", (), (Y, N), (N,), (i,), body)
    for budget in (1, 1 << 20):
        out = np.full(9, -1, np.float32)
        run(kernel, {"y": out}, budget=budget)
        np.testing.assert_array_equal(out, [0, -1, 4, -1, 8, -1, 12, -1, 16])
