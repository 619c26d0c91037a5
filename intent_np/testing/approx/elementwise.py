"""Operations on each element, and on elements side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..formats import FORMATS, Array
from .number import Approx, Number, rounded, times


def exp(x: Approx) -> Approx:
    """2 ULP; an error e in the exponent is a factor of at most exp(e)."""
    return library(x, np.exp, lambda v: times(v, np.expm1(x.error)), 2)


def log(x: Approx) -> Approx:
    """2 ULP; an error e in x is -log(1 - e/x) in the result."""
    return library(x, np.log, lambda v: _shrunk(x, lambda ratio: -np.log1p(-ratio)), 2)


def sqrt(x: Approx) -> Approx:
    """Correctly rounded."""
    return library(x, np.sqrt, lambda v: times(v, _shrunk(x, lambda ratio: 1 - np.sqrt(1 - ratio))), 0)


def rsqrt(x: Approx) -> Approx:
    """2 ULP; an error e in x is a factor (1 - e/x)**-0.5."""
    return library(x, lambda v: 1 / np.sqrt(v), lambda v: times(v, _shrunk(x, lambda r: (1 - r) ** -0.5 - 1)), 2)


def sigmoid(x: Approx) -> Approx:
    """4 ULP; its slope is at most 1/4, and at most the value itself."""

    def spread(v: Array) -> Array:
        return np.minimum(x.error / 4, times(v, np.expm1(x.error)))

    return library(x, lambda v: 1 / (1 + np.exp(-v)), spread, 4)


def erf(x: Approx) -> Approx:
    """2 ULP; its slope is at most 2/sqrt(pi)."""
    return library(x, _erf, lambda v: x.error * (2 / math.sqrt(math.pi)), 2)


def tanh(x: Approx) -> Approx:
    """2 ULP; its slope is at most 1."""
    return library(x, np.tanh, lambda v: x.error, 2)


def larger(a: Approx, b: Number) -> Approx:
    """The larger of two, NaN if either is; it moves by no more than the one that moves more."""
    other = a._literal(b)
    return Approx(np.maximum(a.value, other.value), np.maximum(a.error, other.error), a.format)


def select(condition: Array, a: Number, b: Number) -> Approx:
    """`a` where the condition (known exactly) holds, else `b`."""
    model = a if isinstance(a, Approx) else b
    a, b = model._literal(a), model._literal(b)
    made = Approx(np.where(condition, a.value, b.value), np.where(condition, a.error, b.error), model.format)
    if a.unrounded is None and b.unrounded is None:
        return made
    return replace(made, unrounded=select(condition, a._term(), b._term()))  # a product that is chosen stays one


def concatenated(parts: Sequence[Approx], axis: int = 0) -> Approx:
    """One or more, of one format, one behind the other."""
    values = np.concatenate([p.value for p in parts], axis)
    return Approx(values, np.concatenate([p.error + np.zeros_like(p.value) for p in parts], axis), parts[0].format)


def library(x: Approx, function: Callable[[Array], Array], spread: Callable[[Array], Array], ulp: int) -> Approx:
    """A library function within `ulp` of correctly rounded; formats below f32 evaluate in f32 and round once."""
    with np.errstate(all="ignore"):
        value = function(x.value)
        error = np.where(x.error == 0, 0.0, spread(value))
        error = np.where(np.isnan(error), np.inf, error)
        wide = x.format if x.format.precision >= 24 else FORMATS["f32"]
        result = rounded(value, error, wide, ulp=float(ulp))
        certain = (x.error == 0) & np.isinf(x.value)  # a limit, such as exp(-inf) = 0
        result = Approx(result.value, np.where(certain, 0.0, result.error), wide)
    return result if wide is x.format else result.to(x.format.name)


def _shrunk(x: Approx, effect: Callable[[Array], Array]) -> Array:
    """`effect` of the relative error of a positive argument, infinite once it may be zero or less."""
    ratio = x.error / x.value
    return np.where(x.error == 0, 0.0, np.where(ratio < 1, effect(ratio), np.inf))


def _erf(x: Array) -> Array:
    """erf through its all-positive series 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), full f64
    accuracy; from |x| = 6 on the result is 1."""
    near = np.clip(x, -6.0, 6.0)
    term = near * (2 / math.sqrt(math.pi)) * np.exp(-near * near)
    result = term
    for n in range(1, 160):
        term = term * (2 * near * near) / (2 * n + 1)
        result = result + term
    return np.where(np.abs(x) >= 6, np.sign(x), result)
