"""Running error analysis: a formula's value together with how far a rounding machine may be from it.

An oracle is written once, over `Approx` numbers, as the kernel's mathematics.  Each operation computes the value in
f64 and carries an absolute error bound, by the language's own rules: every operation rounds to its format, library
functions have their stated ULP, sums run in any order, a product may be fused into an addition.  So every bound is a
condition number, computed from the data: cancellation widens it and small integers, whose sums are exact, make it 0.

f64 itself has nothing wider to be computed in: its bounds count the oracle's own rounding beside the machine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .compare import Expected
from .formats import FORMATS, Array, Format

Number = Any
"""An `Approx`, or a Python number, which is a literal of the other operand's format."""


@dataclass(frozen=True, slots=True, eq=False)
class Approx:
    """`value`: what the machine has where only one result is right, else the formula's f64 result.  `error`: |what a
    machine has - value| is at most this; infinite where the language says nothing.  `format`: the element type that the
    machine computes in.  `unrounded`: for a product, the same as an addition sees it that may absorb the product into a
    fused multiply-add."""

    value: Array
    error: Array
    format: Format
    unrounded: Approx | None = None

    __array_ufunc__ = None  # NumPy leaves `array * approx` to us, and we refuse it: an array has no format

    def __add__(self, other: Number) -> Approx:
        a, b = self._term(), self._literal(other)._term()
        return _rounded(a.value + b.value, a.error + b.error, self.format)

    def __sub__(self, other: Number) -> Approx:
        return self + -self._literal(other)

    def __mul__(self, other: Number) -> Approx:
        b = self._literal(other)
        error = _scaled(b.error, self.value) + _scaled(self.error, b.value) + times(self.error, b.error)
        product = _rounded(self.value * b.value, error, self.format)
        return replace(product, unrounded=_rounded(self.value * b.value, error, self.format, fused=True))

    def __truediv__(self, other: Number) -> Approx:
        b = self._literal(other)
        with np.errstate(all="ignore"):
            quotient = self.value / b.value
            near = np.abs(b.value) - b.error  # the smallest divisor that the machine may have
            error = np.where(
                (self.error == 0) & (b.error == 0), 0.0, (self.error + times(np.abs(quotient), b.error)) / near
            )
            return _rounded(quotient, np.where((near > 0) | (b.error == 0), error, np.inf), self.format)

    def __neg__(self) -> Approx:
        return Approx(-self.value, self.error, self.format, None if self.unrounded is None else -self.unrounded)

    def __radd__(self, other: Number) -> Approx:
        return self + other

    def __rsub__(self, other: Number) -> Approx:
        return self._literal(other) - self

    def __rmul__(self, other: Number) -> Approx:
        return self * other

    def __rtruediv__(self, other: Number) -> Approx:
        return self._literal(other) / self

    def __getitem__(self, key: Any) -> Approx:
        error = self.error + np.zeros_like(self.value)
        return Approx(self.value[key], error[key], self.format)

    @property
    def T(self) -> Approx:
        """The last two axes exchanged."""
        return self.swapaxes(-1, -2)

    def swapaxes(self, first: int, second: int) -> Approx:
        """Two axes exchanged."""
        error = self.error + np.zeros_like(self.value)
        return Approx(self.value.swapaxes(first, second), error.swapaxes(first, second), self.format)

    def to(self, name: str) -> Approx:
        """Cast.  Rounding keeps order, so the result is between the roundings of both ends of what may come in."""
        target = FORMATS[name]
        if target.holds(self.format):
            return Approx(self.value, self.error, target)
        return _rounded(self.value, self.error, target)

    def rescaled(self, name: str) -> Approx:
        """The same value with the error of a rounding to `name` that happens at some unknown, larger scale: half an
        ULP of relative error, or half the smallest subnormal."""
        f = FORMATS[name]
        step = (self.value != 0).astype("f8") * (f.smallest / 2)
        return self.wider(step + times(np.abs(self.value) + self.error, f.unit))

    def loosened(self, relative: Array) -> Approx:
        """The same value with `relative` * |value| more error: for what a permission lets the compiler do."""
        return self.wider(times(np.abs(self.value), relative))

    def wider(self, error: Array) -> Approx:
        return Approx(self.value, np.where(np.isnan(self.value), self.error, self.error + error), self.format)

    def expected(self, name: str | None = None) -> Expected:
        """The value as stored in an output of element type `name` (this format by default), with its bound."""
        f = self.format if name is None else FORMATS[name]
        with np.errstate(all="ignore"):
            error = self.error + np.zeros_like(self.value)
            value = f.round(self.value)
            return Expected(value, _reach(value, f.round(self.value - error), f.round(self.value + error), error))

    def _term(self) -> Approx:
        return self if self.unrounded is None else self.unrounded

    def _literal(self, other: Number) -> Approx:
        if not isinstance(other, Approx):
            literal = float(self.format.round(np.float64(other)))
            return exact(np.full_like(self.value, literal, shape=(1,) * self.value.ndim), self.format.name)
        if other.format is not self.format:
            raise TypeError(f"{self.format.name} meets {other.format.name}: cast one of them, as the author must")
        return other


def exact(x: Array, name: str = "f32") -> Approx:
    """Inputs as the machine has them: no error, computed with in format `name`."""
    wide = x.astype("f8", copy=False)
    return Approx(wide, np.zeros_like(wide), FORMATS[name])


# Elementwise
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


# Over an axis
def concatenate(parts: Sequence[Approx], axis: int) -> Approx:
    """Parts of one format (at least one) put together along an axis."""
    errors = [p.error + np.zeros_like(p.value) for p in parts]
    value = np.concatenate([p.value for p in parts], axis=axis)
    return Approx(value, np.concatenate(errors, axis=axis), parts[0].format)


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


# Roundings
def _rounded(value: Array, error: Array, f: Format, fused: bool = False, ulp: float = 0.0) -> Approx:
    """`value` after one rounding to `f`, or after that or none when `fused`, and `ulp` ULPs of freedom before it."""
    with np.errstate(all="ignore"):
        error = error + np.zeros_like(value)
        if f.precision == 53:
            slack = (ulp + 2) * f.spacing(np.abs(value) + error)
            return Approx(value, np.where(np.isfinite(value), error + slack, np.where(error == np.inf, error, 0.0)), f)
        if ulp:
            freedom = error + ulp * f.spacing(np.abs(value) + error)
            # the value at an infinite argument (exp(-inf) = 0) is no approximation
            error = np.where(np.isfinite(value), freedom, error)
        low, high = f.round(value - error), f.round(value + error)
        if fused:
            return Approx(value, np.maximum(_reach(value, low, high, error), error), f)
        # where both ends round alike, that is what the machine has; a zero keeps its sign
        centre = np.where(low == high, np.copysign(low, value), value)
        return Approx(centre, _reach(centre, low, high, error), f)


def _reach(centre: Array, low: Array, high: Array, error: Array) -> Array:
    """How far [low, high] extends from `centre`; NaN and a certain infinity are met exactly, or anything may come."""
    reach = np.where((low == centre) & (high == centre), 0.0, np.maximum(high - centre, centre - low))
    reach = np.where(np.isnan(reach), np.inf, reach)
    return np.where(error == np.inf, np.inf, np.where(np.isnan(centre), 0.0, reach))


def library(x: Approx, function: Callable[[Array], Array], spread: Callable[[Array], Array], ulp: int) -> Approx:
    """A library function within `ulp` of correctly rounded; formats below f32 evaluate in f32 and round once."""
    with np.errstate(all="ignore"):
        value = function(x.value)
        error = np.where(x.error == 0, 0.0, spread(value))
        error = np.where(np.isnan(error), np.inf, error)
        wide = x.format if x.format.precision >= 24 else FORMATS["f32"]
        result = _rounded(value, error, wide, ulp=float(ulp))
        certain = (x.error == 0) & np.isinf(x.value)  # a limit, such as exp(-inf) = 0
        result = Approx(result.value, np.where(certain, 0.0, result.error), wide)
    return result if wide is x.format else result.to(x.format.name)


def times(a: Array, b: Array) -> Array:
    """`a * b` of magnitudes where 0 times infinity is 0: no error times any number is no error."""
    with np.errstate(all="ignore"):
        return np.where((a == 0) | (b == 0), 0.0, a * b)


def _scaled(error: Array, value: Array) -> Array:
    """The error of a factor in a product with `value`: nothing is known where zero meets what may be infinite."""
    with np.errstate(all="ignore"):
        return np.where(error == 0, 0.0, np.where(error == np.inf, np.inf, error * np.abs(value)))


def _shrunk(x: Approx, effect: Callable[[Array], Array]) -> Array:
    """`effect` of the relative error of a positive argument, infinite once it may be zero or less."""
    ratio = x.error / x.value
    return np.where(x.error == 0, 0.0, np.where(ratio < 1, effect(ratio), np.inf))


def finite(x: Array) -> Array:
    """Its finite elements, and 0 for the others."""
    return np.where(np.isfinite(x), x, 0.0)


def is_integral(x: Approx) -> bool:
    """Whether every element is an integer, known exactly."""
    return not bool(np.any(x.error)) and bool((np.rint(x.value) == x.value).all())


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
