"""Python constants as elements: rounded to a float type, or checked against the range of an integer type.

Terms call this whenever a constant is made, so it needs neither NumPy nor `ml_dtypes`: one exact rounding to a binary
format serves every float type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..terms.dtypes import DType


@dataclass(frozen=True)
class Format:
    """A binary float format.

    `precision` counts significant bits with the hidden one; `least` is the exponent of the smallest subnormal;
    `largest` the largest finite value; magnitudes from `limit` on round past it: to infinity, where there is one.
    """

    precision: int
    least: int
    largest: float
    limit: int
    infinite: bool = True


def _ieee(precision: int, least: int, top: int) -> Format:
    """The format whose finite values end below `2**top`."""
    largest = (2 - 2.0 ** (1 - precision)) * 2.0 ** (top - 1)
    return Format(precision, least, largest, 2**top - 2 ** (top - precision - 1))


FORMATS: dict[str, Format] = {
    "f16": _ieee(11, -24, 16),
    "bf16": _ieee(8, -133, 128),
    "f32": _ieee(24, -149, 128),
    "f64": _ieee(53, -1074, 1024),
    "f8e5m2": _ieee(3, -16, 16),
    "f8e4m3fn": Format(4, -9, 448.0, 464, infinite=False),  # the code after 448 is NaN
}


def literal(value: bool | int | float, dtype: DType) -> bool | int | float:
    """`value` as an element of `dtype`: a Python bool, int, or float rounded to nearest even.

    Raises `TypeError` where the kinds do not mix (a bool is no number, a float no integer) and `OverflowError` where
    the value is out of range; infinities and NaN are in range wherever the format has them.
    """
    if isinstance(value, bool) != (dtype.kind == "bool"):
        raise TypeError(f"{value!r} is not a {dtype} constant")
    if isinstance(value, bool):
        return value
    if dtype.is_integer:
        if not isinstance(value, int):
            raise TypeError(f"{value!r} is not a {dtype} constant")
        least, most = dtype.range
        if not least <= value <= most:
            raise OverflowError(f"{value} is outside the range of {dtype}, [{least}, {most}]")
        return value
    rounded = round_to(value, FORMATS[dtype.name])
    if rounded is None:
        raise OverflowError(f"{value!r} is outside the range of {dtype}, +-{FORMATS[dtype.name].largest:g}")
    return rounded


def fits(value: bool | int | float, dtype: DType) -> bool:
    """Whether `literal` accepts `value` for `dtype`."""
    try:
        literal(value, dtype)
    except (TypeError, OverflowError, ValueError):  # the last from Python, which won't write out thousands of digits
        return False
    return True


def round_to(value: int | float, form: Format) -> float | None:
    """`value` to nearest even in `form`, rounded once; None where that is beyond the largest finite value."""
    if isinstance(value, float) and not math.isfinite(value):
        return value if form.infinite or math.isnan(value) else None
    if abs(value) >= form.limit:
        return None
    numerator, denominator = value.as_integer_ratio()  # the denominator of an int or a float is a power of two
    scale = denominator.bit_length() - 1
    exponent = max(numerator.bit_length() - scale - form.precision, form.least)  # of the last bit kept
    kept = _shifted(abs(numerator), exponent + scale)
    return math.copysign(math.ldexp(kept, exponent), value)


def _shifted(n: int, places: int) -> int:
    """`n / 2**places` to nearest even."""
    if places <= 0:
        return n << -places
    quotient, rest = n >> places, n & ((1 << places) - 1)
    half = 1 << (places - 1)
    return quotient + (rest > half or (rest == half and quotient & 1 == 1))
