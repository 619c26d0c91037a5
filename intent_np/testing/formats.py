"""Element types as sets of numbers: rounding to them, the spacing in them, and their NumPy arrays.

Oracles compute in f64 and round here, once and to nearest even, so that they depend on no backend's casts.  Everything
takes NumPy arrays and, through NumPy's dispatch, CuPy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Array = Any
"""A NumPy or CuPy array, or a scalar that one broadcasts with."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format: `precision` significand bits, the hidden one counted; exponents of normal
    numbers from `lowest` (2**lowest is the smallest normal number); `largest` finite value; whether it has infinities.
    """

    name: str
    precision: int
    lowest: int
    largest: float
    infinities: bool = True

    @property
    def unit(self) -> float:
        """Unit roundoff: the largest relative error of one rounding to nearest of a normal number."""
        return 2.0**-self.precision

    @property
    def smallest(self) -> float:
        """The smallest positive number, a subnormal one."""
        return 2.0 ** (self.lowest - self.precision + 1)

    def holds(self, other: Format) -> bool:
        """Whether every number of `other` is one of this format."""
        wide = self.smallest <= other.smallest and self.largest >= other.largest
        return wide and self.precision >= other.precision and self.infinities >= other.infinities

    def spacing(self, x: Array) -> Array:
        """One ULP at `x`: the gap to the next number away from zero, never below the smallest subnormal."""
        exponent = np.where(x == 0, self.lowest, np.frexp(x)[1] - 1)
        return np.ldexp(np.ones_like(x), np.maximum(exponent, self.lowest) - (self.precision - 1))

    def round(self, x: Array) -> Array:
        """`x` (f64) to nearest even in this format, as f64; past the largest number it is an infinity, or NaN where
        the format has none."""
        if self.precision == 53:
            return x
        with np.errstate(all="ignore"):
            step = self.spacing(x)
            rounded = np.where(np.isfinite(x), np.rint(x / step) * step, x)
            over = np.inf if self.infinities else np.nan
            return np.where(np.abs(rounded) > self.largest, np.copysign(over, rounded), rounded)


FORMATS: Final = {
    f.name: f
    for f in (
        Format("f64", 53, -1022, float(np.finfo(np.float64).max)),
        Format("f32", 24, -126, float(np.finfo(np.float32).max)),
        Format("f16", 11, -14, 65504.0),
        Format("bf16", 8, -126, (2 - 2.0**-7) * 2.0**127),
        Format("f8e5m2", 3, -14, 57344.0),
        Format("f8e4m3fn", 4, -6, 448.0, infinities=False),
    )
}

_PLAIN: Final = {
    "bool": "?", "index": "i8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
    "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8",
}  # fmt: skip
_EXTENDED: Final = {"bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of an element type; `ml_dtypes` has those that NumPy lacks."""
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, _EXTENDED[name]))


def element_type(array: Array) -> str:
    """The element type of an array's dtype: the inverse of `numpy_dtype`, `index` being `i64`."""
    dtype = np.dtype(array.dtype)
    for name, extended in _EXTENDED.items():
        if dtype.name == extended:
            return name
    kind = {"b": "bool", "i": "i", "u": "u", "f": "f"}[dtype.kind]
    return kind if kind == "bool" else f"{kind}{8 * dtype.itemsize}"


def widen(array: Array) -> Array:
    """`array` with the same values in the widest type of its kind: f64, i64 (u64 for u64), or bool."""
    name = element_type(array)
    wide = "f64" if name in FORMATS else name if name in ("bool", "u64") else "i64"
    return array.astype(numpy_dtype(wide), copy=False)
