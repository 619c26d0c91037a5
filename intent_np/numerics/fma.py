"""`a*b + c` with one rounding.

A sum rounded to odd in f64 (to the neighbour whose last bit is 1, unless exact) rounds to any narrower type as the
exact sum would.  So f32 needs one such sum, and f64 the error-free transforms of Dekker, Knuth, and Boldo and
Melquiond where no part of them can overflow or underflow; the few other lanes are computed in rational numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .storage import Array


def fma_odd(a: Array, b: Array, c: Array) -> Array:
    """Operands of f32 or below, held in f64; the result rounded to odd, to be narrowed once more.

    The product is exact.
    """
    return _odd_sum(a * b, c)


def fma_single(a: Array, b: Array, c: Array) -> Array:
    """`fma_odd` for a result that is narrowed to f32, rounded to odd only where that matters."""
    product = a * b
    total = np.asarray(product + c)
    # rounding twice is wrong only where the first result lies in the middle of two f32
    middle = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    doubtful = middle | (np.abs(total) < 2.0**-120)
    if doubtful.any():
        total[doubtful] = _odd_sum(product[doubtful], c[doubtful])
    return total


def fma64(a: Array, b: Array, c: Array) -> Array:
    """Operands and result in f64."""
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _product(a, b)
    sum_low, error_low = _two_sum(c, low)
    sum_high, error_high = _two_sum(high, sum_low)
    result = np.asarray(sum_high + _odd_sum(error_high, error_low))
    # zero products, infinities and NaN follow the plain operations, but for a product that only f64 overflows
    finite = np.isfinite(a) & np.isfinite(b)
    plain = ~finite | ~np.isfinite(c) | (a == 0) | (b == 0)
    result[...] = np.where(plain, np.where(finite & ~np.isfinite(c), c, a * b + c), result)
    for lane in np.argwhere(~plain & ~(_moderate(a, 450) & _moderate(b, 450) & (_moderate(c, 900) | (c == 0)))):
        at = tuple(lane)
        result[at] = _rational(float(a[at]), float(b[at]), float(c[at]))
    return result


def _moderate(x: Array, exponent: int) -> Array:
    return (np.abs(x) > 2.0**-exponent) & (np.abs(x) < 2.0**exponent)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a: Array) -> tuple[Array, Array]:
    """Two halves of at most 26 bits with the sum `a`."""
    scaled = a * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error, exactly."""
    total = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    return total, al * bl - (((total - ah * bh) - al * bh) - ah * bl)


def _odd_sum(a: Array, b: Array) -> Array:
    """The f64 sum rounded to odd."""
    total, error = _two_sum(a, b)
    raw = np.asarray(total).view(np.int64)
    # an even inexact sum moves one step to the side of the exact one
    step = np.where((error > 0) == (total > 0), np.int64(1), np.int64(-1))
    inexact = np.isfinite(error) & (error != 0) & (raw & 1 == 0)
    return np.asarray(raw + np.where(inexact, step, np.int64(0))).view(np.float64)


def _rational(a: float, b: float, c: float) -> float:
    """One lane of finite operands with a nonzero product."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return 0.0
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
