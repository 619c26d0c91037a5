"""Independent arithmetic for the tests: floats decoded from their bits, results rounded in rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from intent_np.numerics import storage
from intent_np.numerics.storage import Array, bits
from intent_np.terms.dtypes import DType

# exponent bits, mantissa bits, and whether the top exponent is kept for infinities
LAYOUT = {
    "f16": (5, 10, True),
    "bf16": (8, 7, True),
    "f32": (8, 23, True),
    "f64": (11, 52, True),
    "f8e4m3fn": (4, 3, False),
    "f8e5m2": (5, 2, True),
}


def decode(code: int, dtype: DType) -> float:
    """The value of one bit pattern, from the definition of the format."""
    exponent_bits, mantissa_bits, ieee = LAYOUT[dtype.name]
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    exponent = (code >> mantissa_bits) & (2**exponent_bits - 1)
    mantissa = code & (2**mantissa_bits - 1)
    bias = 2 ** (exponent_bits - 1) - 1
    if exponent == 2**exponent_bits - 1:
        if ieee:
            return math.nan if mantissa else sign * math.inf
        if mantissa == 2**mantissa_bits - 1:
            return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa + 2**mantissa_bits, exponent - bias - mantissa_bits)


def nearest(exact: Fraction | int, dtype: DType) -> float:
    """`exact` to nearest even; infinity (or NaN, where there is none) beyond the range.  Zero is +0."""
    exponent_bits, mantissa_bits, ieee = LAYOUT[dtype.name]
    bias = 2 ** (exponent_bits - 1) - 1
    size = abs(Fraction(exact))
    if size == 0:
        return 0.0
    exponent = math.floor(math.log2(size)) if 2**-1000 < size < 2**1000 else _exponent(size)
    exponent += (size >= Fraction(2) ** (exponent + 1)) - (size < Fraction(2) ** exponent)
    step = Fraction(2) ** (max(exponent, 1 - bias) - mantissa_bits)
    rounded = round(size / step) * step  # Python rounds a Fraction half to even
    top = 2**exponent_bits - 1 - bias
    largest = (2 - Fraction(2) ** -mantissa_bits) * Fraction(2) ** (top - 1) if ieee else Fraction(448)
    value = float(rounded) if rounded <= largest else math.inf if ieee else math.nan
    return math.copysign(value, 1 if exact > 0 else -1)


def _exponent(size: Fraction) -> int:
    return size.numerator.bit_length() - size.denominator.bit_length()


def patterns(dtype: DType, count: int, seed: int = 0) -> Array:
    """Random bit patterns of `dtype` with every special value among them."""
    rng = np.random.default_rng(seed)
    codes = (
        rng.integers(0, 2**dtype.bits, count, dtype=bits(dtype)) if dtype.bits > 8 else np.arange(256, dtype=np.uint8)
    )
    exponent_bits, mantissa_bits, _ = LAYOUT[dtype.name]
    top = (2**exponent_bits - 1) << mantissa_bits
    special = [0, 1, 2, (1 << mantissa_bits) - 1, 1 << mantissa_bits, top - 1, top, top + 1]
    special += [(2 ** (exponent_bits - 1) - 1) << mantissa_bits]  # 1.0
    sign = 1 << (dtype.bits - 1)
    both = np.array([s for v in special for s in (v, v | sign)], dtype=bits(dtype))
    return np.concatenate([both, codes]).view(storage(dtype))


def same(got: Array, want: Array) -> Array:
    """Lanes that agree: equal with equal signs of zero, or both NaN."""
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))
