"""Floats: NaN in extremes, exact products of f32, -infinity as a score, signs; NumPy decides."""

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(34)
ROWS = np.array(
    [
        [NAN, INF, 0, -1],
        [INF, NAN, 0, -1],
        [1, NAN, 3, 2],
        [-INF, -5, -6, NAN],
        [-3, -INF, -2, -2],
        [NAN, NAN, NAN, NAN],
        [-INF, -INF, -INF, -INF],
        [INF, INF, -INF, 0],
    ]
)
DTYPES = [(I.f32, np.float32), (I.f64, np.float64), (I.f16, np.float16), (I.bf16, ml_dtypes.bfloat16)]


def extremes_of(dtype):
    @intent.kernel
    def extremes(x: I.In[dtype, ("M", "N")], y: I.Out[dtype, (4, "M")], p: I.Out[I.index, (2, "M")]):
        v = x[:, :]
        y[0, :] = I.reduce.max(v, axis=1)
        y[1, :] = I.reduce.min(v, axis=1)
        y[2, :], p[0, :] = I.arg_reduce.max(v, axis=1)
        y[3, :], p[1, :] = I.arg_reduce.min(v, axis=1)

    return extremes


@pytest.mark.parametrize(("dtype", "stored"), DTYPES, ids=lambda d: str(getattr(d, "name", "")))
@pytest.mark.parametrize("repeated", [1, 11])
def test_nan_wins_an_extreme_and_its_place_is_the_first_one(everywhere, dtype, stored, repeated):
    x = np.tile(ROWS, (1, repeated))
    y, p = np.zeros((4, len(x)), stored), np.zeros((2, len(x)), np.int64)
    everywhere(extremes_of(dtype), x.astype(stored), y, p)
    top, low = x.max(1), x.min(1)
    np.testing.assert_array_equal(y.astype(np.float64), [top, low, top, low])
    np.testing.assert_array_equal(p, [x.argmax(1), x.argmin(1)])


@intent.kernel
def pairs(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, (6, "N")]):
    y[0, :] = I.maximum(a[:], b[:])
    y[1, :] = I.minimum(a[:], b[:])
    y[2, :] = I.maximum_num(a[:], b[:])
    y[3, :] = I.minimum_num(a[:], b[:])
    y[4, :] = I.clamp(a[:], -1.0, 1.0)
    y[5, :] = I.abs(a[:])


def test_nan_and_the_zeros_between_two(everywhere):
    values = np.float32([NAN, INF, -INF, 0.0, -0.0, -3.2, 1e-45, -1e-45, 2.5])
    a, b = (m.reshape(-1).copy() for m in np.meshgrid(values, values))
    y = np.zeros((6, len(a)), np.float32)
    everywhere(pairs, a, b, y)
    zeros = (a == 0) & (b == 0)
    signs = np.signbit(a), np.signbit(b)
    want = [np.maximum(a, b), np.minimum(a, b), np.fmax(a, b), np.fmin(a, b), np.clip(a, -1, 1), np.abs(a)]
    np.testing.assert_array_equal(y, want)
    for row, negative in ((0, signs[0] & signs[1]), (1, signs[0] | signs[1])):
        np.testing.assert_array_equal(np.signbit(y[row])[zeros], negative[zeros])
    assert not np.signbit(y[5][~np.isnan(a)]).any()


@intent.kernel
def absolute(x: I.In[I.f32, (4, 4)], y: I.Out[I.f32, (4, 4)]):
    y[:, :] = I.abs(x[:, :])


def test_the_absolute_value_of_minus_3_2(everywhere):
    y = np.zeros((4, 4), np.float32)
    everywhere(absolute, np.full((4, 4), -3.2, np.float32), y)
    np.testing.assert_array_equal(y, np.full((4, 4), 3.2, np.float32))


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


@pytest.mark.parametrize("shape", [(32, 64, 32), (16, 16, 16), (3, 7, 5)])
def test_products_of_f32_keep_24_bits(everywhere, shape):
    """A permutation picks members: exact in f32, and not where an operand loses bits."""
    m, k, n = shape
    a = (1 + RNG.integers(0, 2**23, (m, k)) * 2.0**-23).astype(np.float32)
    b = np.zeros((k, n), np.float32)
    picked = RNG.permutation(k)[:n]
    b[picked, np.arange(n)] = 1
    y = np.zeros((m, n), np.float32)
    everywhere(product, a, b, y)
    np.testing.assert_array_equal(y, a[:, picked])
    y2 = np.zeros((n, m), np.float32)
    everywhere(product, b.T.copy(), a.T.copy(), y2)
    np.testing.assert_array_equal(y2, y.T)


# ---- -infinity as a score


@intent.kernel
def losses(
    x: I.In[I.f32, ("B", "V")],
    label: I.In[I.i32, ("B",)],
    loss: I.Out[I.f32, ("B",)],
    gradient: I.Out[I.f32, ("B", "V")],
    mean: I.Out[I.f32, ()],
    IGNORE: I.Constexpr[int] = -100,
):
    V = x.shape[1]
    valid = label[:] != IGNORE
    count = I.cast(I.reduce.sum(I.cast(valid, I.i32), axis=0), I.f32)
    top = I.reduce.max(x[:, :], axis=1)
    weight = I.exp(x[:, :] - top[:, None])
    total = I.reduce.sum(weight, axis=1)
    hit = I.indices(I.domain(0, V))[None, :] == I.cast(label[:], I.index)[:, None]
    picked = I.reduce.sum(I.select(hit, x[:, :], 0.0), axis=1)
    each = I.select(valid, I.log(total) + top - picked, 0.0)
    loss[:] = each
    mean[()] = I.reduce.sum(each, axis=0) / count
    step = weight / total[:, None] - I.select(hit, 1.0, 0.0)
    gradient[:, :] = I.select(valid[:, None], step / I.maximum(count, 1.0), 0.0)


@pytest.mark.parametrize("size", [7, 100, 1031, pytest.param(100_000, marks=pytest.mark.slow)])
def test_one_finite_logit_has_no_loss(everywhere, size):
    x = np.full((2, size), -INF, np.float32)
    x[:, size // 2] = 3.5, -8.0
    label = np.int32([size // 2] * 2)
    loss, gradient, mean = np.ones(2, np.float32), np.ones((2, size), np.float32), np.ones((), np.float32)
    everywhere(losses, x, label, loss, gradient, mean)
    assert loss.tolist() == [0, 0]
    assert mean == 0
    assert not gradient.any()


def test_one_finite_logit_of_many_has_no_loss():
    x, label = np.full((1, 100_000), -INF, np.float32), np.int32([50_000])
    x[0, 50_000] = 0.25
    loss, gradient, mean = np.ones(1, np.float32), np.ones((1, 100_000), np.float32), np.ones((), np.float32)
    intent.compile(losses, target="reference")(x, label, loss, gradient, mean)
    assert (loss[0], mean) == (0, 0)
    assert not gradient.any()


@pytest.mark.parametrize("ignored", [[], [0], [1, 2, 7], list(range(8))])
def test_rows_that_are_ignored_have_no_loss_and_no_gradient(everywhere, ignored):
    x = RNG.standard_normal((8, 21)).astype(np.float32)
    label = RNG.integers(0, 21, 8).astype(np.int32)
    label[ignored] = -100
    loss, gradient, mean = np.ones(8, np.float32), np.ones((8, 21), np.float32), np.ones((), np.float32)
    everywhere(losses, x, label, loss, gradient, mean)
    kept = label != -100
    wide = x.astype(np.float64)
    probability = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    own = np.where(kept, label, 0)
    want = np.where(kept, -np.log(probability[np.arange(8), own]), 0)
    step = probability - (np.arange(21) == own[:, None])
    np.testing.assert_allclose(loss, want, rtol=1e-5)
    np.testing.assert_allclose(gradient, np.where(kept[:, None], step / max(kept.sum(), 1), 0), rtol=1e-4, atol=1e-7)
    if kept.any():
        np.testing.assert_allclose(mean, want.sum() / kept.sum(), rtol=1e-5)
    else:
        assert np.isnan(mean)
