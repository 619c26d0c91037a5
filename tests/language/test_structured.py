"""Reductions, contractions and shape operations on tensors."""

import math

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.terms.core import find
from intent_np.terms.logical import Call, TensorContract, TensorReduce

RNG = np.random.default_rng(5)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@intent.kernel
def reductions(
    x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, (4, "M")], s: I.Out[I.f32, (2,)], b: I.Out[I.bool, (2, "N")]
):
    v = x[:, :]
    y[0, :] = I.reduce.sum(v, axis=1)
    y[1, :] = I.reduce.max(v, -1)
    y[2, :] = I.reduce.min(v, axis=1, keepdims=True)[:, 0]
    y[3, :] = I.reduce.prod(v, 1)
    s[0] = I.reduce.sum(v)
    s[1] = I.reduce.max(v, axis=(0, 1))
    b[0, :] = I.reduce.any(v > 1, axis=0)
    b[1, :] = I.reduce.all(v > -1, axis=0)


@pytest.mark.parametrize("shape", [(5, 9), (1, 1), (4, 0), (0, 4)])
def test_builtin_reductions(run, shape):
    m, n = shape
    x, y, s, b = normal(m, n), np.zeros((4, m), np.float32), np.zeros(2, np.float32), np.zeros((2, n), np.bool_)
    run(reductions, x=x, y=y, s=s, b=b)
    np.testing.assert_allclose(y[0], x.sum(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(y[1], x.max(1, initial=-np.inf))
    np.testing.assert_array_equal(y[2], x.min(1, initial=np.inf))
    np.testing.assert_allclose(y[3], x.prod(1), rtol=1e-5)
    np.testing.assert_allclose(s, [x.sum(), x.max(initial=-np.inf)], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(b, [(x > 1).any(0), (x > -1).all(0)])


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("i8", "i32"),
        ("i16", "i32"),
        ("u8", "u32"),
        ("u16", "u32"),
        ("f16", "f32"),
        ("bf16", "f32"),
        ("i32", "i32"),
        ("f64", "f64"),
    ],
)
def test_sum_accumulates_in_32_bits_or_its_own(narrow, wide):
    source, result = getattr(I, narrow), getattr(I, wide)

    @intent.kernel
    def kernel(x: I.In[source, ("N",)], y: I.Out[result, ()]):
        y[()] = I.reduce.sum(x[:])

    (reduction,) = find(kernel.capture(), TensorReduce)
    assert str(reduction.type) == wide


def test_an_accumulator_may_be_named(run):
    @intent.kernel
    def kernel(x: I.In[I.bool, ("N",)], f: I.In[I.f16, ("N",)], y: I.Out[I.i32, ()], z: I.Out[I.f64, ()]):
        y[()] = I.reduce.sum(x[:], acc_dtype=I.i32)
        z[()] = I.reduce.prod(f[:], acc_dtype=I.f64)

    x, f, y, z = RNG.random(70) < 0.5, normal(70).astype(np.float16), np.zeros((), np.int32), np.zeros(())
    run(kernel, x=x, f=f, y=y, z=z)
    assert y == x.sum()
    np.testing.assert_allclose(z, f.astype(np.float64).prod(), rtol=1e-12)


@intent.fn
def better(a, b):
    take = (b.value > a.value) or (b.value == a.value and b.place < a.place)
    return I.record(place=I.select(take, b.place, a.place), value=I.select(take, b.value, a.value))


@intent.fn
def welford(a, b, epsilon):
    (n, mean, m2), (k, other, other2) = a, b
    total = n + k
    delta = other - mean
    share = k / I.maximum(total, epsilon)
    return total, mean + delta * share, m2 + other2 + delta * delta * n * share


@intent.kernel
def generic(
    x: I.In[I.f32, ("M", "N")],
    value: I.Out[I.f32, ("M",)],
    place: I.Out[I.index, ("M",)],
    moments: I.Out[I.f32, (3, "M")],
    largest: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        start = I.record(value=-math.inf, place=2**40)
        found = I.reduce(I.record(value=v, place=I.indices(columns)), axis=0, identity=start, combine=better)
        value[row] = found.value
        place[row] = found.place
        one, zero = I.full(v.shape, 1, I.f32), I.zeros(v.shape, I.f32)
        n, mean, m2 = I.reduce((one, v, zero), 0, identity=(0.0, 0.0, 0.0), combine=welford, combine_operands=1.0)
        moments[0, row] = n
        moments[1, row] = mean
        moments[2, row] = m2
        largest[row] = I.reduce(v, identity=-math.inf, combine=I.maximum)


@pytest.mark.parametrize("shape", [(33, 19), (3, 1), (2, 0), (4, 64)])
def test_generic_reductions_of_records_and_tuples(run, shape):
    x = np.round(normal(*shape), 1)
    m, n = shape
    value, place, largest = np.zeros(m, np.float32), np.zeros(m, np.int64), np.zeros(m, np.float32)
    moments = np.zeros((3, m), np.float32)
    program = run(generic, x=x, value=value, place=place, moments=moments, largest=largest)
    np.testing.assert_array_equal(value, x.max(1, initial=-np.inf))
    np.testing.assert_array_equal(largest, value)
    np.testing.assert_array_equal(place, x.argmax(1) if n else 2**40)
    np.testing.assert_array_equal(moments[0], n)
    np.testing.assert_allclose(moments[1], x.mean(1) if n else 0, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(moments[2], x.var(1) * n if n else 0, rtol=1e-4, atol=1e-5)
    assert not list(find(program, Call))  # combines are closed regions, nothing is called in them


# ---- contractions


@intent.kernel
def products(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    u: I.In[I.f32, ("K",)],
    c: I.Out[I.f32, (3, "M", "N")],
    v: I.Out[I.f32, ("M",)],
    w: I.Out[I.f32, ("N",)],
    d: I.Out[I.f32, ()],
    o: I.Out[I.f32, ("K", "K")],
):
    left, right = a[:, :], b[:, :]
    c[0, :, :] = I.matmul(left, right, acc_dtype=I.f32)
    c[1, :, :] = I.matmul(I.transpose(left), right, transpose_lhs=True, acc_dtype=I.f32)
    c[2, :, :] = I.matmul(left, I.transpose(right, (1, 0)), transpose_rhs=True, acc_dtype=I.f32)
    v[:] = I.matvec(left, u[:], acc_dtype=I.f32)
    w[:] = I.vecmat(u[:], right, acc_dtype=I.f32)
    d[()] = I.dot(u[:], u[:], acc_dtype=I.f32)
    o[:, :] = I.outer(u[:], u[:], acc_dtype=I.f32)


@pytest.mark.parametrize("shape", [(4, 5, 6), (1, 1, 1), (3, 0, 2), (0, 3, 2), (17, 33, 9)])
def test_products(run, shape):
    m, k, n = shape
    a, b, u = normal(m, k), normal(k, n), normal(k)
    c, v, w, d = np.ones((3, m, n), np.float32), np.ones(m, np.float32), np.ones(n, np.float32), np.ones((), np.float32)
    o = np.ones((k, k), np.float32)
    program = run(products, a=a, b=b, u=u, c=c, v=v, w=w, d=d, o=o)
    near = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(c, np.stack([a @ b] * 3), **near)
    np.testing.assert_allclose(v, a @ u, **near)
    np.testing.assert_allclose(w, u @ b, **near)
    np.testing.assert_allclose(d, u @ u, **near)
    np.testing.assert_array_equal(o, np.outer(u, u))
    assert len(list(find(program, TensorContract))) == 6


@intent.kernel
def batches(
    a: I.In[I.f16, ("B", "M", "K")],
    b: I.In[I.f16, ("B", "K", "N")],
    c: I.Out[I.f32, (2, "B", "M", "N")],
    d: I.Out[I.f32, ("M", "B", "N")],
    e: I.Out[I.f32, ("M", "B", "K")],
):
    left, right = a[:, :, :], b[:, :, :]
    c[0] = I.matmul(left, right, acc_dtype=I.f32)
    c[1] = I.contract(left, right, reduce=((2, 1),), batch=((0, 0),), acc_dtype=I.f32)
    turned = I.transpose(left, (1, 0, 2))
    d[...] = I.contract(turned, right, reduce=((-1, 1),), batch=((1, 0),), acc_dtype=I.f32)
    e[...] = I.contract(turned, I.reduce.max(right, axis=2), reduce=(), batch=((1, 0), (2, 1)), acc_dtype=I.f32)


def test_batched_contractions(run):
    a, b = normal(3, 4, 5).astype(np.float16), normal(3, 5, 6).astype(np.float16)
    c, d, e = np.zeros((2, 3, 4, 6), np.float32), np.zeros((4, 3, 6), np.float32), np.zeros((4, 3, 5), np.float32)
    run(batches, a=a, b=b, c=c, d=d, e=e)
    want = a.astype("f4") @ b.astype("f4")
    np.testing.assert_allclose(c, np.stack([want] * 2), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(d, want.transpose(1, 0, 2), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(e, a.astype("f4").transpose(1, 0, 2) * b.max(2).astype("f4"))


@intent.kernel
def shared_side(a: I.In[I.bf16, ("B", "M", "K")], b: I.In[I.bf16, ("K", "N")], c: I.Out[I.f32, ("B", "M", "N")]):
    for i in I.parallel(I.domain(0, a.shape[0])):
        c[i] = I.matmul(a[i], b[:, :], acc_dtype=I.f32)


def test_one_side_may_be_the_same_for_all_points(run):
    a, b = normal(3, 4, 5).astype(ml_dtypes.bfloat16), normal(5, 6).astype(ml_dtypes.bfloat16)
    c = np.zeros((3, 4, 6), np.float32)
    run(shared_side, a=a, b=b, c=c)
    np.testing.assert_allclose(c, a.astype("f4") @ b.astype("f4"), rtol=1e-5, atol=1e-5)


# ---- shapes


def test_reshape_and_transpose(run):
    @intent.kernel
    def fixed(
        x: I.In[I.f32, ("M", 6)],
        flat: I.Out[I.f32, ("M * 6",)],
        turned: I.Out[I.f32, (6, "M")],
        halves: I.Out[I.f32, ("M", 2, 3)],
        wide: I.Out[I.f32, ("3 * M", 2)],
    ):
        M, N = x.shape
        v = x[:, :]
        flat[:] = I.reshape(v, -1)
        turned[...] = I.transpose(I.reshape(I.reshape(v, (N * M,)), v.shape))
        assert v.ndim == 2
        assert v.dtype == I.f32
        halves[:, :, :] = I.reshape(v, (M, 2, -1))
        wide[:, :] = I.reshape(v, (-1, 2))

    for m in (0, 1, 5):
        x, flat, turned = normal(m, 6), np.zeros(6 * m, np.float32), np.zeros((6, m), np.float32)
        halves, wide = np.zeros((m, 2, 3), np.float32), np.zeros((3 * m, 2), np.float32)
        run(fixed, x=x, flat=flat, turned=turned, halves=halves, wide=wide)
        np.testing.assert_array_equal(flat, x.ravel())
        np.testing.assert_array_equal(turned, x.T)
        np.testing.assert_array_equal(halves, x.reshape(m, 2, 3))
        np.testing.assert_array_equal(wide, x.reshape(-1, 2))
