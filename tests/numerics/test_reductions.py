"""Reductions, scans and contractions: identities of nothing, wrapping, one rounding, NaN and zeros, axis order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from intent_np.numerics import (
    accumulate,
    apply,
    contract,
    identity,
    matmul,
    reduce,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_prod,
    reduce_sum,
    reducible,
    storage,
)
from intent_np.terms.dtypes import DTYPES, DType, bf16, f8e4m3fn, f16, f32, f64, i8, i32, i64, u8, u32
from intent_np.terms.operators import OPERATORS, Op

from .oracle import nearest, same

INF, NAN = math.inf, math.nan
ROWS = [(o, d) for o in OPERATORS.values() if reducible(o) for d in DTYPES.values() if o.accepts(d)]


@pytest.mark.parametrize(("op", "dtype"), ROWS, ids=[f"{o}-{d}" for o, d in ROWS])
def test_identities_are_neutral_and_what_nothing_reduces_to(op: Op, dtype: DType) -> None:
    x = np.array([0, 1, 0]).astype(storage(dtype))
    neutral = np.array(identity(op, dtype), storage(dtype))
    assert np.array_equal(apply(op, x, neutral, dtype=dtype), x)
    empty = np.zeros((3, 0, 2), storage(dtype))
    assert np.array_equal(reduce(op, empty, 1, dtype).astype(float), np.full((3, 2), float(neutral)), equal_nan=True)
    assert reduce(op, empty, (0, 1), dtype, keepdims=True).shape == (1, 1, 2)


@pytest.mark.parametrize(("op", "dtype"), ROWS, ids=[f"{o}-{d}" for o, d in ROWS])
def test_folds_and_scans_agree_with_the_operator(op: Op, dtype: DType) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, (4, 5, 3)).astype(storage(dtype))
    running, want = x[:, 0], [x[:, 0]]
    for k in range(1, 5):
        running = apply(op, running, x[:, k], dtype=dtype)
        want.append(running)
    assert np.array_equal(reduce(op, x, 1, dtype), running)
    assert np.array_equal(accumulate(op, x, 1, dtype), np.stack(want, 1))
    assert np.array_equal(accumulate(op, x[:, ::-1], 1, dtype, reverse=True), np.stack(want, 1)[:, ::-1])


def test_integer_sums_wrap() -> None:
    with np.errstate(all="raise"):
        assert reduce_sum(np.full(128, 2**30, np.int32), 0, i32) == 0
        assert reduce_sum(np.full(128, 2**30), 0, i64) == 137438953472
        assert reduce_prod(np.full(3, 100, np.int8), 0, i8) == np.int64(10**6).astype(np.int8)
        assert accumulate(OPERATORS["add"], np.full(3, 127, np.int8), 0, i8).tolist() == [127, -2, 125]


@pytest.mark.parametrize("dtype", [f16, bf16, f32], ids=repr)
def test_narrow_sums_are_rounded_once(dtype: DType) -> None:
    x = np.random.default_rng(1).standard_normal(777).astype(storage(dtype))
    exact = sum(Fraction(float(v)) for v in x)
    assert same(reduce_sum(x, 0, dtype).astype(np.float64), nearest(exact, dtype))
    assert reduce_sum(np.ones(4096, storage(dtype)), 0, dtype) == 4096


@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64], ids=repr)
def test_extremes_propagate_nan_and_order_zeros(dtype: DType) -> None:
    x = np.array([[NAN, INF], [INF, NAN], [-1, -2], [0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0]]).astype(storage(dtype))
    assert same(reduce_max(x, 1, dtype), [NAN, NAN, -1, 0.0, 0.0, -0.0]).all()
    assert same(reduce_min(x, 1, dtype), [NAN, NAN, -2, -0.0, -0.0, -0.0]).all()
    ignoring = reduce(OPERATORS["maximum_num"], x, 1, dtype)
    assert same(ignoring, [INF, INF, -1, 0.0, 0.0, -0.0]).all()
    zeros = np.array([-0.0, 0.0, -0.0, 1.0, NAN, 0.0]).astype(storage(dtype))
    assert same(accumulate(OPERATORS["maximum"], zeros, 0, dtype), [-0.0, 0.0, 0.0, 1.0, NAN, NAN]).all()
    assert same(accumulate(OPERATORS["minimum"], -zeros, 0, dtype), [0.0, -0.0, -0.0, -1.0, NAN, NAN]).all()


def test_nothing_has_the_least_maximum() -> None:
    assert reduce_max(np.zeros((5, 0), np.float32), 1, f32).tolist() == [-INF] * 5
    assert reduce_max(np.zeros((0, 4), np.float32), 1, f32).shape == (0,)
    assert reduce_min(np.zeros(0, np.int8), 0, i8) == 127
    assert float(reduce_max(np.zeros(0, storage(f8e4m3fn)), 0, f8e4m3fn)) == -448
    assert not reduce_any(np.zeros(0, np.bool_), 0)
    assert reduce_all(np.zeros((2, 0), np.bool_), 1).all()


def test_contraction_orders_axes_by_the_left_operand() -> None:
    rng = np.random.default_rng(0)
    l, r = rng.integers(-9, 9, (2, 3, 4, 5)), rng.integers(-9, 9, (5, 6, 3, 2))
    got = contract(l, r, reduce=((3, 0),), batch=((1, 2),), acc=i64)
    assert np.array_equal(got, np.einsum("abck,kdbe->abcde", l, r))
    both = contract(l, r, reduce=((0, 3), (3, 0)), batch=((1, 2),), acc=i64)
    assert np.array_equal(both, np.einsum("abck,kdba->bcd", l, r))
    assert np.array_equal(contract(l[0, 0, 0], r[0, :, 0, 0], reduce=(), acc=i64), np.outer(l[0, 0, 0], r[0, :, 0, 0]))
    assert contract(l[0, 0, 0], l[0, 0, 0], reduce=((0, 0),), acc=i64).shape == ()
    assert not contract(l[..., :0], r[:0], reduce=((3, 0),), acc=i64).any()


@pytest.mark.parametrize(
    ("l", "r", "acc"), [(i8, i8, i32), (u8, i8, i32), (i32, i32, i32), (i64, i64, i64), (i64, i64, u32)]
)
def test_integer_products_are_exact_modulo_the_accumulator(l: DType, r: DType, acc: DType) -> None:
    rng = np.random.default_rng(4)
    left = rng.integers(*l.range, (3, 50), storage(l), endpoint=True)
    right = rng.integers(*r.range, (50, 2), storage(r), endpoint=True)
    got = matmul(left, right, acc=acc).astype(object)
    want = left.astype(object) @ right.astype(object)
    assert not ((got - want) % 2**acc.bits).any()


@pytest.mark.parametrize(("dtype", "acc"), [(f16, f32), (bf16, f32), (f32, f32), (f16, f16), (f64, f64)])
def test_float_products_are_summed_accurately(dtype: DType, acc: DType) -> None:
    rng = np.random.default_rng(4)
    left, right = (rng.standard_normal((9, 9)).astype(storage(dtype)) for _ in range(2))
    got = matmul(left, right, acc=acc)
    assert got.dtype == storage(acc)
    exact = sum(Fraction(float(left[2, k])) * Fraction(float(right[k, 5])) for k in range(9))
    assert abs(Fraction(float(got[2, 5])) - exact) <= Fraction(np.finfo(storage(acc)).eps.item()) * 9


def test_products_that_overflow_the_accumulator_stay_infinite() -> None:
    big = np.array([[1e38, 1e38]], np.float32)
    cancelling = np.array([[1e38], [-1e38]], np.float32)
    assert math.isnan(matmul(big, cancelling, acc=f32)[0, 0])
    assert matmul(np.array([[INF, 1.0]], np.float32), np.ones((2, 1), np.float32), acc=f32)[0, 0] == INF
    assert math.isnan(matmul(np.array([[INF, 1.0]], np.float32), np.zeros((2, 1), np.float32), acc=f32)[0, 0])
