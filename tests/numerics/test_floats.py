"""Float arithmetic is correctly rounded, and zeros, infinities and NaN behave as IEEE 754 says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from intent_np.numerics import apply, invalid, storage, widen
from intent_np.numerics.storage import Array
from intent_np.terms.dtypes import DTYPES, DType, f8e4m3fn, f32, f64
from intent_np.terms.operators import OPERATORS, Op

from .oracle import nearest, patterns, same

FLOATS = [d for d in DTYPES.values() if d.is_float]
INF, NAN = math.inf, math.nan


def wide(x: Array, dtype: DType) -> Array:
    with np.errstate(invalid="ignore"):
        return widen(np.asarray(x), dtype).astype(np.float64)


def exactly(op: Op, values: list[float], dtype: DType) -> float | None:
    """The rounded exact result; None where an operand or the exact result is not a finite number."""
    if not all(map(math.isfinite, values)):
        return None
    a, *rest = map(Fraction, values)
    match op.name:
        case "add":
            exact = a + rest[0]
        case "sub":
            exact = a - rest[0]
        case "mul":
            exact = a * rest[0]
        case "div" if rest[0] != 0:
            exact = a / rest[0]
        case "fma":
            exact = a * rest[0] + rest[1]
        case _:
            return None
    if exact == 0:
        return None  # the sign of a zero is another test's
    if op.name == "fma" and dtype.bits == 8:  # evaluated in f32, then rounded
        exact = Fraction(nearest(exact, f32))
    return nearest(exact, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "fma"])
def test_arithmetic_rounds_the_exact_result_once(name: str, dtype: DType) -> None:
    op, count = OPERATORS[name], 1500
    rng = np.random.default_rng(7)
    pool = patterns(dtype, 4000)
    operands = [rng.choice(pool, count) for _ in range(op.arity)]
    # and operands of one magnitude, where sums round and cancel
    close = [rng.standard_normal(count) * 2.0 ** rng.integers(-4, 4, count) for _ in range(op.arity)]
    if name == "fma":
        close[2] = -wide(np.asarray(close[0] * close[1], np.float32), f32)
    operands = [np.concatenate([o, c.astype(storage(dtype))]) for o, c in zip(operands, close, strict=True)]
    got = wide(apply(op, *operands, dtype=dtype), dtype)
    lanes = zip(*(wide(o, dtype).tolist() for o in operands), strict=True)
    checked = 0
    for result, values in zip(got.tolist(), lanes, strict=True):
        want = exactly(op, list(values), dtype)
        if want is not None:
            assert same(result, want), (values, result, want)
            checked += 1
    assert checked > count // 2


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_square_root_is_correctly_rounded(dtype: DType) -> None:
    x = patterns(dtype, 1000)
    got = wide(apply(OPERATORS["sqrt"], x, dtype=dtype), dtype)
    for value, result in zip(wide(x, dtype).tolist(), got.tolist(), strict=True):
        if math.isfinite(value) and value > 0:
            # to far more bits than any format holds, by integers
            scaled = Fraction(value) * 4**1200
            root = Fraction(2 * math.isqrt(int(scaled)) + 1, 2 ** (1200 + 1))
            exact = Fraction(result) if Fraction(result) ** 2 == Fraction(value) else root
            assert same(result, nearest(exact, dtype))
        else:
            assert same(result, value if value == 0 or value == INF else NAN)


SPECIAL = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_maximum_propagates_nan_and_orders_zeros(dtype: DType) -> None:
    values = [v for v in SPECIAL if not math.isinf(v) or dtype is not f8e4m3fn]
    a, b = (m.ravel().astype(storage(dtype)) for m in np.meshgrid(values, values))

    def key(v: float) -> tuple[float, float]:
        return v, math.copysign(1, v)

    for name, choose in (("maximum", max), ("minimum", min)):
        one, other = wide(a, dtype).tolist(), wide(b, dtype).tolist()
        pairs = list(zip(one, other, strict=True))
        strict = [NAN if math.isnan(x) or math.isnan(y) else choose(x, y, key=key) for x, y in pairs]
        lenient = [y if math.isnan(x) else x if math.isnan(y) else choose(x, y, key=key) for x, y in pairs]
        assert same(wide(apply(OPERATORS[name], a, b, dtype=dtype), dtype), np.array(strict)).all()
        assert same(wide(apply(OPERATORS[name + "_num"], a, b, dtype=dtype), dtype), np.array(lenient)).all()


@pytest.mark.parametrize(
    ("name", "operand", "result"),
    [
        ("sign", SPECIAL, [0.0, -0.0, 1.0, -1.0, 1.0, -1.0, NAN]),
        ("abs", SPECIAL, [0.0, 0.0, 1.0, 1.0, INF, INF, NAN]),
        ("neg", SPECIAL, [-0.0, 0.0, -1.0, 1.0, -INF, INF, NAN]),
        ("round", [0.5, 1.5, 2.5, -0.5, -0.0, 0.25, INF], [0.0, 2.0, 2.0, -0.0, -0.0, 0.0, INF]),
        ("floor", [0.5, -0.5, -0.0, INF, NAN], [0.0, -1.0, -0.0, INF, NAN]),
        ("ceil", [0.5, -0.5, -0.0, INF, NAN], [1.0, -0.0, -0.0, INF, NAN]),
        ("isnan", SPECIAL, [0, 0, 0, 0, 0, 0, 1]),
        ("isinf", SPECIAL, [0, 0, 0, 0, 1, 1, 0]),
    ],
)
def test_special_values(name: str, operand: list[float], result: list[float]) -> None:
    for dtype in FLOATS:
        if dtype is not f8e4m3fn:
            got = apply(OPERATORS[name], np.array(operand).astype(storage(dtype)), dtype=dtype)
            assert same(got.astype(np.float64), np.array(result, np.float64)).all(), dtype


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_remainder_is_exact_with_the_sign_of_the_dividend(dtype: DType) -> None:
    a, b = patterns(dtype, 600, 1), patterns(dtype, 600, 2)
    got = wide(apply(OPERATORS["fmod"], a, b, dtype=dtype), dtype)
    for x, y, r in zip(wide(a, dtype).tolist(), wide(b, dtype).tolist(), got.tolist(), strict=True):
        valid = math.isfinite(x) and not math.isnan(y) and y != 0
        assert same(r, math.fmod(x, y) if valid else NAN), (x, y)


def test_comparisons_with_nan_are_false_but_for_not_equal() -> None:
    for dtype in FLOATS:
        nan, one = np.array(NAN, storage(dtype)), np.array(1.0, storage(dtype))
        answers = {n: bool(apply(OPERATORS[n], nan, one, dtype=dtype)) for n in ("lt", "le", "eq", "ne")}
        assert answers == {"lt": False, "le": False, "eq": False, "ne": True}
        assert apply(OPERATORS["eq"], -one * 0, one * 0, dtype=dtype)


def test_fma_keeps_infinities_zeros_and_the_last_bit() -> None:
    def fma(a: float, b: float, c: float) -> float:
        return float(apply(OPERATORS["fma"], np.array(a), np.array(b), np.array(c), dtype=f64))

    huge, tiny = 1.7e308, 5e-324
    assert fma(huge, huge, -INF) == -INF
    assert math.isnan(fma(INF, 1.0, -INF))
    assert math.isnan(fma(INF, 0.0, 1.0))
    assert fma(huge, 2.0, -huge) == huge
    assert fma(huge, huge, 1.0) == INF
    assert fma(tiny, 0.5, tiny) == 2 * tiny  # half of the smallest: a tie, to even
    assert fma(tiny, 0.25, tiny) == tiny
    assert same(fma(-tiny, 0.25, 0.0), -0.0)
    assert same(fma(1.0, 1.0, -1.0), 0.0)
    assert same(fma(-0.0, 1.0, -0.0), -0.0)
    assert fma(1 + 2.0**-52, 1 - 2.0**-52, -1.0) == -(2.0**-104)


def test_only_f8e4m3fn_results_beyond_its_range_are_invalid() -> None:
    x = np.array([448.0, 16.0, 15.0, NAN, 0.0]).astype(storage(f8e4m3fn))
    y = np.array([16.0, 30.0, 30.0, 1.0, 0.0]).astype(storage(f8e4m3fn))
    assert invalid(OPERATORS["add"], x, y, dtype=f8e4m3fn).tolist() == [True, False, False, False, False]
    assert invalid(OPERATORS["mul"], x, y, dtype=f8e4m3fn).tolist() == [True, True, False, False, False]
    assert invalid(OPERATORS["exp"], x, dtype=f8e4m3fn).tolist() == [True, True, True, False, False]
    assert not invalid(OPERATORS["exp"], np.array([1e3], np.float32), dtype=f32).any()


def test_fma_of_f32_breaks_ties_by_the_smallest_addend() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(2**23, 2**24, 3000), 1 + rng.integers(0, 2**6, 3000) * 2.0**-6
    product = a * b
    _, exponent = np.frexp(product)
    middle = (product % np.ldexp(1.0, exponent - 24)) == np.ldexp(1.0, exponent - 25)
    assert middle.sum() > 20
    a, b = a[middle].astype(np.float32), b[middle].astype(np.float32)
    for tiny in (2.0**-149, -(2.0**-149), 2.0**-40, 0.0):
        got = apply(OPERATORS["fma"], a, b, np.full_like(a, tiny), dtype=f32)
        want = [
            nearest(Fraction(float(x)) * Fraction(float(y)) + Fraction(tiny), f32) for x, y in zip(a, b, strict=True)
        ]
        assert got.tolist() == want
