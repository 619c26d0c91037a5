"""Operands in fewer bits than the arithmetic: integers with scales, 8-bit and 4-bit floats, sparse groups, records."""

import struct

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A
from intent_np.testing.formats import FORMATS

from .extents import ROWS


@intent.kernel
def per_token_int8(
    x: I.In[I.f16, ("M", "N")],
    q: I.Out[I.i8, ("M", "N")],
    scale: I.Out[I.f32, ("M",)],
):
    """scale[m] = max |x[m]| / 127 and q[m] = round(x[m] / scale[m]); a row of zeros is 0 in both."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(x[row, columns], I.f32)
        step = I.maximum(I.reduce.max(I.abs(value), axis=0), 0) / 127
        scale[row] = step
        q[row, columns] = I.saturate_cast(I.round(value / step), I.i8)


@intent.kernel
def fp8_block_matmul(
    a: I.In[I.f8e4m3fn, ("M", "128 * G")],
    a_scale: I.In[I.f32, ("M", "G")],
    b: I.In[I.f8e4m3fn, ("128 * G", "N")],
    b_scale: I.In[I.f32, ("G", "cdiv(N, 128)")],
    c: I.Out[I.bf16, ("M", "N")],
):
    """C = A B, where 128 neighbours of a row of A, and a block of 128 x 128 of B, have a scale in common.

    Each group of products is summed in f32 before it is scaled.
    """
    M, G = a_scale.shape
    _, N = b.shape
    left = I.reshape(a[:, :], (M, G, 128))
    right = I.reshape(b[:, :], (G, 128, N))
    product = I.contract(left, right, reduce=((2, 1),), batch=((1, 0),), acc_dtype=I.f32)
    block = I.indices(I.domain(0, N)) // 128
    scale = a_scale[:, :, None] * b_scale[:, block]
    c[:, :] = I.cast(I.reduce.sum(product * scale, axis=1), I.bf16)


@intent.kernel
def int4_matmul(
    x: I.In[I.f16, ("M", "128 * G")],
    weight: I.In[I.u8, ("64 * G", "N")],
    scale: I.In[I.f16, ("G", "N")],
    zero: I.In[I.u8, ("G", "N")],
    y: I.Out[I.f16, ("M", "N")],
):
    """y = x W with W = (weight - zero) * scale in f16, a scale and a zero for each 128 rows.

    A byte of `weight` holds two rows, the earlier in its low bits.
    """
    G, N = scale.shape
    packed = weight[:, :]
    rows = I.transpose(I.join(packed & 15, packed >> 4), (0, 2, 1))
    number = I.cast(I.reshape(rows, (G, 128, N)), I.f16) - I.cast(zero[:, None, :], I.f16)
    w = I.reshape(number * scale[:, None, :], (128 * G, N))
    y[:, :] = I.cast(I.matmul(x[:, :], w, acc_dtype=I.f32), I.f16)


@intent.kernel
def mxfp4_matmul(
    a: I.In[I.u8, ("M", "16 * G")],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("16 * G", "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.f32, ("M", "N")],
):
    """C = A B of e2m1 numbers, two in a byte along K, with an e8m0 scale for each 32 of them."""
    c[:, :] = I.scaled_matmul(
        a[:, :], a_scale[:, :], b[:, :], b_scale[:, :],
        lhs_format=I.e2m1, rhs_format=I.e2m1, group_size=32, acc_dtype=I.f32,
    )  # fmt: skip


@intent.kernel
def mxfp8_matmul(
    a: I.In[I.f8e4m3fn, ("M", "32 * G")],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.f8e5m2, ("32 * G", "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.bf16, ("M", "N")],
):
    """C = A B of e4m3 and e5m2 numbers with an e8m0 scale for each 32 of them."""
    product = I.scaled_matmul(
        a[:, :], a_scale[:, :], b[:, :], b_scale[:, :],
        lhs_format=I.e4m3, rhs_format=I.e5m2, group_size=32, acc_dtype=I.f32,
    )  # fmt: skip
    c[:, :] = I.cast(product, I.bf16)


@intent.kernel
def sparse_2_4_matmul(
    a: I.In[I.f16, ("M", "2 * G")],
    places: I.In[I.u8, ("M", "2 * G")],
    b: I.In[I.f16, ("4 * G", "N")],
    c: I.Out[I.f16, ("M", "N")],
):
    """C = A B, where of each four neighbours of a row of A two are kept, at ascending `places` of 0 to 3."""
    product = I.sparse_matmul(a[:, :], places[:, :], b[:, :], format=I.sparse.two_of_four(), acc_dtype=I.f32)
    c[:, :] = I.cast(product, I.f16)


@intent.kernel
def q4_k_projection(
    x: I.In[I.f32, ("M", "256 * G")],
    weight: I.In[I.u8, ("N", "G", 144)],
    y: I.Out[I.f32, ("M", "N")],
):
    """y = x W', with weights in q4_k records of 256 and x rounded to q8_k records."""
    records = I.quantize(x[:, :], format=I.quant.q8_k)
    y[:, :] = I.quantized_dot(weight[None, :, :, :], records[:, None, :, :])


# Oracles
def per_token_int8_oracle(x):
    f32 = FORMATS["f32"]
    scale = f32.round(np.abs(x).max(axis=1, initial=0.0) / 127)
    nearest = np.rint(f32.round(x / scale[:, None]))
    return {"scale": scale, "q": np.where(np.isnan(nearest), 0, nearest.clip(-128, 127)).astype("i8")}


def fp8_block_matmul_oracle(a, a_scale, b, b_scale):
    (m, groups), n = a_scale.shape, b.shape[1]
    left = A.exact(a.reshape(m, groups, 128).swapaxes(0, 1))
    product = A.matmul(left, A.exact(b.reshape(groups, 128, n)))
    scale = A.exact(a_scale.T[:, :, None]) * A.exact(b_scale.repeat(128, axis=1)[:, None, :n])
    return {"c": A.total(product * scale, axis=0, keepdims=False)}


def int4_matmul_oracle(x, weight, scale, zero):
    rows, n = 2 * len(weight), scale.shape[1]
    number = np.empty((rows, n))
    number[0::2], number[1::2] = weight % 16, weight // 16
    w = A.exact(number - zero.repeat(128, axis=0), "f16") * A.exact(scale.repeat(128, axis=0), "f16")
    return {"y": A.matmul(A.exact(x), w.to("f32"))}


def _power(code):
    """What an e8m0 scale stands for."""
    return np.where(code == 255, np.nan, 2.0 ** (code - 127.0))


def _e2m1(byte, axis):
    """The numbers of 4 bits in bytes along an axis: a sign, two bits of exponent, one of fraction."""
    code = np.stack((byte % 16, byte // 16), axis=axis + 1)
    exponent, fraction = code // 2 % 4, code % 2
    size = np.where(exponent == 0, fraction / 2, (1 + fraction / 2) * 2.0 ** (exponent - 1))
    shape = [*byte.shape]
    shape[axis] *= 2
    return (np.where(code >= 8, -1.0, 1.0) * size).reshape(shape)


def _scaled(a, a_scale, b, b_scale):
    left, right = a * _power(a_scale).repeat(32, axis=1), b * _power(b_scale).T.repeat(32, axis=0)
    return {"c": A.matmul(A.exact(left), A.exact(right))}


def mxfp4_matmul_oracle(a, a_scale, b, b_scale):
    return _scaled(_e2m1(a, 1), a_scale, _e2m1(b, 0), b_scale)


def sparse_2_4_matmul_oracle(a, places, b):
    """Each number of A meets the row of B that it was kept for; what was left out meets nothing."""
    groups = np.arange(a.shape[1]) // 2
    met = b[4 * groups + places]
    return {"c": A.matmul(A.exact(a[:, None, :]), A.exact(met))[:, 0, :]}


def _q8_k(x):
    """256 numbers as a scale and integers: the largest becomes -127, NaN 0."""
    largest = np.float32(max((v for v in x if v == v), key=abs, default=0))
    if largest == 0:
        return np.float32(0), np.zeros(256, int)
    scale = np.float32(-127) / largest
    nearest = np.rint(scale * x.astype("f4"))
    return np.float32(1) / scale, np.where(np.isnan(nearest), 0, np.minimum(nearest, 127)).astype(int)


def _q4_k(record):
    """The scale and the minimum of a record, and of each of its numbers the scale, the minimum and the 4 bits."""
    d, least = struct.unpack("<2e", record[:4].astype("u1").tobytes())
    low, middle, high = (record[k : k + 4].astype(int) for k in (4, 8, 12))
    scales = [*(low % 64), *(high % 16 + low // 64 * 16)]
    minima = [*(middle % 64), *(high // 16 + middle // 64 * 16)]
    bits = [half for k in range(16, 144, 32) for half in (record[k : k + 32] % 16, record[k : k + 32] // 16)]
    return np.float32(d), np.float32(least), np.repeat(scales, 32), np.repeat(minima, 32), np.concatenate(bits)


def q4_k_projection_oracle(x, weight):
    """Sums of integers are exact; what follows is rounded to f32, but for a product that goes into the difference as it
    is; records are summed in any order."""
    n, groups, _ = weight.shape
    factors = np.zeros((4, len(x), n, groups), "f4")
    for j, g in np.ndindex(n, groups):
        d, least, scale, minimum, bits = _q4_k(weight[j, g])
        for i in range(len(x)):
            step, q = _q8_k(x[i, 256 * g : 256 * g + 256])
            factors[:, i, j, g] = d * step, (scale * bits * q).sum(), least * step, (minimum * q).sum()
    large, scaled, small, lowered = map(A.exact, factors)
    return {"y": A.total(large * scaled - small * lowered, axis=2, keepdims=False)}


# Arrays
def _scales(e, rng):
    """Scales of e8m0 around 1, now and then one that is no number."""
    made = {"a_scale": rng.integers(115, 140, (e["M"], e["G"])), "b_scale": rng.integers(115, 140, (e["N"], e["G"]))}
    return {name: np.where(rng.random(s.shape) < 0.02, 255, s) for name, s in made.items()}


def _places(e, rng):
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    return {"places": pairs[rng.integers(0, 6, (e["M"], e["G"]))].reshape(e["M"], 2 * e["G"])}


def _records(e, rng):
    """Records of random bits, with scales that are finite."""
    weight = rng.integers(0, 256, (e["N"], e["G"], 144))
    halves = rng.standard_normal((e["N"], e["G"], 2)).astype("<f2")
    weight[:, :, :4] = np.ascontiguousarray(halves).view("u1")
    return {"weight": weight}


def _zeros(e, rng):
    return {"zero": rng.integers(0, 16, (e["G"], e["N"]))}


_GROUPS = tuple(
    {"M": m, "N": n, "G": g} for m, n, g in ((0, 3, 1), (3, 0, 1), (2, 3, 0), (1, 1, 1), (17, 13, 2), (33, 130, 1))
)


def _product(name, kernel, oracle, k, bits, scales, out, **more):
    """A case of a product whose groups have `k` numbers along K; `bits` of A's and of B's numbers, `scales` bytes of
    scales per group of a row of A and a column of B, `out` bytes of each result."""
    return Case(
        name=name,
        kernel=kernel,
        oracle=oracle,
        small=(*_GROUPS, {"M": 5, "N": 7, "G": 3 if k > 100 else 11}),
        bytes=lambda e: (
            int(k * e["G"] * (e["M"] * bits[0] + e["N"] * bits[1])) // 8
            + int(e["G"] * (e["M"] * scales[0] + e["N"] * scales[1]))
            + out * e["M"] * e["N"]
        ),
        flops=lambda e: 2 * k * e["M"] * e["N"] * e["G"],
        **more,
    )


CASES = (
    Case(
        name="per_token_int8",
        kernel=per_token_int8,
        oracle=per_token_int8_oracle,
        small=ROWS,
        bytes=lambda e: 3 * e["M"] * e["N"] + 4 * e["M"],
        flops=lambda e: 4 * e["M"] * e["N"],
    ),
    _product("fp8_block_matmul", fp8_block_matmul, fp8_block_matmul_oracle, 128, (8, 8), (4, 4 / 128), 2),
    _product("int4_matmul", int4_matmul, int4_matmul_oracle, 128, (16, 4), (0, 3), 2, structured=_zeros),
    _product("mxfp4_matmul", mxfp4_matmul, mxfp4_matmul_oracle, 32, (4, 4), (1, 1), 4, structured=_scales),
    _product("mxfp8_matmul", mxfp8_matmul, _scaled, 32, (8, 8), (1, 1), 2, structured=_scales),
    _product(
        "sparse_2_4_matmul", sparse_2_4_matmul, sparse_2_4_matmul_oracle, 4, (12, 16), (0, 0), 2, structured=_places
    ),
    _product(
        "q4_k_projection", q4_k_projection, q4_k_projection_oracle, 256, (32, 4.5), (0, 0), 4, structured=_records
    ),
)
