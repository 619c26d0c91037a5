"""Library functions stay within the promised units in the last place of the exact value, and keep special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from intent_np.numerics import apply, bits, bound_holds, distance, invalid, narrow, storage, ulp_bound
from intent_np.numerics.floats import LIBRARY
from intent_np.terms.dtypes import DType, bf16, f8e4m3fn, f8e5m2, f16, f32, f64
from intent_np.terms.operators import OPERATORS
from intent_np.testing.functions import EXACT, power_samples, rounded, samples

from .fit_special import source
from .oracle import patterns, same

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("dtype", [f32, f64, f16, bf16, f8e5m2], ids=repr)
@pytest.mark.parametrize("name", [n for n in EXACT if n != "pow"])
def test_functions_are_within_their_bounds(name: str, dtype: DType) -> None:
    with np.errstate(invalid="ignore"):
        arbitrary = patterns(dtype, 200).astype(np.float64)
    op, x = OPERATORS[name], samples(name, dtype, arbitrary, 60 if dtype.bits <= 16 else 250)
    got = apply(op, narrow(x, dtype), dtype=dtype)
    assert got.dtype == storage(dtype)
    off = distance(got, rounded(name, dtype, x.tolist()), dtype)
    off = np.where(bound_holds(op, narrow(x, dtype), dtype=dtype), off, 0)
    # below f64 the NumPy meaning is nearly always the rounded value itself
    bound = int(ulp_bound(op, dtype)) if dtype is f64 else 1
    assert off.max() <= bound, f"{off.max()} at {x[off.argmax()]!r}"


@pytest.mark.parametrize("dtype", [f32, f64], ids=repr)
def test_pow_is_within_its_bound(dtype: DType) -> None:
    x, y = power_samples(dtype, 200)
    got = apply(OPERATORS["pow"], narrow(x, dtype), narrow(y, dtype), dtype=dtype)
    off = distance(got, rounded("pow", dtype, x.tolist(), y.tolist()), dtype)
    assert off.max() <= (int(ulp_bound(OPERATORS["pow"], f64)) if dtype is f64 else 1)


def by_system(name: str, x: float) -> float:
    """The function of Python's `math`; where that raises, what IEEE 754 gives."""
    try:
        return SYSTEM[name](x)
    except OverflowError:
        return INF
    except ValueError:  # a pole, or outside the domain
        return {"log": -INF, "log2": -INF, "log1p": -INF, "lgamma": INF}.get(name, NAN) if _at_pole(name, x) else NAN


def _at_pole(name: str, x: float) -> bool:
    return x == {"log": 0.0, "log2": 0.0, "log1p": -1.0}.get(name, x if name == "lgamma" else NAN)


SYSTEM = {
    "exp": math.exp, "exp2": lambda x: math.pow(2.0, x), "log": math.log, "log2": math.log2, "log1p": math.log1p,
    "sin": math.sin, "cos": math.cos, "asin": math.asin, "tanh": math.tanh, "erf": math.erf, "erfc": math.erfc,
    "lgamma": math.lgamma,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [f16, bf16, f8e5m2, f8e4m3fn], ids=repr)
@pytest.mark.parametrize("name", SYSTEM)
def test_every_value_of_a_narrow_type(name: str, dtype: DType) -> None:
    """Against the C library in f64: rounded, one in thousands may lie on the other side of a tie."""
    x = np.arange(2**dtype.bits, dtype=np.uint32).astype(bits(dtype)).view(storage(dtype))
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
    want = np.array([by_system(name, v) for v in wide.tolist()])
    valid = ~np.broadcast_to(invalid(OPERATORS[name], x, dtype=dtype), x.shape)
    off = distance(apply(OPERATORS[name], x, dtype=dtype), narrow(want, dtype), dtype)[valid]
    assert off.max() <= 1
    assert np.count_nonzero(off) <= x.size // 5000


SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0]
AT_SPECIAL: dict[str, list[float]] = {
    "exp": [1, 1, INF, 0, NAN, math.e, 1 / math.e],
    "exp2": [1, 1, INF, 0, NAN, 2, 0.5],
    "log": [-INF, -INF, INF, NAN, NAN, 0, NAN],
    "log1p": [0, -0.0, INF, NAN, NAN, math.log(2), -INF],
    "log2": [-INF, -INF, INF, NAN, NAN, 0, NAN],
    "rsqrt": [INF, -INF, 0, NAN, NAN, 1, NAN],
    "sin": [0, -0.0, NAN, NAN, NAN, math.sin(1), -math.sin(1)],
    "cos": [1, 1, NAN, NAN, NAN, math.cos(1), math.cos(1)],
    "asin": [0, -0.0, NAN, NAN, NAN, math.pi / 2, -math.pi / 2],
    "tanh": [0, -0.0, 1, -1, NAN, math.tanh(1), -math.tanh(1)],
    "erf": [0, -0.0, 1, -1, NAN, math.erf(1), -math.erf(1)],
    "erfc": [1, 1, 0, 2, NAN, math.erfc(1), math.erfc(-1)],
    "i0": [1, 1, INF, INF, NAN, 1.2660658777520084, 1.2660658777520084],
    "lgamma": [INF, INF, INF, INF, NAN, 0, INF],
    "sigmoid": [0.5, 0.5, 1, 0, NAN, 1 / (1 + math.exp(-1)), 1 / (1 + math.e)],
}


@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64, f8e5m2], ids=repr)
def test_special_values_of_functions(name: str, dtype: DType) -> None:
    if name != "pow":
        with np.errstate(all="raise"):
            got = apply(OPERATORS[name], np.array(SPECIAL).astype(storage(dtype)), dtype=dtype)
        want = narrow(np.array(AT_SPECIAL[name.removesuffix("_approx")], np.float64), dtype)
        agrees = same(got, want)
        if dtype is f64:  # there the finite values at 1 and -1 are as near as elsewhere
            agrees[5:] |= distance(got, want, dtype)[5:] <= ulp_bound(OPERATORS[name], dtype)
        assert agrees.all()


def test_special_values_of_pow() -> None:
    rows = [
        (2, 3, 8), (0, 0, 1), (NAN, 0, 1), (1, NAN, 1), (-2, 3, -8), (-2, 0.5, NAN), (-0.0, -1, -INF), (-0.0, 3, -0.0),
        (0.0, -2, INF), (INF, -1, 0), (-INF, 3, -INF), (-1, INF, 1), (0.5, INF, 0), (0.5, -INF, INF), (NAN, 1, NAN),
    ]  # fmt: skip
    x, y, want = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    assert same(apply(OPERATORS["pow"], x, y, dtype=f32), want).all()


def test_shapes_broadcast_and_blocks_join() -> None:
    x = np.linspace(-4, 4, 3 * 20_001, dtype=np.float32).reshape(3, -1)
    whole = apply(OPERATORS["erf"], x, dtype=f32)
    assert whole.shape == x.shape
    assert same(apply(OPERATORS["erf"], x.T, dtype=f32).T, whole).all()
    assert apply(OPERATORS["erf"], np.float32(0.5), dtype=f32).shape == ()
    assert apply(OPERATORS["exp"], np.zeros((0, 3), np.float32), dtype=f32).shape == (0, 3)
    powers = apply(OPERATORS["pow"], np.float32([[2], [3]]), np.float32([1, 2, 3]), dtype=f32)
    assert powers.tolist() == [[2, 4, 8], [3, 9, 27]]


def test_coefficients_are_what_their_script_makes() -> None:
    from intent_np.numerics import coefficients

    with open(coefficients.__file__) as file:
        assert file.read() == source()
