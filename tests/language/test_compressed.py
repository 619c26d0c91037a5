"""Contractions of scaled and of sparse groups, against numbers decoded in Python."""

import math

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import IntentError
from intent_np.terms.core import find
from intent_np.terms.logical import ScaledContract

RNG = np.random.default_rng(17)


E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6)


DECODED = {
    "e4m3": np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(float),
    "e5m2": np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2).astype(float),
}


def numbers(codes, form):
    """What a row of bytes holds."""
    if form == "e2m1":
        return [E2M1[c] for byte in codes for c in (byte & 15, byte >> 4)]
    return [DECODED[form][c] for c in codes]


def finite(form, shape):
    codes = RNG.integers(0, 256, shape).astype(np.uint8)
    return codes if form == "e2m1" else np.where(np.isfinite(DECODED[form][codes]), codes, 0).astype(np.uint8)


def product(l, ls, r, rs, formats):
    """[M, N], every number in Python's own arithmetic."""
    m, g, n = *ls.shape, len(rs)
    scale = [2.0 ** (c - 127) if c < 255 else math.nan for c in range(256)]
    out = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            for k in range(g):
                a, b = numbers(l[i, k], formats[0]), numbers(r[k, :, j], formats[1])
                total = math.fsum(x * y for x, y in zip(a, b, strict=True))
                out[i, j] += total * scale[ls[i, k]] * scale[rs[j, k]]
    return out


FORMATS = [(a, b) for a in ("e2m1", "e4m3", "e5m2") for b in ("e2m1", "e4m3", "e5m2")]


@pytest.mark.parametrize("formats", FORMATS, ids="-".join)
def test_scaled_groups(run, formats):
    left, right = getattr(I, formats[0]), getattr(I, formats[1])

    @intent.kernel
    def kernel(
        l: I.In[I.u8, ("M", "G", "CL")], ls: I.In[I.u8, ("M", "G")], r: I.In[I.u8, ("G", "CR", "N")],
        rs: I.In[I.u8, ("N", "G")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f64, ("M", "N")],
        flat: I.Out[I.f32, ("M", "N")],
        CL: I.Constexpr[int], CR: I.Constexpr[int],
    ):  # fmt: skip
        M, G, _ = l.shape
        N = r.shape[2]
        y[:, :] = I.scaled_contract(
            l[...], ls[...], r[...], rs[...], lhs_format=left, rhs_format=right, lhs_group_size=32, rhs_group_size=32,
            acc_dtype=I.f32,
        )  # fmt: skip
        for m in I.parallel(I.domain(0, M)):
            one = I.scaled_contract(
                l[m : m + 1], ls[m : m + 1], r[...], rs[...], lhs_format=left, rhs_format=right, lhs_group_size=32,
                rhs_group_size=32, acc_dtype=I.f64,
            )  # fmt: skip
            z[m] = one[0]
        a, b = I.reshape(l[...], (M, G * CL)), I.reshape(r[...], (G * CR, N))
        flat[:, :] = I.scaled_matmul(
            a, ls[...], b, rs[...], lhs_format=left, rhs_format=right, group_size=32, acc_dtype=I.f32
        )

    sizes = [16 if f == "e2m1" else 32 for f in formats]
    for m, g, n in ((3, 2, 5), (1, 1, 1), (0, 2, 3), (2, 0, 3), (7, 3, 2)):
        l, r = finite(formats[0], (m, g, sizes[0])), finite(formats[1], (g, sizes[1], n))
        ls, rs = (RNG.integers(120, 135, s).astype(np.uint8) for s in ((m, g), (n, g)))
        y, z, flat = np.ones((m, n), np.float32), np.ones((m, n)), np.ones((m, n), np.float32)
        program = run(kernel, l=l, ls=ls, r=r, rs=rs, y=y, z=z, flat=flat, CL=sizes[0], CR=sizes[1])
        wanted = product(l, ls, r, rs, formats)
        size = product(
            l & 127 if formats[0] != "e2m1" else l & 0x77,
            ls,
            r & 127 if formats[1] != "e2m1" else r & 0x77,
            rs,
            formats,
        )
        assert (np.abs(z - wanted) <= 2**-50 * size).all()
        assert (np.abs(y - wanted) <= 2**-24 * np.abs(wanted) + 2**-50 * size).all()  # rounded once
        np.testing.assert_array_equal(flat, y)
        assert len(list(find(program, ScaledContract))) == 3


def test_every_code_and_every_scale(run):
    @intent.kernel
    def kernel(
        l: I.In[I.u8, (256, 1, 1)], ls: I.In[I.u8, (256, 1)], r: I.In[I.f8e5m2, (1, 2, 256)], rs: I.In[I.u8, (256, 1)],
        e: I.In[I.f8e4m3fn, (256, 1, 2)], y: I.Out[I.f64, (256, 256)], z: I.Out[I.f32, (256, 256)],
    ):  # fmt: skip
        y[:, :] = I.scaled_contract(
            l[...], ls[...], r[...], rs[...], lhs_format=I.e2m1, rhs_format=I.e5m2, lhs_group_size=2, rhs_group_size=2,
            acc_dtype=I.f64,
        )  # fmt: skip
        z[:, :] = I.scaled_contract(
            e[...], ls[...], r[...], rs[...], lhs_format=I.e4m3, rhs_format=I.e5m2, lhs_group_size=2, rhs_group_size=2,
            acc_dtype=I.f32,
        )  # fmt: skip

    codes = np.arange(256, dtype=np.uint8)
    l, ls = codes.reshape(256, 1, 1), codes[::-1].reshape(256, 1).copy()
    r = np.stack([codes, codes[::-1]])[None].copy()
    e = np.stack([codes, np.roll(codes, 9)], -1)[:, None].copy()
    y, z = np.zeros((256, 256)), np.zeros((256, 256), np.float32)
    run(kernel, l=l, ls=ls, r=r.view(ml_dtypes.float8_e5m2), rs=ls, e=e.view(ml_dtypes.float8_e4m3fn), y=y, z=z)
    scale = np.array([*(2.0 ** np.arange(-127, 128)), math.nan])[ls[:, 0]]
    with np.errstate(all="ignore"):
        low, high = np.array(E2M1)[codes & 15], np.array(E2M1)[codes >> 4]
        b = DECODED["e5m2"][r[0]] * scale
        wanted = (low * scale)[:, None] * b[0] + (high * scale)[:, None] * b[1]
        np.testing.assert_array_equal(y, wanted)  # at most 8 bits each: exact
        a = DECODED["e4m3"][e[:, 0]] * scale[:, None]
        each = [(a[:, k, None] * b[k]).astype(np.float32) for k in (0, 1)]  # beyond f32, a product is infinite
        np.testing.assert_allclose(z, each[0] + each[1], rtol=2**-22)


@pytest.mark.parametrize(("kept", "width"), [(2, 4), (1, 2)])
@pytest.mark.parametrize("dtype", ["f16", "f32", "i8"])
def test_sparse_groups(run, dtype, kept, width):
    d, acc = getattr(I, dtype), I.i32 if dtype == "i8" else I.f32

    @intent.kernel
    def kernel(
        l: I.In[d, ("M", f"{kept} * G")], at: I.In[I.u8, ("M", f"{kept} * G")], r: I.In[d, (f"{width} * G", "N")],
        y: I.Out[acc, (1, "M", "N")], HALF: I.Constexpr[bool],
    ):  # fmt: skip
        if HALF:
            y[0] = I.sparse_matmul(l[...], at[...], r[...], format=I.sparse.two_of_four(), acc_dtype=acc)
        else:
            y[0] = I.sparse_matmul(l[...], at[...], r[...], format=I.sparse.one_of_two(), acc_dtype=acc)

    @intent.kernel
    def grouped(
        l: I.In[d, ("M", "G", kept)], at: I.In[I.i64, ("M", "G", kept)], r: I.In[d, ("G", width, "N")],
        y: I.Out[acc, (2, "M", "N")], TWO: I.Constexpr[bool],
    ):  # fmt: skip
        if TWO:
            form = I.sparse.two_of_four()
        else:
            form = I.sparse.one_of_two()
        y[0] = I.sparse_contract(l[...], at[...], r[...], format=form, acc_dtype=acc)
        for m in I.parallel(I.domain(0, l.shape[0])):
            y[1, m] = I.sparse_contract(l[m : m + 1], at[m : m + 1], r[...], format=form, acc_dtype=acc)[0]

    kind = {"f16": np.float16, "f32": np.float32, "i8": np.int8}[dtype]
    into = np.int32 if dtype == "i8" else np.float32
    for m, g, n in ((3, 5, 4), (1, 1, 1), (0, 2, 3), (2, 0, 3), (5, 7, 0)):
        l, r = RNG.integers(-9, 9, (m, g, kept)).astype(kind), RNG.integers(-9, 9, (g, width, n)).astype(kind)
        at = np.sort(RNG.permuted(np.tile(np.arange(width), (m, g, 1)), axis=-1)[..., :kept], -1)
        dense = np.zeros((m, g, width))
        for i, k, j in np.ndindex(m, g, kept):
            dense[i, k, at[i, k, j]] = l[i, k, j]
        wanted = dense.reshape(m, g * width) @ r.reshape(g * width, n).astype(float)
        y, z = np.ones((1, m, n), into), np.ones((2, m, n), into)
        flat = (l.reshape(m, -1 if l.size else kept * g), at.reshape(m, -1 if l.size else kept * g).astype(np.uint8))
        run(kernel, l=flat[0], at=flat[1], r=r.reshape(width * g, n), y=y, HALF=kept == 2, G=g)
        run(grouped, l=l, at=at, r=r, y=z, TWO=kept == 2)
        np.testing.assert_array_equal(y[0], wanted)
        np.testing.assert_array_equal(z, np.stack([wanted] * 2))
        if dtype == "f32" and r.size:
            r[..., 0] = RNG.choice(np.array([np.nan, np.inf, 1], np.float32), r.shape[:-1])
            run(grouped, l=l, at=at, r=r, y=z, TWO=kept == 2)
            for i in range(m):  # what was left out meets nothing
                with np.errstate(all="ignore"):
                    met = sum(l[i, k, j] * r[k, at[i, k, j], 0] for k in range(g) for j in range(kept))
                np.testing.assert_array_equal(z[:, i, 0], [met] * 2)


@pytest.mark.parametrize("places", [(1, 1), (2, 1), (0, 4), (-1, 2)])
def test_metadata_names_places(run, places):
    @intent.kernel
    def kernel(l: I.In[I.f32, (1, 2)], at: I.In[I.i8, (1, 2)], r: I.In[I.f32, (4, 3)], y: I.Out[I.f32, (1, 3)]):
        y[...] = I.sparse_matmul(l[...], at[...], r[...], format=I.sparse.two_of_four(), acc_dtype=I.f32)

    at = np.array([places], np.int8)
    with pytest.raises(IntentError) as found:
        run(kernel, l=np.ones((1, 2), np.float32), at=at, r=np.ones((4, 3), np.float32), y=np.zeros((1, 3), np.float32))
    assert found.value.code == "E515"
    assert str(list(places)) in str(found.value)
    assert found.value.span is not None


@intent.kernel
def no_such_format(l: I.In[I.u8, (2, 1, 2)], s: I.In[I.u8, (2, 1)], r: I.In[I.u8, (1, 2, 2)], y: I.Out[I.f32, (2, 2)]):
    y[...] = I.scaled_contract(l[...], s[...], r[...], s[...], lhs_format=I.e8m0, rhs_format=I.e4m3, lhs_group_size=2,
                               rhs_group_size=2, acc_dtype=I.f32)  # fmt: skip


@intent.kernel
def groups_of_two_sizes(
    l: I.In[I.u8, (2, 1, 2)], s: I.In[I.u8, (2, 1)], r: I.In[I.u8, (1, 4, 2)], y: I.Out[I.f32, (2, 2)]
):
    y[...] = I.scaled_contract(l[...], s[...], r[...], s[...], lhs_format=I.e5m2, rhs_format=I.e4m3, lhs_group_size=2,
                               rhs_group_size=4, acc_dtype=I.f32)  # fmt: skip


@intent.kernel
def groups_that_differ(
    l: I.In[I.u8, (2, 1, 4)], s: I.In[I.u8, (2, 1)], r: I.In[I.u8, (1, 2, 2)], y: I.Out[I.f32, (2, 2)]
):
    y[...] = I.scaled_contract(l[...], s[...], r[...], s[...], lhs_format=I.e5m2, rhs_format=I.e4m3, lhs_group_size=2,
                               rhs_group_size=2, acc_dtype=I.f32)  # fmt: skip


@intent.kernel
def not_bytes(l: I.In[I.f16, (2, 1, 2)], s: I.In[I.u8, (2, 1)], r: I.In[I.u8, (1, 2, 2)], y: I.Out[I.f32, (2, 2)]):
    y[...] = I.scaled_contract(l[...], s[...], r[...], s[...], lhs_format=I.e5m2, rhs_format=I.e4m3, lhs_group_size=2,
                               rhs_group_size=2, acc_dtype=I.f32)  # fmt: skip


@intent.kernel
def no_multiple(
    l: I.In[I.u8, ("M", "K")], s: I.In[I.u8, ("M", "G")], r: I.In[I.u8, ("K", "M")], y: I.Out[I.f32, ("M", "M")]
):
    y[...] = I.scaled_matmul(l[...], s[...], r[...], s[...], lhs_format=I.e5m2, rhs_format=I.e4m3, group_size=32,
                             acc_dtype=I.f32)  # fmt: skip


@intent.kernel
def narrow_accumulator(l: I.In[I.f32, (1, 2)], at: I.In[I.i8, (1, 2)], r: I.In[I.f32, (4, 3)], y: I.Out[I.f16, (1, 3)]):
    y[...] = I.sparse_matmul(l[...], at[...], r[...], format=I.sparse.two_of_four(), acc_dtype=I.f16)


@intent.kernel
def metadata_elsewhere(l: I.In[I.f32, (1, 2)], at: I.In[I.i8, (1, 4)], r: I.In[I.f32, (4, 3)], y: I.Out[I.f32, (1, 3)]):
    y[...] = I.sparse_matmul(l[...], at[...], r[...], format=I.sparse.two_of_four(), acc_dtype=I.f32)


@intent.kernel
def no_sparse_format(l: I.In[I.f32, (1, 2)], at: I.In[I.i8, (1, 2)], r: I.In[I.f32, (4, 3)], y: I.Out[I.f32, (1, 3)]):
    y[...] = I.sparse_matmul(l[...], at[...], r[...], format=I.e2m1, acc_dtype=I.f32)


@intent.kernel
def dense_is_too_short(l: I.In[I.f32, (1, 2)], at: I.In[I.i8, (1, 2)], r: I.In[I.f32, (3, 3)], y: I.Out[I.f32, (1, 3)]):
    y[...] = I.sparse_matmul(l[...], at[...], r[...], format=I.sparse.two_of_four(), acc_dtype=I.f32)


@intent.kernel
def half_a_record(x: I.In[I.f32, (128,)], y: I.Out[I.u8, (1, 292)]):
    y[...] = I.quantize(x[...], format=I.quant.q8_k)


@intent.kernel
def another_record(x: I.In[I.f32, (256,)], y: I.Out[I.u8, (1, 144)]):
    y[...] = I.quantize(x[...], format=I.quant.q4_k)


@intent.kernel
def wide_numbers(x: I.In[I.f64, (256,)], y: I.Out[I.u8, (1, 292)]):
    y[...] = I.quantize(x[...], format=I.quant.q8_k)


@intent.kernel
def swapped(w: I.In[I.u8, (1, 144)], x: I.In[I.u8, (1, 292)], y: I.Out[I.f32, ()]):
    y[()] = I.quantized_dot(x[...], w[...])


@intent.kernel
def apart(w: I.In[I.u8, ("M", 1, 144)], x: I.In[I.u8, ("N", 1, 292)], y: I.Out[I.f32, ("M",)]):
    y[:] = I.quantized_dot(w[...], x[...])


@pytest.mark.parametrize(
    ("kernel", "code", "says"),
    [
        (no_such_format, "E113", "I.e2m1, I.e4m3 or I.e5m2"),
        (groups_of_two_sizes, "E208", "groups of one size"),
        (groups_that_differ, "E208", "[M, G, 2]"),
        (not_bytes, "E202", "u8 or f8e5m2"),
        (no_multiple, "E208", "32 * G"),
        (narrow_accumulator, "E202", "acc_dtype=I.f32"),
        (metadata_elsewhere, "E208", "(1, 2) and (1, 4)"),
        (no_sparse_format, "E113", "I.sparse.two_of_four()"),
        (dense_is_too_short, "E208", "4 elements along axis 0"),
        (half_a_record, "E208", "256 * G"),
        (another_record, "E113", "I.quant.q8_k"),
        (wide_numbers, "E202", "I.cast(value, I.f32)"),
        (swapped, "E208", "144"),
        (apart, "E204", "(M,)"),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_mistakes_are_told(told, kernel, code, says):
    told(kernel, code, says)
