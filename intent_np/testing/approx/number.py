"""The numbers of running error analysis: a value, how far a machine may be from it, and the format it computes in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..compare import Expected
from ..formats import FORMATS, Array, Format

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
        return rounded(a.value + b.value, a.error + b.error, self.format)

    def __sub__(self, other: Number) -> Approx:
        return self + -self._literal(other)

    def __mul__(self, other: Number) -> Approx:
        b = self._literal(other)
        error = _scaled(b.error, self.value) + _scaled(self.error, b.value) + times(self.error, b.error)
        product = rounded(self.value * b.value, error, self.format)
        return replace(product, unrounded=rounded(self.value * b.value, error, self.format, fused=True))

    def __truediv__(self, other: Number) -> Approx:
        b = self._literal(other)
        with np.errstate(all="ignore"):
            quotient = self.value / b.value
            near = np.abs(b.value) - b.error  # the smallest divisor that the machine may have
            error = np.where(
                (self.error == 0) & (b.error == 0), 0.0, (self.error + times(np.abs(quotient), b.error)) / near
            )
            return rounded(quotient, np.where((near > 0) | (b.error == 0), error, np.inf), self.format)

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
        return rounded(self.value, self.error, target)

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
        """The same value with so much more error."""
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


# ---- roundings


def rounded(value: Array, error: Array, f: Format, fused: bool = False, ulp: float = 0.0) -> Approx:
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


def times(a: Array, b: Array) -> Array:
    """`a * b` of magnitudes where 0 times infinity is 0: no error times any number is no error."""
    with np.errstate(all="ignore"):
        return np.where((a == 0) | (b == 0), 0.0, a * b)


def _scaled(error: Array, value: Array) -> Array:
    """The error of a factor in a product with `value`: nothing is known where zero meets what may be infinite."""
    with np.errstate(all="ignore"):
        return np.where(error == 0, 0.0, np.where(error == np.inf, np.inf, error * np.abs(value)))


def finite(x: Array) -> Array:
    """Its finite elements, and 0 for the others."""
    return np.where(np.isfinite(x), x, 0.0)


def is_integral(x: Approx) -> bool:
    """Whether every element is an integer, known exactly."""
    return not bool(np.any(x.error)) and bool((np.rint(x.value) == x.value).all())
