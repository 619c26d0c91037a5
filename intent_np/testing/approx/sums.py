"""Operations over an axis: sums in any order, products of matrices, what is normalized online."""

from __future__ import annotations

import math

import numpy as np

from ..formats import Array, Format
from .elementwise import exp
from .number import Approx, finite, is_integral, times


def maximum(x: Approx, axis: int, keepdims: bool = True) -> Approx:
    """The largest element (-inf of none); it moves by no more than the element that moves most."""
    if x.value.shape[axis] == 0:
        empty = x.value.sum(axis=axis, keepdims=keepdims)
        return Approx(empty - np.inf, empty, x.format)
    error = x.error + np.zeros_like(x.value)
    return Approx(x.value.max(axis=axis, keepdims=keepdims), error.max(axis=axis, keepdims=keepdims), x.format)


def total(x: Approx, axis: int, keepdims: bool = True) -> Approx:
    """The sum of n terms in any order: n roundings, each relative to at most the sum of magnitudes."""
    x, n = x._term(), x.value.shape[axis]
    with np.errstate(all="ignore"):
        value = x.value.sum(axis=axis, keepdims=keepdims)
        error = x.error + np.zeros_like(x.value)
        size = (finite(np.abs(x.value)) + error).sum(axis=axis, keepdims=keepdims)
        carried = error.sum(axis=axis, keepdims=keepdims)
        varied = _varied(x.value, axis)
    roundings = _roundings(n, varied if keepdims else varied.squeeze(axis))
    return accumulated(value, carried, size, roundings, x.format, is_integral(x))


def in_memory(x: Approx, additions: int) -> Approx:
    """A sum that so many atomic additions make in memory: each may flush a subnormal f32."""
    return x.wider(np.full_like(x.value, additions * 2.0**-126))


def running_total(x: Approx, axis: int) -> Approx:
    """The sum of each prefix, each in any grouping of its neighbours: `total` of that many terms."""
    x = x._term()
    with np.errstate(all="ignore"):
        error = x.error + np.zeros_like(x.value)
        size = np.cumsum(finite(np.abs(x.value)) + error, axis)
        count = np.cumsum(np.ones_like(x.value), axis)
        carried, value = np.cumsum(error, axis), np.cumsum(x.value, axis)
    return accumulated(value, carried, size, np.minimum(count, 8 * np.sqrt(count)), x.format, is_integral(x))


def mean(x: Approx, axis: int, keepdims: bool = True) -> Approx:
    """`total / n`; of nothing it is 0/0, NaN."""
    return total(x, axis, keepdims) / x.value.shape[axis]


def matmul(a: Approx, b: Approx, matrix_unit: bool = True) -> Approx:
    """Contraction in a's format: n products and n additions in any order, 2n roundings.

    A matrix unit does not round products of narrow elements, but truncates where it adds: twice the error of rounding,
    and of one sign, so that it never averages out.  Products of f32 and f64 elements have no such unit to go to.
    """
    n = a.value.shape[-1]
    with np.errstate(all="ignore"):
        value = np.matmul(a.value, b.value)
        left, right = finite(np.abs(a.value)), finite(np.abs(b.value))
        size = np.matmul(left, right)
        carried = np.zeros_like(size)
        for x, y in ((left, b.error), (a.error, right), (a.error, b.error)):
            if bool(np.any(x)) and bool(np.any(y)):
                carried = carried + np.matmul(x + np.zeros_like(left), y + np.zeros_like(right))
        carried = np.where(np.isnan(carried), np.inf, carried)  # an unknown factor times zero
        varied = (_varied(a.value, -1) | _varied(b.value, -2)) & (not matrix_unit)
    integral = is_integral(a) and is_integral(b)
    return accumulated(value, carried, size + carried, _roundings(2 * n, varied), a.format, integral)


def matmul_add(a: Approx, b: Approx, c: Approx) -> Approx:
    """`matmul(a, b) + c`, where the accumulator may begin with c, which then goes through every rounding."""
    early = np.expm1(2 * a.value.shape[-1] * a.format.unit)
    return (matmul(a, b) + c).wider(times(np.abs(c.value) + c.error, early))


def products(value: Array, size: Array, roundings: int, *factors: Approx) -> Approx:
    """A sum of products of `factors` in any order and grouping: `value`, where the magnitudes of the products add up to
    `size` and each goes through so many roundings."""
    fewest = np.zeros_like(value) + roundings
    return accumulated(value, np.zeros_like(value), size, fewest, factors[0].format, all(map(is_integral, factors)))


def online(scores: Approx, axis: int = -1) -> Approx:
    """exp(scores - max) as `relaxed_normalization` lets it be computed: exponents in base 2 against a running maximum.

    A traversal has a step for every 16 members at most.  Each exponent is a difference of two rounded multiples of
    scores, first for the weight and then for each step's rescaling, which is one approximate exp2 and one product.
    """
    unit, steps = scores.format.unit, scores.value.shape[axis] // 16 + 1
    weight = exp(scores - maximum(scores, axis))
    if not scores.value.shape[axis]:
        return weight
    size = (finite(np.abs(scores.value)) + scores.error).max(axis=axis, keepdims=True)
    flushed = (weight.value > 0).astype("f8") * 2.0**scores.format.lowest  # the approximate exp2 may drop subnormals
    return weight.loosened(np.expm1(((4 + 2 * steps) * size + 3 * steps) * unit)).wider(flushed)


def _varied(x: Array, axis: int) -> Array:
    """Whether most neighbours along the axis differ; the axis stays, of extent 1."""
    ordered = np.moveaxis(x, axis, 0)
    return np.expand_dims(2 * (ordered[1:] != ordered[:-1]).sum(axis=0) > len(ordered), axis)


def _roundings(n: int, varied: Array) -> Array:
    """How many roundings n of them count for.  Those of varied terms are independent and add up as a random walk does:
    to more than 8 sqrt(n) once in e^32 sums.  Terms that repeat round alike, and are counted one by one."""
    return n + varied.astype("f8") * (min(n, 8 * math.sqrt(n)) - n)


def accumulated(value: Array, carried: Array, size: Array, roundings: Array, f: Format, integral: bool) -> Approx:
    """A sum whose terms have magnitudes that add up to `size` and errors that add up to `carried`; `roundings` of them
    in a row multiply it by at most (1 + unit)**roundings."""
    unit = f.unit * (2 if f.precision == 53 else 1)
    growth = np.expm1(roundings * unit)
    with np.errstate(all="ignore"):
        error = carried + times(growth, size)
        if integral:  # every partial sum is an integer: exact as long as it has no more bits than the significand
            error = np.where(size <= 2.0**f.precision, carried, error)
        error = np.where(size * (1 + growth) > f.largest, np.inf, error)  # a partial sum may overflow in some order
    return Approx(value, error, f)
