"""Numbers narrower than an element type, or without arithmetic of their own, as codes in unsigned carriers.

A *code* is the bit pattern of one number, in a `u8` of its own; `unpack` takes codes out of the words that carry
several of them (the earlier in the lower bits) and `pack` puts them there.  `decode` gives the numbers of codes, and
`encode` the nearest code of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..terms.dtypes import DType, f32, i8, u8
from .storage import Array, quiet, storage


@dataclass(frozen=True, eq=False)
class Codec:
    """A set of numbers by code: `values[c]` is the number of code `c`, exact in the element type `decoded`."""

    name: str
    bits: int
    values: tuple[float, ...]
    decoded: DType = f32

    @property
    def nan(self) -> int:
        """The code of NaN; that of zero (or the least number) where there is none."""
        return next((c for c, v in enumerate(self.values) if v != v), 0)

    @cached_property
    def _finite(self) -> tuple[Array, Array]:
        """The finite numbers in ascending order, +0 and no -0, and their codes."""
        codes = [c for c, v in enumerate(self.values) if abs(v) < float("inf") and (v != 0 or c == 0)]
        codes.sort(key=self.values.__getitem__)
        return np.array([self.values[c] for c in codes]), np.array(codes, np.uint8)

    @cached_property
    def _table(self) -> Array:
        return np.array(self.values).astype(storage(self.decoded))


def decode(codes: Array, codec: Codec) -> Array:
    """The numbers of these codes, of element type `codec.decoded`; bits above the code are ignored."""
    table = codec._table  # a codec and its module are one
    return np.asarray(table[np.asarray(codes).view(np.uint8) & np.uint8(len(table) - 1)])


@quiet
def encode(x: Array, codec: Codec) -> Array:
    """The codes (u8) of the nearest numbers: of two equally near the even code, the largest finite one beyond the
    range, and of NaN the code of NaN, or zero.  The sign of a zero is kept where there are two."""
    x = np.asarray(x, np.float64)
    values, codes = codec._finite
    above = np.searchsorted(values, x).clip(1, len(values) - 1)
    low, high = values[above - 1], values[above]
    middle = low + (high - low) / 2  # exact: few bits
    upper = (x > middle) | ((x == middle) & (codes[above] & 1 == 0))
    result = codes[np.where(upper, above, above - 1)]
    if codec.values[len(codec.values) // 2] == 0:  # code 100…0 is -0
        negative = np.signbit(x) & (result == 0)
        result = np.where(negative, np.uint8(len(codec.values) // 2), result)
    return np.asarray(np.where(np.isnan(x), np.uint8(codec.nan), result))


def unpack(words: Array, bits: int, axis: int = -1) -> Array:
    """The codes of `bits` bits in unsigned `words`, the earlier in the lower bits: `axis` gets longer by as many as a
    word holds."""
    per_word = words.dtype.itemsize * 8 // bits
    words = np.moveaxis(np.asarray(words), axis, -1)
    shifts = (np.arange(per_word) * bits).astype(words.dtype)
    codes = (words[..., None] >> shifts & words.dtype.type(2**bits - 1)).astype(np.uint8)
    return np.moveaxis(codes.reshape(*words.shape[:-1], -1 if words.size else words.shape[-1] * per_word), -1, axis)


def pack(codes: Array, bits: int, carrier: DType = u8, axis: int = -1) -> Array:
    """What `unpack` takes apart: codes (u8) of `bits` bits in words of an unsigned type.

    `ValueError` where the extent along `axis` does not fill its last word.
    """
    word = storage(carrier)
    per_word = carrier.bits // bits
    codes = np.moveaxis(np.asarray(codes, np.uint8), axis, -1)
    if codes.shape[-1] % per_word:
        raise ValueError(f"{codes.shape[-1]} codes of {bits} bits do not fill words of {carrier}, {per_word} each")
    grouped = codes.reshape(*codes.shape[:-1], codes.shape[-1] // per_word, per_word).astype(word)
    shifts = (np.arange(per_word) * bits).astype(word)
    words = np.bitwise_or.reduce((grouped & word.type(2**bits - 1)) << shifts, axis=-1, dtype=word)
    return np.moveaxis(words, -1, axis)


def _floats(exponent_bits: int, mantissa_bits: int, special: Iterable[tuple[int, float]] = ()) -> tuple[float, ...]:
    """The numbers of a signed binary format with subnormals; `special` replaces codes without the sign."""
    bias, steps = 2 ** (exponent_bits - 1) - 1, 2**mantissa_bits
    fields = [divmod(c, steps) for c in range(2**exponent_bits * steps)]
    positive = [(m + steps * (e > 0)) / steps * 2.0 ** (max(e, 1) - bias) for e, m in fields]
    for code, value in special:
        positive[code] = value
    return (*positive, *(-v for v in positive))


def _integers(bits: int, signed: bool) -> tuple[float, ...]:
    half = 2 ** (bits - 1)
    return tuple(float(c - 2 * half if signed and c >= half else c) for c in range(2 * half))


_INF, _NAN = float("inf"), float("nan")

E2M1 = Codec("e2m1", 4, _floats(2, 1))
E4M3 = Codec("e4m3", 8, _floats(4, 3, [(0x7F, _NAN)]))
E5M2 = Codec("e5m2", 8, _floats(5, 2, [(0x7C, _INF), (0x7D, _NAN), (0x7E, _NAN), (0x7F, _NAN)]))
E8M0 = Codec("e8m0", 8, (*(2.0 ** (c - 127) for c in range(255)), _NAN))  # scales: no sign, no zero
I4, U4 = Codec("i4", 4, _integers(4, True), i8), Codec("u4", 4, _integers(4, False), u8)
I2, U2 = Codec("i2", 2, _integers(2, True), i8), Codec("u2", 2, _integers(2, False), u8)

CODECS: dict[str, Codec] = {c.name: c for c in (E2M1, E4M3, E5M2, E8M0, I4, U4, I2, U2)}
