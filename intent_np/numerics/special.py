"""Library functions that NumPy lacks, on arrays of f64, within the bounds of `ulps.py`.

Each reduces its argument to an interval where a polynomial (`coefficients.py`) holds the smooth part, and computes only
the lanes of that interval there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from . import coefficients as fit
from .storage import Array

Piece = tuple[Array, Callable[[Array], Array]]


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)); below 0 through exp(x), which keeps the small results."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x); of -0 it is -inf."""
    return 1.0 / np.sqrt(x)


def erf(x: Array) -> Array:
    """The error function."""
    size = np.abs(x)
    return _pieces(x, (size < 1.0, _erf_small), (size >= 1.0, lambda v: np.copysign(1.0 - _erfc_large(np.abs(v)), v)))


def erfc(x: Array) -> Array:
    """1 - erf(x), to full relative precision where it is small."""
    return _pieces(
        x,
        (np.abs(x) < 0.5, lambda v: 1.0 - _erf_small(v)),
        (x >= 0.5, _erfc_large),
        (x <= -0.5, lambda v: 2.0 - _erfc_large(-v)),
    )


def i0(x: Array) -> Array:
    """The modified Bessel function of the first kind of order 0."""
    x = np.abs(x)
    return _pieces(x, (x < 4.0, _i0_small), ((x >= 4.0) & (x < 8.0), _i0_middle), (x >= 8.0, _i0_large))


def lgamma(x: Array) -> Array:
    """log |gamma(x)|; +inf at the poles and at both infinities."""
    return _pieces(
        x,
        (x >= 8.0, _lgamma_large),
        ((x >= 3.0) & (x < 8.0), _lgamma_shifted),
        ((x >= 1.625) & (x < 3.0), _lgamma_two),
        ((x >= 0.625) & (x < 1.625), lambda v: _lgamma_one(v - 1.0)),
        ((x >= 0.0) & (x < 0.625), lambda v: _lgamma_one(v) - np.log(v)),
        (x < 0.0, _lgamma_negative),
    )


def _pieces(x: Array, *pieces: Piece) -> Array:
    """Each piece on its lanes; NaN on the rest, which are the NaN of `x`."""
    result = np.full_like(x, np.nan)
    for lanes, function in pieces:
        if lanes.all():
            return function(x)
        if lanes.any():
            result[lanes] = function(x[lanes])
    return result


def _horner(coefficients: Sequence[float], t: Array) -> Array:
    result = np.full_like(t, coefficients[0])
    for c in coefficients[1:]:
        result *= t
        result += c
    return result


# --- erf


def _erf_small(x: Array) -> Array:
    return x * _horner(fit.ERF_SMALL, 2.0 * x * x - 1.0)


def _erfc_large(x: Array) -> Array:
    """erfc on [1/2, inf]; from 28 on it is 0."""
    x = np.minimum(x, 28.0)
    low, high = -7.0 / 9.0, 0.75
    t = ((x - 4.0) / (x + 4.0) - (low + high) / 2) * (2 / (high - low))
    # x^2 to more than 53 bits: the error of its rounding would be multiplied by x^2
    head = (x.view(np.int64) & ~np.int64(0x7FFFFFF)).view(np.float64)
    scaled = _horner(fit.ERFC_SCALED, t) / (1.0 + 2.0 * x)
    return np.exp(-head * head) * (np.exp(-(x - head) * (x + head)) * scaled)


# --- i0

_I0_SERIES = [1.0 / math.factorial(k) ** 2 for k in range(18, -1, -1)]


def _i0_small(x: Array) -> Array:
    return _horner(_I0_SERIES, x * x * 0.25)


def _i0_middle(x: Array) -> Array:
    return np.exp(x) * _horner(fit.I0_MIDDLE, x * 0.5 - 3.0)


def _i0_large(x: Array) -> Array:
    x = np.minimum(x, 1400.0)  # i0 overflows from 714 on
    smooth = _horner(fit.I0_LARGE, 16.0 / x - 1.0) / np.sqrt(x)
    half = np.exp(x / 2)  # exp(x) itself overflows before i0 does
    return np.where(x < 700.0, np.exp(x) * smooth, half * smooth * half)


# --- lgamma


def _lgamma_one(z: Array) -> Array:
    """lgamma(1 + z) for z in [-3/8, 5/8]."""
    return z * (z - 1.0) * _horner(fit.LGAMMA_ONE, 2.0 * z - 0.25) + 0.0  # no -0 at its zero


def _lgamma_two(x: Array) -> Array:
    """lgamma on [13/8, 3]."""
    return (x - 1.0) * (x - 2.0) * _horner(fit.LGAMMA_TWO, (x - 2.3125) * (16.0 / 11.0))


def _lgamma_shifted(x: Array) -> Array:
    """lgamma on [3, 8) from [2, 3), by gamma(x) = (x-1) gamma(x-1)."""
    product = np.ones_like(x)
    for _ in range(5):
        above = x >= 3.0
        x = np.where(above, x - 1.0, x)
        product = np.where(above, product * x, product)
    return np.log(product) + _lgamma_two(x)


def _lgamma_large(x: Array) -> Array:
    """Stirling's series; (x - 1/2)(log x - 1) - 1/2 + log(2 pi)/2 keeps every term positive."""
    inverse = 1.0 / x
    tail = _horner(fit.LGAMMA_STIRLING, 128.0 * inverse * inverse - 1.0) * inverse
    return (x - 0.5) * (np.log(x) - 1.0) + (0.5 * math.log(2 * math.pi) - 0.5 + tail)


def _lgamma_negative(x: Array) -> Array:
    """By reflection: log(pi / |x sin(pi x)|) - lgamma(-x)."""
    distance = np.abs(x - np.rint(x))  # sin is periodic: an exact reduction
    sine = np.sin(math.pi * distance)
    reflected = math.log(math.pi) - np.log(sine) - np.log(-x) - lgamma(-x)
    return np.where(x > -1e-17, -np.log(-x), np.where((distance == 0) | np.isinf(x), np.inf, reflected))
