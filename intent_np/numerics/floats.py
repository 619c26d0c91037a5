"""Operators on floats, on arrays of f32 or f64.

`FLOAT` holds the IEEE operations and the exact ones: narrower types are computed in f32 and rounded once, which for
`+ - * / sqrt` is the correctly rounded result (24 bits are more than twice 11, plus 2).  `LIBRARY` holds the rest:
every narrower type, f32 too, is computed in f64 and rounded once.  An approximate operator means the accurate
function; its bound is looser.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import special
from .integers import COMPARISONS
from .storage import Array

Function = Callable[..., Array]


def maximum(a: Array, b: Array) -> Array:
    """NaN where either is; +0 above -0."""
    return _upper_zero(np.maximum(a, b), a, b)


def minimum(a: Array, b: Array) -> Array:
    """NaN where either is; -0 below +0."""
    return _lower_zero(np.minimum(a, b), a, b)


def maximum_num(a: Array, b: Array) -> Array:
    """NaN where both are; +0 above -0."""
    return _upper_zero(np.fmax(a, b), a, b)


def minimum_num(a: Array, b: Array) -> Array:
    """NaN where both are; -0 below +0."""
    return _lower_zero(np.fmin(a, b), a, b)


def _upper_zero(result: Array, a: Array, b: Array) -> Array:
    zero = result == 0
    return np.where(zero & (a == b), a + b, result) if zero.any() else result  # -0 only where both are -0


def _lower_zero(result: Array, a: Array, b: Array) -> Array:
    zero = result == 0
    return np.where(zero & (a == b), -(-a - b), result) if zero.any() else result  # +0 only where both are +0


def sign(x: Array) -> Array:
    """-1 or 1; zeros and NaN stay."""
    return np.where((x == 0) | np.isnan(x), x, np.copysign(x.dtype.type(1), x))


FLOAT: dict[str, Function] = {
    **COMPARISONS,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sign": sign,
    "maximum": maximum,
    "minimum": minimum,
    "maximum_num": maximum_num,
    "minimum_num": minimum_num,
    "fmod": np.fmod,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "sqrt": np.sqrt,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "div_approx": np.divide,
}

LIBRARY: dict[str, Function] = {
    "pow": np.power,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "rsqrt": special.rsqrt,
    "sin": np.sin,
    "cos": np.cos,
    "asin": np.arcsin,
    "tanh": np.tanh,
    "erf": special.erf,
    "erfc": special.erfc,
    "i0": special.i0,
    "lgamma": special.lgamma,
    "sigmoid": special.sigmoid,
    "exp_approx": np.exp,
    "exp2_approx": np.exp2,
    "tanh_approx": np.tanh,
    "rsqrt_approx": special.rsqrt,
    "sigmoid_approx": special.sigmoid,
}
