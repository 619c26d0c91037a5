"""Codes of packed and scaled formats: every code, every middle between two numbers, and the order inside a word."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from intent_np.numerics import storage
from intent_np.numerics.formats import CODECS, E2M1, E4M3, E5M2, E8M0, I4, Codec, decode, encode, pack, unpack
from intent_np.terms.dtypes import DType, i8, u8, u16, u32, u64

from .oracle import same

ORACLE = {
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e8m0": ml_dtypes.float8_e8m0fnu,
    "i4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "i2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
}
CASES = pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))


def every(codec: Codec) -> np.ndarray:
    return np.arange(2**codec.bits, dtype=np.uint8)


@CASES
def test_every_code_is_its_number(codec: Codec) -> None:
    codes = every(codec)
    got = decode(codes, codec)
    assert got.dtype == storage(codec.decoded)
    assert same(got, codes.view(ORACLE[codec.name]).astype(np.float64)).all()


@CASES
def test_every_number_has_its_code_again(codec: Codec) -> None:
    codes = every(codec)
    values = decode(codes, codec)
    back = encode(values, codec)
    finite = np.isfinite(values.astype(np.float64))
    assert np.array_equal(back[finite], codes[finite])
    assert same(decode(back, codec)[np.isnan(values.astype(np.float64))], math.nan).all()


@CASES
def test_the_nearest_code_is_taken(codec: Codec) -> None:
    """Against distances in rational numbers; of two equally near, the even code."""
    numbers = {int(c): float(decode(c, codec)) for c in every(codec)}
    numbers = {c: v for c, v in numbers.items() if math.isfinite(v)}
    lines = sorted(set(numbers.values()))
    middles = [(a + b) / 2 for a, b in zip(lines, lines[1:], strict=False)]
    around = [math.nextafter(m, to) for m in middles for to in (-math.inf, math.inf)]
    beyond = [lines[0] * 1.6 - 1, lines[-1] * 1.6 + 1]
    x = [*lines, *middles, *around, *beyond, *np.random.default_rng(0).uniform(-9, 9, 200)]
    got = encode(np.array(x), codec)
    for value, code in zip(x, got.tolist(), strict=True):
        off = {c: abs(Fraction(v) - Fraction(value)) for c, v in numbers.items()}
        least = min(off.values())
        nearest = [c for c, d in off.items() if d == least]
        sign = math.copysign(1, value)  # chooses between two zeros
        nearest = [c for c in nearest if numbers[c] or codec.name[0] != "e" or math.copysign(1, numbers[c]) == sign]
        even = [c for c in nearest if c & 1 == 0] if len(nearest) > 1 else nearest
        assert code in even, (value, code, even)


def test_ends_of_the_formats() -> None:
    inf, nan = math.inf, math.nan
    x = np.array([inf, -inf, nan, 0.0, -0.0, -1e-9, 1e9])
    assert decode(encode(x, E2M1), E2M1).tolist() == [6, -6, 0, 0, 0, 0, 6]
    assert encode(x, E2M1).tolist() == [7, 15, 0, 0, 8, 8, 7]
    assert encode(x, E4M3).tolist() == [0x7E, 0xFE, 0x7F, 0, 0x80, 0x80, 0x7E]
    assert encode(x, E5M2).tolist()[:2] == [0x7B, 0xFB]
    assert encode(x, E8M0).tolist() == [254, 0, 255, 0, 0, 0, 127 + 30]
    assert encode(x, I4).tolist() == [7, 8, 0, 0, 0, 0, 7]
    assert decode(np.array([0, 255], np.uint8), E8M0)[0] == 2.0**-127


def test_encoding_agrees_with_another_implementation() -> None:
    x = np.concatenate([np.random.default_rng(1).standard_normal(2000) * s for s in (0.01, 1, 30)]).astype(np.float32)
    for codec in (E2M1, E4M3, E5M2):
        inside = x[np.abs(x) <= codec.values[len(codec.values) // 2 - 2]]
        assert np.array_equal(encode(inside, codec), inside.astype(ORACLE[codec.name]).view(np.uint8)), codec.name
    positive = np.abs(x[x != 0])
    assert np.array_equal(encode(positive, E8M0), positive.astype(ORACLE["e8m0"]).view(np.uint8))


@pytest.mark.parametrize("carrier", [u8, u16, u32, u64], ids=repr)
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_the_earlier_code_is_in_the_lower_bits(bits: int, carrier: DType) -> None:
    per_word = carrier.bits // bits
    codes = np.random.default_rng(0).integers(0, 2**bits, (3, 2 * per_word, 2), np.uint8)
    words = pack(codes, bits, carrier, axis=1)
    assert words.dtype == storage(carrier)
    assert words.shape == (3, 2, 2)
    first = [sum(int(c) << (k * bits) for k, c in enumerate(codes[1, :per_word, 1]))]
    assert words[1, :1, 1].tolist() == first
    assert np.array_equal(unpack(words, bits, axis=1), codes)
    assert unpack(words[:, :0], bits, axis=1).shape == (3, 0, 2)
    assert unpack(words[:0], bits, axis=1).shape == (0, 2 * per_word, 2)


def test_words_that_are_not_filled_are_refused() -> None:
    with pytest.raises(ValueError, match="3 codes of 4 bits do not fill words of u8, 2 each"):
        pack(np.zeros(3, np.uint8), 4)


def test_bits_above_a_code_are_ignored() -> None:
    assert decode(np.array([0xF8, 0x17], np.uint8), I4).tolist() == [-8, 7]
    assert decode(np.array([-8, 7], np.int8), I4).tolist() == [-8, 7]
    assert decode(np.zeros(2, np.int8), I4).dtype == storage(i8)
