"""How far a result may be from the right one, and how far two arrays are from each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..terms.dtypes import DType, f32, f64
from ..terms.operators import Op
from .literals import FORMATS
from .storage import Array, bits, quiet, storage, widen


@dataclass(frozen=True)
class Bound:
    """How many steps of `distance` a result may be from the correctly rounded one, on f32 and on f64.

    `where` says in words which operands that is promised for, all if empty, and `holds(dtype, *operands)` finds them;
    elsewhere the result is only near the right one, or may flush to zero.
    """

    f32: float
    f64: float
    where: str = ""
    holds: Callable[..., Array] | None = None


def _not_below(end: float) -> Callable[..., Array]:
    return lambda dtype, x: ~(widen(x, dtype) < end)


_NO_ZERO = "outside (-11, -2.25), where its zeros are; of f64 down to -24 not within 2^-7 of a pole"


def _no_zero_of_lgamma(dtype: DType, x: Array) -> Array:
    x = widen(x, dtype)  # the zeros below 0 lie between -11 and -2.26, as far as single precision can tell
    between = (x > -11.0) & (x < -2.25)
    if dtype is f64:  # which has numbers near the poles from -11 down where two large terms cancel
        between |= (x > -24.0) & (x < -2.25) & (np.abs(x - np.rint(x)) < 2.0**-7)
    return ~between


def _moderate_divisor(dtype: DType, _: Array, divisor: Array) -> Array:
    size = np.abs(widen(divisor, dtype))
    return (size >= 2.0**-126) & (size <= 2.0**126)


def _normal(dtype: DType, x: Array) -> Array:
    return ~(np.abs(widen(x, dtype)) < 2.0**-126)


BOUNDS: dict[str, Bound] = {
    "exp": Bound(2, 2),
    "exp2": Bound(2, 2),
    "log": Bound(2, 2),
    "log2": Bound(2, 2),
    "log1p": Bound(1, 1),
    "sin": Bound(2, 2),
    "cos": Bound(2, 2),
    "asin": Bound(2, 2),
    "tanh": Bound(2, 2),
    "erf": Bound(2, 2),
    "erfc": Bound(4, 5),
    "rsqrt": Bound(2, 2),
    "sigmoid": Bound(4, 4),
    "pow": Bound(8, 8),
    "i0": Bound(6, 6),
    "lgamma": Bound(6, 4, _NO_ZERO, _no_zero_of_lgamma),
    "exp2_approx": Bound(2, 2, "from -126 on: subnormal results may flush", _not_below(-126)),
    "rsqrt_approx": Bound(2, 2, "of no subnormal number", _normal),
    "div_approx": Bound(2, 2, "2^-126 <= |divisor| <= 2^126", _moderate_divisor),
    "tanh_approx": Bound(2**13, 2**13),  # relative 2^-11, in units of 2^-24
    # exp2_approx of x*log2(e): the product is off by up to 2^-18 + 126 * 2^-26, and each 2^-24 of that is a unit
    "exp_approx": Bound(66, 66, "from -87 on: subnormal results may flush", _not_below(-87)),
    "sigmoid_approx": Bound(70, 70, "from -87 on: subnormal results may flush", _not_below(-87)),
}
CORRECTLY_ROUNDED = 0.5


def ulp_bound(op: Op, dtype: DType) -> float:
    """How many steps of `distance` a result of `op` on operands of `dtype` may be from the correctly rounded one.

    0.5 says that it is the correctly rounded one; integers and bools are exact, 0.  Types below f32 evaluate library
    functions in f32 and round once, which can cross one rounding boundary and no more.
    """
    if not dtype.is_float or op.result == "bool":
        return 0.0
    bound = BOUNDS.get(op.name)
    if bound is None:
        return CORRECTLY_ROUNDED
    if dtype in (f32, f64):
        return bound.f32 if dtype is f32 else bound.f64
    # a bound of k f32 units is at most k * 2^(p-24) units of a type with precision p, then one for the boundary
    return float(1 + int(bound.f32 * 2.0 ** (FORMATS[dtype.name].precision - 24)))


@quiet
def bound_holds(op: Op, *operands: Array, dtype: DType) -> Array:
    """The lanes where `ulp_bound` is promised; a rank-0 True where it is for all."""
    bound = BOUNDS.get(op.name)
    if bound is None or bound.holds is None:
        return np.ones((), np.bool_)
    return bound.holds(dtype, *(np.asarray(o) for o in operands))


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
