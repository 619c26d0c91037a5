"""Numbers in records of 256: the q4_k and q8_k super-blocks of ggml, bit for bit.

The layouts are those of `block_q4_K` and `block_q8_K` in ggml's `ggml-common.h`, little endian throughout:

    q8_k, 292 bytes      f32 d | 256 × i8 q | 16 × i16, the sums of each 16 q
                         number i is d · q[i]
    q4_k, 144 bytes      f16 d | f16 dmin | 12 bytes of 8 scales and 8 minima of 6 bits | 128 bytes of 4-bit q
                         number i, of the block b = i // 32, is d · scale[b] · q[i] - dmin · minimum[b]

In a q4_k record the q of numbers 64 k … 64 k + 31 are the low nibbles of bytes 32 k … 32 k + 31, those of the 32
numbers behind them the high nibbles.  The first four scales (minima) are the low six bits of bytes 0…3 (4…7); of
scale and minimum 4 + j, byte 8 + j holds the low four bits (the scale's low), and the two upper bits of bytes j and
4 + j the rest.
"""

from __future__ import annotations

import numpy as np

from ..terms.dtypes import f32
from .reductions import reduce_sum
from .storage import Array, quiet

MEMBERS = 256


@quiet
def quantize_q8_k(x: Array) -> Array:
    """f32 [..., 256 G] as q8_k records, u8 [..., G, 292].

    The number of largest magnitude (the first of equals, NaN never) becomes -127; the others follow in f32: times
    -127 / largest, to the nearest integer, halves to even.  NaN becomes 0; of a record of zeros all bytes are 0.
    """
    x = np.ascontiguousarray(x, np.float32)
    x = x.reshape(*x.shape[:-1], x.shape[-1] // MEMBERS, MEMBERS)
    size = np.where(np.isnan(x), np.float32(0), np.abs(x))
    largest = np.take_along_axis(x, size.argmax(-1)[..., None], -1)
    empty = size.max(-1, keepdims=True) == 0
    scale = np.where(empty, np.float32(0), np.float32(-127) / largest)
    d = np.where(empty, np.float32(0), np.float32(1) / scale)
    q = np.where(empty, np.int8(0), _nearest(scale * x))
    sums = q.reshape(*q.shape[:-1], 16, 16).sum(-1, dtype=np.int16)
    parts = (d.astype("<f4"), q, sums.astype("<i2"))
    return np.concatenate([np.ascontiguousarray(p).view(np.uint8) for p in parts], -1)


def _nearest(v: Array) -> Array:
    """The nearest i8 through the last bits of v + 1.5 · 2^23: what is not finite, and so has no such bits, gives 0."""
    bits = (v + np.float32(12582912)).view(np.int32)
    integer = np.minimum((bits & 0x7FFFFF) - 0x400000, 127)
    return np.where(np.isfinite(v), integer, 0).astype(np.int8)


def unpack_q4_k(records: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Of q4_k records [..., 144]: d and dmin [...] in f32, scales and minima [..., 8] and q [..., 8, 32] in i32."""
    records = np.ascontiguousarray(records, np.uint8)
    halves = records[..., :4].copy().view("<f2").astype(np.float32)
    packed, nibbles = records[..., 4:16].astype(np.int32), records[..., 16:].astype(np.int32)
    low, middle, high = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate((low & 63, high & 15 | low >> 6 << 4), -1)
    minima = np.concatenate((middle & 63, high >> 4 | middle >> 6 << 4), -1)
    quarters = nibbles.reshape(*nibbles.shape[:-1], 4, 1, 32)
    q = np.concatenate((quarters & 15, quarters >> 4), -2).reshape(*nibbles.shape[:-1], 8, 32)
    return halves[..., 0], halves[..., 1], scales, minima, q


def unpack_q8_k(records: Array) -> tuple[Array, Array, Array]:
    """Of q8_k records [..., 292]: d [...] in f32, q [..., 256] and sums [..., 16] in i32."""
    records = np.ascontiguousarray(records, np.uint8)
    d = records[..., :4].copy().view("<f4")[..., 0].astype(np.float32)
    q = records[..., 4:260].copy().view(np.int8).astype(np.int32)
    return d, q, records[..., 260:].copy().view("<i2").astype(np.int32)


@quiet
def quantized_dot(l: Array, r: Array) -> Array:
    """Dot products of q4_k records [..., G, 144] with q8_k records [..., G, 292]: f32 [...].

    Of each pair of records the integer sums are exact, and become f32; (d · d') times the one, minus (dmin · d') times
    the other, every step rounded to f32.  The records are then summed."""
    d, dmin, scales, minima, q4 = unpack_q4_k(l)
    other, q8, sums = unpack_q8_k(r)
    products = (q4 * q8.reshape(*q8.shape[:-1], 8, 32)).sum(-1, dtype=np.int32)
    total = (scales * products).sum(-1, dtype=np.int32)
    least = (minima * sums.reshape(*sums.shape[:-1], 8, 2).sum(-1, dtype=np.int32)).sum(-1, dtype=np.int32)
    pairs = (d * other) * total.astype(np.float32) - (dmin * other) * least.astype(np.float32)
    return reduce_sum(pairs, -1, f32)
