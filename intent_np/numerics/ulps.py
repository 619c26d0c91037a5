"""How far a result may be from the right one, and how far two arrays are from each other."""

from __future__ import annotations

import numpy as np

from ..terms.dtypes import DType, f32, f64
from ..terms.operators import Op
from .literals import FORMATS
from .storage import Array, bits, quiet, storage, widen

BOUNDS: dict[str, tuple[float, float]] = {
    # operator: units in the last place of the correctly rounded result, f32 and f64
    "exp": (2, 2),
    "exp2": (2, 2),
    "log": (2, 2),
    "log2": (2, 2),
    "log1p": (1, 1),
    "sin": (2, 2),
    "cos": (2, 2),
    "asin": (2, 2),
    "tanh": (2, 2),
    "erf": (2, 2),
    "erfc": (4, 5),
    "rsqrt": (2, 2),
    "sigmoid": (4, 4),
    "pow": (8, 8),
    "i0": (6, 6),
    "lgamma": (6, 4),  # away from its zeros, see `bound_holds`
    "exp2_approx": (2, 2),
    "rsqrt_approx": (2, 2),
    "div_approx": (2, 2),
    "tanh_approx": (2**13, 2**13),  # relative 2^-11, in units of 2^-24
    # exp2_approx of x*log2(e): the product is off by up to 2^-18 + 126 * 2^-26, and each 2^-24 of that is a unit
    "exp_approx": (66, 66),
    "sigmoid_approx": (70, 70),
}
CORRECTLY_ROUNDED = 0.5


def ulp_bound(op: Op, dtype: DType) -> float:
    """How many units in the last place a result of `op` on operands of `dtype` may be off.

    0.5 says correctly rounded (0 steps of `distance`); integers and bools are exact, 0.  Types below f32 evaluate
    library functions in f32 and round once, which can cross one rounding boundary and no more.
    """
    if not dtype.is_float or op.result == "bool":
        return 0.0
    if op.name not in BOUNDS:
        return CORRECTLY_ROUNDED
    single, double = BOUNDS[op.name]
    if dtype in (f32, f64):
        return single if dtype is f32 else double
    # a bound of k f32 units is at most k * 2^(p-24) units of a type with precision p, then one for the boundary
    return float(1 + int(single * 2.0 ** (FORMATS[dtype.name].precision - 24)))


@quiet
def bound_holds(op: Op, *operands: Array, dtype: DType) -> Array:
    """The lanes where `ulp_bound` is promised; elsewhere the result is only near the right one, or may flush."""
    x = widen(np.asarray(operands[0]), dtype)
    match op.name:
        case "lgamma":  # the zeros below 0 lie between -11 and -2.26, as far as single precision can tell
            return ~((x > -11.0) & (x < -2.25))
        case "div_approx":
            divisor = np.abs(widen(np.asarray(operands[1]), dtype))
            return (divisor >= 2.0**-126) & (divisor <= 2.0**126)
        case "exp2_approx":
            return ~(x < -126)
        case "exp_approx" | "sigmoid_approx":
            return ~(x < -87)
        case "rsqrt_approx":
            return ~(np.abs(x) < 2.0**-126)
    return np.ones((), np.bool_)


@quiet
def distance(a: Array, b: Array, dtype: DType) -> Array:
    """How many representable values apart two float arrays are, as f64; 0 for two NaNs, inf for one.

    +0 and -0 are the same point; the infinities are one step beyond the largest finite value.
    """
    a, b = np.asarray(a, storage(dtype)), np.asarray(b, storage(dtype))
    at, to = _ordinal(a, dtype), _ordinal(b, dtype)
    # the difference of two 64-bit positions needs 65 bits: upper and lower halves are subtracted apart
    upper, lower = (at >> 32) - (to >> 32), (at & 0xFFFFFFFF) - (to & 0xFFFFFFFF)
    steps = np.abs(upper * 2.0**32 + lower)
    one, other = np.isnan(widen(a, dtype)), np.isnan(widen(b, dtype))
    return np.where(one & other, 0.0, np.where(one | other, np.inf, steps))


def _ordinal(x: Array, dtype: DType) -> Array:
    """Positions on the line of representable values, int64, 0 at both zeros."""
    raw = x.view(bits(dtype)).astype(np.int64)
    magnitude = raw & np.int64(2 ** (dtype.bits - 1) - 1)
    return np.where(magnitude == raw, magnitude, -magnitude)
