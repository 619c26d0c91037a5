"""Order and counts: sort, the largest members, histograms."""

import math
import time

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage

from .awkward import EXTENTS, awkward, same

RNG = np.random.default_rng(11)


def rank(v, sign):
    """A key of Python's stable sort: NaN behind all numbers."""
    return (True, 0) if math.isnan(v) else (False, sign * float(v))


@pytest.mark.parametrize("n", EXTENTS)
def test_order_is_stable_and_nan_is_last(run, n):
    @intent.kernel
    def kernel(x: I.In[I.f32, ("M", "N")], i: I.In[I.u8, ("N", "M")], y: I.Out[I.f32, (2, "M", "N")],
               p: I.Out[I.index, (2, "M", "N")], z: I.Out[I.u8, (2, "N", "M")],
               q: I.Out[I.index, (2, "N", "M")]):  # fmt: skip
        M, _ = x.shape
        y[0] = I.sort(x[:, :])
        y[1] = I.sort(x[:, :], descending=True)
        p[0] = I.argsort(x[:, :], axis=1)
        for row in I.parallel(I.domain(0, M)):
            p[1, row] = I.argsort(x[row], descending=True)
        z[0] = I.sort(i[:, :], 0)
        z[1] = I.sort(i[:, :], 0, descending=True)
        q[0] = I.argsort(i[:, :], 0)
        q[1] = I.argsort(i[:, :], 0, descending=True)

    x, i = awkward(4, n), RNG.integers(0, 256, (n, 4)).astype(np.uint8)
    y, p = np.zeros((2, 4, n), np.float32), np.zeros((2, 4, n), np.int64)
    z, q = np.zeros((2, n, 4), np.uint8), np.zeros((2, n, 4), np.int64)
    run(kernel, x=x, i=i, y=y, p=p, z=z, q=q)
    for k, sign in enumerate((1, -1)):
        for row in range(4):
            wanted = sorted(
                range(n),
                key=lambda j: rank(x[row, j], sign),
            )
            assert list(p[k, row]) == wanted
            same(y[k, row], x[row, wanted])
            wanted = sorted(range(n), key=lambda j: sign * int(i[j, row]))
            assert list(q[k, :, row]) == wanted
            np.testing.assert_array_equal(z[k, :, row], i[wanted, row])


@pytest.mark.parametrize("k", [1, 3, 8])
def test_the_largest_members(run, k):
    @intent.kernel
    def kernel(
        x: I.In[I.f32, (8, "M")], v: I.Out[I.f32, ("K", "M")], p: I.Out[I.index, ("K", "M")], K: I.Constexpr[int]
    ):
        v[:, :], p[:, :] = I.topk(x[:, :], K, axis=0)

    x = awkward(8, 50)
    v, p = np.zeros((k, 50), np.float32), np.zeros((k, 50), np.int64)
    run(kernel, x=x, v=v, p=p, K=k)
    for m in range(50):
        wanted = sorted(range(8), key=lambda j: rank(x[j, m], -1))
        assert list(p[:, m]) == wanted[:k]
        same(v[:, m], x[wanted[:k], m])


def test_members_of_an_extent_known_at_the_call_are_guarded(run, wrong):
    @intent.kernel
    def guarded(x: I.In[I.f32, ("N",)], v: I.Out[I.f32, (4,)], p: I.Out[I.index, (4,)]):
        if x.shape[0] >= 4:
            v[:], p[:] = I.topk(x[:], 4)

    v, p = np.zeros(4, np.float32), np.full(4, -1)
    run(guarded, x=np.array([1, 5, 5, 2, 9], np.float32), v=v, p=p)
    assert list(p) == [4, 1, 2, 3]

    @intent.kernel
    def unguarded(x: I.In[I.f32, ("N",)], v: I.Out[I.f32, (4,)]):
        v[:], _ = I.topk(x[:], 4)

    assert wrong(unguarded).code == "E210"


@pytest.mark.parametrize("k", [0, -1, 9, 16])
def test_too_many_members_are_refused(wrong, k):
    @intent.kernel
    def kernel(x: I.In[I.f32, (8,)], v: I.Out[I.f32, (8,)], K: I.Constexpr[int]):
        v[:K], _ = I.topk(x[:], K)

    found = wrong(kernel, K=k)
    assert found.code == "E210"
    assert f"k = {k}" in str(found)
    assert found.span is not None


def test_sorting_is_fast(run):
    @intent.kernel
    def kernel(x: I.In[I.f32, (4, 4096)], y: I.Out[I.f32, (4, 4096)]):
        y[:, :] = I.sort(x[:, :])

    x, y = RNG.standard_normal((4, 4096)).astype(np.float32), np.zeros((4, 4096), np.float32)
    start = time.perf_counter()
    run(kernel, x=x, y=y)
    assert time.perf_counter() - start < 1
    np.testing.assert_array_equal(y, np.sort(x, 1))


@pytest.mark.parametrize("dtype", ["i8", "u8", "i64", "u64", "index"])
@pytest.mark.parametrize("n", EXTENTS)
def test_counts(run, dtype, n):
    d = getattr(I, dtype)

    @intent.kernel
    def kernel(x: I.In[d, (2, "N")], valid: I.In[I.bool, ("N",)], a: I.Out[I.i32, (5,)], b: I.Out[I.u8, (2, 5)],
               c: I.Out[I.i64, ("B",)]):  # fmt: skip
        (B,) = c.shape
        a[:] = I.histogram(x[:, :], bins=5, count_dtype=I.i32, valid=valid[:])
        for i in I.parallel(I.domain(0, 2)):
            b[i] = I.histogram(x[i], bins=5, count_dtype=I.u8)
        c[:] = I.histogram(x[0], bins=B, count_dtype=I.i64, valid=x[0] != 1)

    kind = storage(d)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    x = RNG.choice(np.array([0, 1, 2, 3, 4, 4, 5, 6, low, high], kind), (2, n))
    valid = RNG.random(n) < 0.7
    a, b, c = np.zeros(5, np.int32), np.zeros((2, 5), np.uint8), np.zeros(3, np.int64)
    run(kernel, x=x, valid=valid, a=a, b=b, c=c)
    for k in range(5):
        assert a[k] == sum(int(v) == k and ok for row in x for v, ok in zip(row, valid, strict=True))
        assert list(b[:, k]) == [sum(int(v) == k for v in row) for row in x]
    assert list(c) == [sum(int(v) == k and v != 1 for v in x[0]) for k in range(3)]


def test_counts_wrap(run):
    @intent.kernel
    def kernel(x: I.In[I.i8, ("N",)], y: I.Out[I.u8, (2,)]):
        y[:] = I.histogram(x[:], bins=2, count_dtype=I.u8)

    y = np.zeros(2, np.uint8)
    run(kernel, x=np.zeros(300, np.int8), y=y)
    assert list(y) == [44, 0]
