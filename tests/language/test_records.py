"""Records of quantized numbers, byte for byte, and their dot products."""

import math
import struct

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(17)


def q8_k(x):
    """One record, number by number: `struct` packs the bytes, and rounds to f32."""
    f32 = lambda v: struct.unpack("<f", struct.pack("<f", v))[0]  # noqa: E731
    largest = 0.0
    for v in x:
        if abs(v) > abs(largest):
            largest = v
    if largest == 0:
        return bytes(292)
    scale = f32(-127 / largest)
    q = [max(-128, min(127, round(f32(scale * v)))) for v in x]  # Python rounds halves to even
    return struct.pack("<f256b16h", 1 / scale, *q, *(sum(q[k : k + 16]) for k in range(0, 256, 16)))


@intent.kernel
def quantizing(x: I.In[I.f32, ("M", "256 * G")], y: I.Out[I.u8, ("M", "G", 292)]):
    y[...] = I.quantize(x[...], format=I.quant.q8_k)


def rows_of_numbers():
    yield RNG.standard_normal((3, 512)).astype(np.float32)
    yield np.zeros((2, 256), np.float32)
    yield np.zeros((0, 256), np.float32)
    yield np.zeros((2, 0), np.float32)
    ties = np.tile(np.array([4, -4, 0.5, 1.5, -2.5, 0, -0.0, 3.999], np.float32), 32)  # both ends as large
    yield np.stack([ties, -ties])
    halves = (np.arange(256) / 2 - 63.5).astype(np.float32)
    yield np.stack([halves, halves[::-1], halves * np.float32(1e30), halves * np.float32(1e-30)])
    yield (
        RNG.integers(-(2**31), 2**31, (40, 256)).astype(np.float32)
        * RNG.choice(np.float32(10.0) ** np.arange(-30, 25, dtype=np.float32), (40, 1))
    )


def test_records_are_byte_for_byte(run):
    for x in rows_of_numbers():
        m, g = len(x), x.shape[1] // 256
        y = np.full((m, g, 292), 7, np.uint8)
        run(quantizing, x=x, y=y)
        for i, k in np.ndindex(m, g):
            wanted = q8_k([float(v) for v in x[i, 256 * k : 256 * k + 256]])
            assert y[i, k].tobytes() == wanted


def test_what_is_not_finite_becomes_zero(run):
    x = np.ones((3, 256), np.float32)
    x[0, 3], x[1, 9], x[2, 7] = np.nan, np.inf, 1e-45
    x[2, 8:] = 0
    x[2, :7] = 0
    y = np.zeros((3, 1, 292), np.uint8)
    run(quantizing, x=x, y=y)
    d, q = y[..., :4].copy().view("<f4")[:, 0, 0], y[..., 4:260].view(np.int8)[:, 0]
    assert d[0] == np.float32(1) / np.float32(-127)
    assert q[0, 3] == 0
    assert (np.delete(q[0], 3) == -127).all()
    assert d[1] == -np.inf
    assert (q[1] == 0).all()
    assert (q[2] == 0).all()  # the scale of so small a number is infinite


def q4_k_numbers(record):
    """The numbers of one record, as fractions of f16 and integers: exact in f64."""
    d, dmin = struct.unpack("<ee", record[:4])
    s, q = record[4:16], record[16:]
    out = []
    for block in range(8):
        if block < 4:
            scale, least = s[block] & 63, s[block + 4] & 63
        else:
            scale = (s[block + 4] & 15) | ((s[block - 4] >> 6) << 4)
            least = (s[block + 4] >> 4) | ((s[block] >> 6) << 4)
        for i in range(32):
            byte = q[32 * (block // 2) + i]
            out.append((d, scale, byte >> 4 if block % 2 else byte & 15, dmin, least))
    return out


def record_pair():
    """Two records of random bytes, whose floats are finite."""
    four = bytearray(RNG.bytes(144))
    four[:4] = struct.pack("<ee", *RNG.standard_normal(2))
    q = RNG.integers(-128, 128, 256)
    return bytes(four), struct.pack(
        "<f256b16h", RNG.standard_normal(), *q, *(int(q[k : k + 16].sum()) for k in range(0, 256, 16))
    )


def dot(fours, eights):
    """The dot product of rows of records: integer sums exact, f32 steps as stated, records added exactly."""
    pairs = []
    for four, eight in zip(fours, eights, strict=True):
        other, *rest = struct.unpack("<f256b16h", eight)
        weights = q4_k_numbers(four)
        total = sum(scale * q * p for (_, scale, q, _, _), p in zip(weights, rest[:256], strict=True))
        least = sum(weights[16 * k][4] * sum16 for k, sum16 in enumerate(rest[256:]))
        f = np.float32
        pairs.append(float(f(f(weights[0][0]) * f(other)) * f(total) - f(f(weights[0][3]) * f(other)) * f(least)))
    return math.fsum(pairs)


@pytest.mark.parametrize(("m", "g"), [(3, 2), (1, 1), (2, 0), (0, 3), (5, 7)])
def test_dot_products_of_records(run, m, g):
    @intent.kernel
    def kernel(
        w: I.In[I.u8, ("M", "G", 144)], x: I.In[I.u8, ("G", 292)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M",)]
    ):
        y[:] = I.quantized_dot(w[...], x[...], I.quant.q4_k, I.quant.q8_k)
        for i in I.parallel(I.domain(0, w.shape[0])):
            z[i] = I.quantized_dot(w[i], x[...])

    pairs = [[record_pair() for _ in range(g)] for _ in range(m + 1)]
    w = np.frombuffer(b"".join(a for row in pairs[:m] for a, _ in row), np.uint8).reshape(m, g, 144)
    x = np.frombuffer(b"".join(b for _, b in pairs[m]), np.uint8).reshape(g, 292)
    y, z = np.ones(m, np.float32), np.ones(m, np.float32)
    run(kernel, w=w, x=x, y=y, z=z)
    wanted = [dot([a for a, _ in row], [b for _, b in pairs[m]]) for row in pairs[:m]]
    np.testing.assert_array_equal(y, np.array(wanted, np.float32))
    np.testing.assert_array_equal(z, y)


def test_every_nibble_scale_and_minimum(run):
    """A q8_k record of one number reads a q4_k record number by number."""

    @intent.kernel
    def kernel(w: I.In[I.u8, ("M", 1, 144)], x: I.In[I.u8, (256, 1, 1, 292)], y: I.Out[I.f32, (256, "M")]):
        y[:, :] = I.quantized_dot(w[...], x[...])

    fours = []
    for k in range(64):  # every 6-bit scale and minimum in each of the eight blocks, every nibble
        four = bytearray(RNG.bytes(144))
        four[:4] = struct.pack("<ee", 1.0, 0.5)
        values = [(k + 9 * b) % 64 for b in range(16)]
        for b in range(4):
            four[4 + b] = values[b] | (values[4 + b] >> 4) << 6
            four[8 + b] = values[8 + b] | (values[12 + b] >> 4) << 6
            four[12 + b] = (values[4 + b] & 15) | (values[12 + b] & 15) << 4
        fours.append(bytes(four))
    eights = []
    for i in range(256):
        q = [0] * 256
        q[i] = 1
        eights.append(struct.pack("<f256b16h", 1.0, *q, *(sum(q[j : j + 16]) for j in range(0, 256, 16))))
    w = np.frombuffer(b"".join(fours), np.uint8).reshape(64, 1, 144)
    x = np.frombuffer(b"".join(eights), np.uint8).reshape(256, 1, 1, 292)
    y = np.zeros((256, 64), np.float32)
    run(kernel, w=w, x=x, y=y)
    wanted = [[s * q - 0.5 * m for _, s, q, _, m in q4_k_numbers(four)] for four in fours]
    np.testing.assert_array_equal(y, np.array(wanted).T)
