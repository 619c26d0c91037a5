"""Extents that no tile divides: what lies outside is the identity of what is computed, and nothing inside is left out.

Inputs are negative where a fill of 0 would win a maximum, and lie in the middle of NaN where a read goes too far.
"""

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(3)


def inside(shape, values):
    """`values` in a view that has NaN (or the largest integer) on every side."""
    fill = np.nan if values.dtype.kind == "f" else np.iinfo(values.dtype).max
    memory = np.full([n + 8 for n in shape], fill, values.dtype)
    view = memory[tuple(slice(4, n + 4) for n in shape)]
    view[...] = values
    return view


@intent.kernel
def row_facts(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, (4, "M")]):
    v = x[:, :]
    y[0, :] = I.reduce.sum(v, axis=1)
    y[1, :] = I.reduce.max(v, axis=1)
    y[2, :] = I.reduce.min(v, axis=1)
    y[3, :] = I.reduce.prod(v, axis=1)


@pytest.mark.parametrize("n", [1, 3, 5, 8, 24, 48, 96, 100, 127, 129])
def test_padded_lanes_are_the_identity_of_the_reduction(everywhere, n):
    x = np.abs(RNG.standard_normal((3, n)).astype(np.float32)) + np.float32(0.5)
    x[0], x[1] = np.arange(1, n + 1), -x[1]
    y = np.zeros((4, 3), np.float32)
    everywhere(row_facts, inside(x.shape, x), y)
    assert y[0, 0] == n * (n + 1) // 2  # of 1..48 it is 1176
    np.testing.assert_allclose(y[0], x.sum(1), rtol=1e-5)
    np.testing.assert_array_equal(y[1], x.max(1))
    np.testing.assert_array_equal(y[2], x.min(1))
    np.testing.assert_allclose(y[3], x.astype(np.float64).prod(1).astype(np.float32), rtol=1e-4)


@intent.kernel
def both_extremes(x: I.In[I.f32, ("M", 1)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, (3,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i, 0]
    z[0] = I.reduce.sum(x[:, 0], axis=0)
    z[1] = I.reduce.max(x[:, :], axis=(0, 1))
    z[2] = I.reduce.min(x[:, :], axis=(0, 1))


def test_the_fill_of_one_reduction_does_not_reach_another(everywhere):
    """A sum beside a maximum and a minimum of the same loads, behind a loop that reads them too."""
    y, z = np.zeros(4, np.float32), np.zeros(3, np.float32)
    everywhere(both_extremes, np.float32([[-10], [-20], [-30], [-40]]), y, z)
    assert z.tolist() == [-100, -10, -40]


@intent.kernel
def offset_columns(x: I.In[I.f32, ("M", "N")], c: I.In[I.f32, ("M", 1)], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = x[:, :] * 2 + c[:, :]


@pytest.mark.parametrize("shape", [(16, 104), (7, 48), (5, 96), (1, 1), (3, 384)])
def test_every_column_is_written(everywhere, shape):
    x, c = (RNG.standard_normal(s).astype(np.float32) for s in (shape, (shape[0], 1)))
    y = np.full(shape, np.nan, np.float32)
    everywhere(offset_columns, inside(shape, x), c, y)
    np.testing.assert_allclose(y, x * 2 + c, rtol=1e-6)


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


@pytest.mark.parametrize("shape", [(16, 32, 24), (33, 17, 40), (20, 64, 56), (5, 0, 8), (1, 7, 1)])
def test_a_product_whose_columns_no_tile_divides(everywhere, shape):
    m, k, n = shape
    a, b = (RNG.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n)))
    y = np.full((m, n), np.nan, np.float32)
    everywhere(product, inside(a.shape, a), inside(b.shape, b), y)
    np.testing.assert_array_equal(y, a @ b)


@intent.kernel
def matrix_vector(a: I.In[I.f32, ("M", "K")], x: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("M",)]):
    y[:] = I.matvec(a[:, :], x[:], acc_dtype=I.f32)


@pytest.mark.parametrize("shape", [(100, 33), (7, 384), (48, 96)])
def test_a_matrix_times_a_vector_counts_each_product_once(everywhere, shape):
    a, x = RNG.integers(-4, 5, shape).astype(np.float32), RNG.integers(-4, 5, shape[1]).astype(np.float32)
    y = np.zeros(shape[0], np.float32)
    everywhere(matrix_vector, inside(shape, a), x, y)
    np.testing.assert_array_equal(y, a @ x)


@intent.kernel
def normalized_heads(x: I.In[I.f32, ("N", "H", "D")], y: I.Out[I.f32, ("N", "H", "D")]):
    v = x[:, :, :]
    y[:, :, :] = v * I.rsqrt(I.reduce.sum(v * v, axis=2, keepdims=True) / 96.0 + 1e-6)


@pytest.mark.parametrize("shape", [(3, 2, 96), (5, 3, 128), (1, 7, 33)])
def test_rows_of_heads_are_normalized(everywhere, shape):
    x = RNG.standard_normal(shape).astype(np.float32)
    y = np.zeros(shape, np.float32)
    everywhere(normalized_heads, inside(shape, x), y)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, wide / np.sqrt((wide**2).sum(2, keepdims=True) / 96 + 1e-6), rtol=1e-5)


@intent.kernel
def normalized_backward(
    x: I.In[I.f32, ("N", "D")], g: I.In[I.f32, ("N", "D")], w: I.In[I.f32, ("D",)],
    dx: I.Out[I.f32, ("N", "D")], dw: I.Out[I.f32, ("D",)],
):  # fmt: skip
    D = I.cast(x.shape[1], I.f32)
    v, weighted = x[:, :], g[:, :] * w[:]
    scale = I.rsqrt(I.reduce.sum(v * v, axis=1, keepdims=True) / D + 1e-6)
    along = I.reduce.sum(weighted * v, axis=1, keepdims=True)
    dx[:, :] = scale * (weighted - v * (along * scale * scale / D))
    dw[:] = I.reduce.sum(g[:, :] * v * scale, axis=0)


@pytest.mark.parametrize("shape", [(5, 96), (3, 128), (1, 1), (33, 7)])
def test_gradients_of_a_normalization_whose_row_no_tile_divides(everywhere, shape):
    x, g = (RNG.standard_normal(shape).astype(np.float32) for _ in range(2))
    w = RNG.standard_normal(shape[1]).astype(np.float32)
    dx, dw = np.zeros(shape, np.float32), np.zeros(shape[1], np.float32)
    everywhere(normalized_backward, inside(shape, x), inside(shape, g), inside(w.shape, w), dx, dw)
    a, b, c = (v.astype(np.float64) for v in (x, g, w))
    scale = 1 / np.sqrt((a * a).mean(1, keepdims=True) + 1e-6)
    want = scale * (b * c - a * (b * c * a).mean(1, keepdims=True) * scale**2)
    np.testing.assert_allclose(dx, want, rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(dw, (b * a * scale).sum(0), rtol=2e-4, atol=2e-5)


@intent.kernel
def merged_partials(p: I.In[I.f32, ("S", "D")], m: I.In[I.f32, ("S",)], y: I.Out[I.f32, ("D",)]):
    top = I.reduce.max(m[:], axis=0)
    weight = I.select(m[:] > -1e30, I.exp(m[:] - top), 0.0)
    part = I.select(weight[:, None] > 0.0, p[:, :] * weight[:, None], 0.0)
    y[:] = I.reduce.sum(part, axis=0) / I.reduce.sum(weight, axis=0)


@pytest.mark.parametrize("d", [5, 128])
def test_partial_results_of_weight_minus_infinity_contribute_nothing(everywhere, d):
    p, m = np.full((128, d), np.nan, np.float32), np.full(128, -np.inf, np.float32)
    p[77], m[77] = np.arange(d), -3.0
    y = np.zeros(d, np.float32)
    everywhere(merged_partials, p, m, y)
    assert y.tolist() == list(range(d))


@intent.kernel
def small_maxima(x: I.In[I.f8e4m3fn, ("M", "N")], y: I.Out[I.f32, ("M",)], s: I.Out[I.f32, ("M",)]):
    y[:] = I.cast(I.reduce.max(x[:, :], axis=1), I.f32)
    s[:] = I.reduce.sum(x[:, :], axis=1)


@pytest.mark.parametrize("n", [1, 5, 33])
def test_a_type_without_infinity_pads_with_its_lowest_value(everywhere, n):
    x = -np.abs(RNG.standard_normal((3, n)) * 50 + 60).clip(1, 400).astype(ml_dtypes.float8_e4m3fn)
    y, s = np.zeros(3, np.float32), np.zeros(3, np.float32)
    everywhere(small_maxima, x, y, s)
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(y, wide.max(1))
    np.testing.assert_allclose(s, wide.sum(1), rtol=1e-6)


@intent.kernel
def windows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for r, c in I.parallel((I.domain(0, M), I.domain(0, N))):
        total: I.f32 = 0.0
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                here = r + dr >= 0 and r + dr < M and c + dc >= 0 and c + dc < N
                total = total + (x[r + dr, c + dc] if here else 0.0)
        y[r, c] = total


@pytest.mark.parametrize("shape", [(5, 9), (1, 1), (33, 2)])
def test_overlapping_windows_stop_at_the_edge(everywhere, shape):
    x = RNG.integers(-9, 9, shape).astype(np.float32)
    y = np.zeros(shape, np.float32)
    everywhere(windows, inside(shape, x), y)
    padded = np.pad(x, 1)
    want = sum(padded[1 + i : 1 + i + shape[0], 1 + j : 1 + j + shape[1]] for i in (-1, 0, 1) for j in (-1, 0, 1))
    np.testing.assert_array_equal(y, want)


@intent.kernel
def padded_rows(x: I.In[I.f32, ("M", 5)], y: I.Out[I.f32, (4, "M", 11)]):
    a = x[:, :]
    y[0, :, :] = I.pad(a, ((0, 0), (2, 4)), "edge")
    y[1, :, :] = I.pad(a, ((0, 0), (2, 4)), "reflect")
    y[2, :, :] = I.pad(a, ((0, 0), (2, 4)), "symmetric")
    y[3, :, :] = I.pad(a, ((0, 0), (2, 4)), "wrap")


@pytest.mark.parametrize("m", [0, 1, 9])
def test_members_stand_around_a_row_as_numpy_puts_them(everywhere, m):
    x = RNG.standard_normal((m, 5)).astype(np.float32)
    y = np.zeros((4, m, 11), np.float32)
    everywhere(padded_rows, inside(x.shape, x), y)
    want = [np.pad(x, ((0, 0), (2, 4)), mode) for mode in ("edge", "reflect", "symmetric", "wrap")]
    np.testing.assert_array_equal(y, want)


@intent.kernel
def beside_the_fill(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (3, "N")], FILL: I.Constexpr[float] = 1.0):
    (N,) = x.shape
    place = I.indices(I.domain(0, N))[:, None] + I.indices(I.domain(0, 3)) - 1
    around = I.gather(x, place, valid=(place >= 0) & (place < N), fill=FILL)
    y[0, :] = I.reduce.sum(around, axis=1)
    y[1, :] = I.reduce.max(around, axis=1)
    y[2, :] = I.reduce.min(around, axis=1)


@pytest.mark.parametrize("fill", [0.0, 2.0, float("-inf"), float("inf")])
@pytest.mark.parametrize("n", [1, 2, 17, 1025])
def test_what_an_author_fills_with_is_a_member(everywhere, n, fill):
    x = -RNG.integers(1, 9, n).astype(np.float32)
    y = np.zeros((3, n), np.float32)
    everywhere(beside_the_fill, inside(x.shape, x), y, FILL=fill)
    wide = np.array([fill, *x, fill], np.float32)
    around = np.stack([wide[:-2], wide[1:-1], wide[2:]])
    np.testing.assert_array_equal(y, [around.sum(0), around.max(0), around.min(0)])
