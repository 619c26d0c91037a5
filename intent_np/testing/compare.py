"""Comparing what a machine stored with what its author's formula says.

An oracle gives each output as an `Expected`: the value and how far a machine that keeps the language's rules may be
from it.  Bools, integers, indices and floats whose every rounding is determined have the bound 0 and must be equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .formats import FORMATS, Array, element_type, numpy_dtype, widen


@dataclass(frozen=True, slots=True)
class Expected:
    """One output: `value` as stored (already rounded to the output's type, held in f64, i64 or bool) and `bound`, the
    largest permitted absolute error of each element, an array that broadcasts to `value`.

    An infinite bound admits anything: the language leaves that element unspecified.  A NaN or infinite value must be
    met exactly.  `signed_zeros` compares the signs of zeros; a sum that is zero has none to compare.  `unordered`
    labels elements: those of one label may stand in any order, as those do that take their places from an atomic count.
    """

    value: Array
    bound: Array = 0.0
    signed_zeros: bool = False
    unordered: Array | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome: largest absolute error, largest error in units of its bound (infinite where equality was due and
    missed), whether every element is within its bound, the index of the worst element, and one line to print."""

    max_error: float
    max_ratio: float
    ok: bool
    where: tuple[int, ...] | None
    message: str

    def __bool__(self) -> bool:
        return self.ok

    @property
    def where_wrong(self) -> tuple[int, ...] | None:
        """The worst element if it is wrong: none of an output that has another shape."""
        return None if self.ok else self.where


def compare(actual: Array, expected: Expected) -> Comparison:
    """Whether `actual` (in the output's own dtype) is `expected`, and where it is not."""
    got, want = widen(actual), expected.value
    if got.shape != want.shape:
        return Comparison(np.inf, np.inf, False, None, f"shape {got.shape} where {want.shape} was expected")
    if expected.unordered is not None:
        plain = Expected(_arranged(want, expected.unordered), expected.bound, expected.signed_zeros)
        return compare(_arranged(actual, expected.unordered), plain)
    if got.size == 0:
        return Comparison(0.0, 0.0, True, None, "no elements")
    if got.dtype.kind != "f":
        error = np.where(got == want, 0.0, np.abs(got.astype("f8") - want.astype("f8")).clip(1.0, None))
        unspecified = np.where(np.isinf(expected.bound), np.inf, 0.0)  # an integer is exact, or may be anything
        return _outcome(actual, expected, error, np.zeros_like(error) + unspecified)
    bound = np.zeros_like(got) + expected.bound
    if bool(np.isnan(bound).any()):
        raise ValueError("the oracle's bound is NaN; an element that may be anything has an infinite bound")
    with np.errstate(invalid="ignore", over="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        if expected.signed_zeros:
            same = same & ((got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want)))
        error = np.where(same, 0.0, np.abs(got - want))
        # a zero of the wrong sign, or NaN against a number, has no distance: it is wrong by any measure
        error = np.where(~same & ((error == 0.0) | np.isnan(error)), np.inf, error)
    return _outcome(actual, expected, error, bound)


def _arranged(x: Array, labels: Array) -> Array:
    """The elements of each label in ascending order, in the places that the label has."""
    result = np.empty_like(x)
    result.reshape(-1)[np.argsort(labels, axis=None, kind="stable")] = x.reshape(-1)[
        np.lexsort((x.reshape(-1), labels.reshape(-1)))
    ]
    return result


def _outcome(actual: Array, expected: Expected, error: Array, bound: Array) -> Comparison:
    unspecified = np.isinf(bound)
    error = np.where(unspecified, 0.0, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error == 0.0, 0.0, error / np.where(unspecified, 1.0, bound))
    flat = int(ratio.argmax())
    where = tuple(int(i) for i in np.unravel_index(flat, ratio.shape))
    worst, ok = float(ratio[where]), not float(ratio[where]) > 1.0
    if ok:
        message = f"max error {float(error.max()):.3g}, {worst:.2f} of its bound"
        return Comparison(float(error.max()), worst, ok, where, message)
    bad = int((ratio > 1.0).sum())
    message = (
        f"{bad} of {ratio.size} elements wrong, worst at {where}: got {_show(actual[where])}, expected "
        f"{_show(expected.value[where])} within {float(bound[where]):.3g}"
    )
    return Comparison(float(error.max()), worst, ok, where, message)


def _show(element: Array) -> str:
    plain = element.item() if hasattr(element, "item") else element
    return f"{float(plain):.9g}" if not isinstance(plain, (bool, int)) else repr(plain)


def ulps(a: Array, b: Array, dtype: Any = None) -> np.ndarray[Any, Any]:
    """How many numbers of `dtype` (an element type, or its name; that of `a` by default) lie from `a` to `b`.

    Both zeros are one number and both may be NaN; NaN against a number is the largest i64.  Arrays of other types are
    rounded to `dtype` first.  NumPy arrays only.
    """
    name = element_type(np.asarray(a)) if dtype is None else str(dtype)
    if name not in FORMATS:
        return np.abs(np.asarray(a).astype("i8") - np.asarray(b).astype("i8"))
    first, second = (_ordinal(np.asarray(x), name) for x in (a, b))
    nan = np.isnan(np.asarray(a).astype("f8")), np.isnan(np.asarray(b).astype("f8"))
    distance = np.abs(first - second)
    return np.where(nan[0] & nan[1], 0, np.where(nan[0] | nan[1], np.iinfo("i8").max, distance))


def _ordinal(x: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The place of each number in the order of all numbers of its format: neighbours differ by 1, zeros are 0."""
    target = numpy_dtype(name)
    stored = x if x.dtype == target else FORMATS[name].round(x.astype("f8")).astype(target)
    bits = np.ascontiguousarray(stored).view(f"i{target.itemsize}").astype("i8")
    lowest = -(2 ** (8 * target.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)
