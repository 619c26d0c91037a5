"""The identities of structured terms hold for every extent, 0 included, and for values that are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intent_np.backends.program import run
from intent_np.rules import folds
from intent_np.rules.folds import a, acc, c, f, i, n, v, x, xs, y
from intent_np.rules.pattern import Rule, attributes, computed, rule, structure
from intent_np.rules.rule_set import RuleSet, Table
from intent_np.rules.simplify import simplify, substitute
from intent_np.terms.core import Arena
from intent_np.terms.dtypes import DTYPES, DType, bool_, f16, f32, i32, index
from intent_np.terms.index import Cast, Const, Extent, Param, Stride, apply, const, lt, select
from intent_np.terms.normal import (
    NORMAL,
    Arg,
    Axis,
    Combine,
    Contract,
    Coord,
    Load,
    Program,
    Reduce,
    Store,
    View,
    builtin,
    identity,
)
from intent_np.testing.rules.verdict import judge

from ..sources import executed

N, M = "N", "M"
ids = attributes("ids")


def view(name: str, mode: str, d: DType, extent: str, finite: bool = False) -> View:
    return View(name, mode, d, (Extent(extent),), (Stride(name, 0),), finite)


def result(value: Any, d: DType, x: Any) -> Any:
    """`value` (a function of the load of x over an axis) for each of three elements of y."""
    y = np.full(3, 77, x.dtype if d is f32 else np.int32 if d is i32 else np.bool_)
    store = Store(view("y", "out", d, M), (Coord(Axis(const(0), Extent(M), 1)),), value)
    run(Program("p", (view("x", "in", f32, N), store.view), (store,)), {"x": x, "y": y})
    return y


CASES = [(name, d) for name in ("sum", "prod", "max", "min") for d in (f32, i32)] + [("any", bool_), ("all", bool_)]


@pytest.mark.parametrize(("name", "d"), CASES, ids=[f"{n}-{d}" for n, d in CASES])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_reducing_identities_gives_the_identity(name: str, d: DType, n: int) -> None:
    with Arena():
        one = identity(name, d)
        t = Reduce(Axis(const(0), Extent(N)), builtin(name, d), (one,), (one,))
        assert simplify(t) is one
        x = np.zeros(n, np.float32)
        np.testing.assert_array_equal(result(t, d, x), result(simplify(t), d, x))


def test_another_constant_is_not_the_identity() -> None:
    with Arena():
        a = Axis(const(0), Extent(N))
        for value, start in ((-0.0, 0.0), (1.0, 0.0), (0.0, -0.0)):
            t = Reduce(a, builtin("sum", f32), (Const(value, f32),), (Const(start, f32),))
            assert simplify(t) is t


def test_the_sum_of_no_elements_differs_from_that_of_one() -> None:
    """The maximum of a constant is that constant, unless there is nothing to take it of."""
    with Arena():
        five = Const(5.0, f32)
        t = Reduce(Axis(const(0), Extent(N)), builtin("max", f32), (five,), (identity("max", f32),))
        assert simplify(t) is t
        assert result(t, f32, np.zeros(0, np.float32))[0] == -np.inf
        assert result(t, f32, np.zeros(2, np.float32))[0] == 5


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zero_times_a_value_vanishes_only_if_it_is_finite(zero: float, finite: bool) -> None:
    with Arena():
        a = Axis(const(0), Extent(N))
        x = Load(view("x", "in", f32, N, finite), (Coord(a),))
        for sides in ((Const(zero, f32), x), (x, Const(zero, f32))):
            t = Contract(a, *sides, f32)
            vanishes = finite and str(zero) == "0.0"
            assert simplify(t) is (Const(0.0, f32) if vanishes else t)
            values = np.array([1.5, -2.0, 0.0, -0.0] + [np.inf] * (not finite), np.float32)
            np.testing.assert_array_equal(result(t, f32, values), result(simplify(t), f32, values))


def test_an_integer_times_zero_vanishes() -> None:
    with Arena():
        a = Axis(const(0), Extent(N))
        t = Contract(a, Const(0, i32), Cast(Coord(a), i32), i32)
        assert simplify(t) is Const(0, i32)


def test_a_load_that_is_never_valid_is_its_fill() -> None:
    with Arena():
        x = view("x", "in", f16, N)
        p = Param("p", bool_)
        load = Load(x, (const(0),), p, -1)
        assert substitute(load, {p: Const(False, bool_)}) is Const(-1.0, f16)
        assert substitute(load, {p: Const(True, bool_)}) is Load(x, (const(0),))
        store = Store(x, (const(0),), load, p)
        assert substitute(store, {p: Const(True, bool_)}) is Store(x, (const(0),), Load(x, (const(0),)))


def test_masks_move_out_of_casts_that_keep_the_constant() -> None:
    with Arena():
        p, x = Param("p", bool_), Param("x", f32)
        t = Cast(select(p, x, Const(float("-inf"), f32)), f16)
        assert simplify(t) is select(p, Cast(x, f16), Const(float("-inf"), f16))
        # NaN is no integer: the cast is invalid there, and stays where it is
        t = Cast(select(p, x, Const(float("nan"), f32)), i32)
        assert simplify(t) is t
        assert simplify(Cast(Param("h", f16), f16)) is Param("h", f16)
        assert simplify(Cast(Param("h", f16), f16, "bits")) is Param("h", f16)
        kept = Cast(Param("h", f16), f16, "saturate")  # of an infinity it is the largest number
        assert simplify(kept) is kept
        assert simplify(Cast(Const(300, i32), DTYPES["i8"])) is Const(44, DTYPES["i8"])


# ---- capture ---------------------------------------------------------------------------------------------------------


def test_what_a_binder_binds_is_not_replaced() -> None:
    with Arena():
        a, b = Axis(const(0), Extent(N)), Axis(const(0), Extent(N), 1)
        x = view("x", "in", f32, N)
        at_a, at_b = (Load(x, (Coord(c),)) for c in (a, b))
        total = Reduce(a, builtin("sum", f32), (at_a,), (identity("sum", f32),))
        t = apply("sub", at_a, total)
        moved = substitute(t, {Coord(a): Coord(b)})
        assert moved is apply("sub", at_b, total)
        assert substitute(t, {at_a: Const(1.0, f32)}) is apply("sub", Const(1.0, f32), total)
        # a fact that holds everywhere reaches inside
        assert substitute(total, {at_a: at_b}, everywhere=True).values == (at_b,)


def test_a_predicate_about_a_bound_coordinate_stays_inside() -> None:
    with Arena():
        a = Axis(const(0), Extent(N))
        inside = lt(Coord(a), const(5))
        value = select(inside, Const(1.0, f32), Const(0.0, f32))
        total = Reduce(a, builtin("sum", f32), (value,), (identity("sum", f32),))
        t = select(inside, total, Const(0.0, f32))
        assert substitute(t, {inside: Const(True, bool_)}) is total
        assert substitute(total, {inside: Const(False, bool_)}) is total


def test_a_combine_is_no_place_for_coordinates() -> None:
    with Arena():
        c = Combine((index,), (apply("add", Arg("a", 0, index), Arg("b", 0, index)),))
        a = Axis(const(0), Extent(N))
        t = Reduce(a, c, (Coord(a),), (const(0),))
        assert substitute(t, {Coord(a): const(3)}) is t


WRONG = (
    rule("store-never", structure("Store", v, i, x, folds.FALSE, n), structure("Store", v, i, x, None, n)),
    rule("load-of-nothing", structure("Load", v, i, folds.FALSE, f, a), structure("Load", v, i, None, 0, a)),
    rule("reduce-anything", structure("Reduce", a, c, xs, ids), computed("first", xs)),
    rule("contract-left", structure("Contract", a, x, y, acc), x),
)


@pytest.mark.parametrize("r", WRONG, ids=lambda r: r.name)
def test_a_wrong_rule_over_folds_is_refuted_by_a_program(r: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("wrong", (r,), language=NORMAL, functions=folds.FUNCTIONS, measure=folds.measure)
    (verdict,) = judge(RuleSet((table,)))
    assert verdict.status == "refuted", verdict
    executed(verdict.program)
    before, after = capsys.readouterr().out.splitlines()
    assert before != after
