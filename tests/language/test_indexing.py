"""Subscripts, domains and subregions; proofs that accesses stay inside."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.errors import CheckError
from intent_np.terms.core import rewrite
from intent_np.terms.index import const
from intent_np.terms.logical import At, LogicalProgram

RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("m", [1, 5])
def test_subscripts_are_numpys(run, m):
    @intent.kernel
    def inside(x: I.In[I.f32, (4, "M", 6)], y: I.Out[I.f32, (7, "M", 6)], z: I.Out[I.f32, ("M",)]):
        rows = I.domain(0, x.shape[1])
        y[0, :, :] = x[1]
        y[1] = x[-1, ...]
        y[2, rows, 0:6] = x[1 + 1, rows, :]
        y[3, :, 1:-1] = x[0, :, 2:]
        y[4, ...] = x[0, :, 3, None]
        y[5, :, 0:6:2] = x[3, :, 1:6:2]
        y[6, :, :] = I.gather(x, (0, slice(None), slice(6)))[slice(None)]
        v = x[2, :, :]
        z[:] = v[:, 5] + v[:, -6] + v[:, 1:5][:, 1]

    x, y, z = normal(4, m, 6), np.zeros((7, m, 6), np.float32), np.zeros(m, np.float32)
    run(inside, x=x, y=y, z=z)
    want = np.zeros_like(y)
    want[0], want[1], want[2], want[3, :, 1:-1] = x[1], x[-1], x[2], x[0, :, 2:]
    want[4], want[5, :, 0:6:2], want[6] = x[0, :, 3, None], x[3, :, 1:6:2], x[0]
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(z, x[2, :, 5] + x[2, :, 0] + x[2, :, 2])


@intent.kernel
def first_of_any(x: I.In[I.f32, ("M", 6)], z: I.Out[I.f32, (6,)]):
    z[:] = x[0, :]


def test_an_element_of_an_axis_that_may_be_empty(wrong):
    found = wrong(first_of_any)
    assert found.code == "E301"
    assert "index 0, and known: nothing more" in found.found
    assert found.expected == "0 <= index < M"


@intent.kernel
def triangle(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)], first: I.Out[I.index, ("N",)]):
    N, _ = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(columns):
        part = columns[row:]
        y[row] = I.reduce.sum(x[row, part])
        first[row] = I.reduce.min(I.indices(part)) + (I.end(part) - N)


def test_extents_may_differ_from_point_to_point(run):
    x, y, first = normal(13, 13), np.zeros(13, np.float32), np.zeros(13, np.int64)
    run(triangle, x=x, y=y, first=first)
    np.testing.assert_allclose(y, np.triu(x).sum(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(first, np.arange(13))  # coordinates of a subregion are those of its source


@intent.kernel
def window(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], W: I.Constexpr[int]):
    axis = I.domain(0, x.shape[0])
    for i in I.parallel(axis):
        y[i] = I.reduce.max(x[axis[I.maximum(i - W, 0) : I.minimum(i + W + 1, I.end(axis))]])


def test_a_clamped_window_is_proved_inside(run):
    x, y = normal(40), np.zeros(40, np.float32)
    run(window, x=x, y=y, W=3)
    np.testing.assert_array_equal(y, [x[max(0, i - 3) : i + 4].max() for i in range(40)])


@intent.kernel
def neighbours(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], k: I.i32):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        j = i + I.cast(k, I.index)
        inside = (0 <= j) & (j < N)
        if inside:
            v = x[j]
        else:
            v = 0.0
        y[i] = v + (x[i - 1] if i >= 1 else 0.0)


@pytest.mark.parametrize("k", [3, -7, 0, 100, -100])
def test_conditions_guard_accesses(run, k):
    x, y = normal(50), np.zeros(50, np.float32)
    run(neighbours, x=x, y=y, k=k)
    want = np.array([x[i + k] if 0 <= i + k < 50 else 0 for i in range(50)], np.float32)
    want[1:] += x[:-1]
    np.testing.assert_array_equal(y, want)


@intent.kernel
def digits(x: I.In[I.f32, ("M * N",)], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M * N",)], N: I.Constexpr[int]):
    M, _ = y.shape
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[i, j] = x[i * N + j]
        z[i * N + j] = x[i * N + j] + 1
    for p in I.parallel(I.domain(0, M * N)):
        z[p] = z[p] + y[p // N, p % N]


def test_flat_and_split_coordinates(run):
    x, y, z = normal(35), np.zeros((5, 7), np.float32), np.zeros(35, np.float32)
    run(digits, x=x, y=y, z=z, N=7)
    np.testing.assert_array_equal(y, x.reshape(5, 7))
    np.testing.assert_array_equal(z, x + 1 + x)


@intent.kernel
def grouped(x: I.In[I.f32, ("G * H", "N")], w: I.In[I.f32, ("H",)], y: I.Out[I.f32, ("G * H", "N")]):
    GH, _ = x.shape
    (H,) = w.shape
    for h in I.parallel(I.domain(0, GH)):
        y[h, :] = x[h, :] * w[h % H]


def test_names_of_groups_multiply(run):
    x, w, y = normal(12, 3), normal(4), np.zeros((12, 3), np.float32)
    run(grouped, x=x, w=w, y=y, G=3)
    np.testing.assert_array_equal(y, x * np.tile(w, 3)[:, None])


@intent.kernel
def differences(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N - 1",)]):
    v = x[:]
    y[:] = v[1:] - v[:-1]


def test_an_extent_of_a_parameter_is_a_fact(run):
    x, y = normal(9), np.zeros(8, np.float32)
    run(differences, x=x, y=y)
    np.testing.assert_array_equal(y, np.diff(x))


@intent.kernel
def blocks(x: I.In[I.f32, ("8 * B",)], y: I.Out[I.f32, ("8 * B",)]):
    axis = I.domain(0, x.shape[0])
    for b in I.parallel(I.domain(0, x.shape[0] // 8)):
        block = axis[8 * b : 8 * b + 8]
        y[block] = x[block] - I.reduce.max(x[block])


def test_chunks_of_an_axis_are_written_once(run):
    x, y = normal(40), np.zeros(40, np.float32)
    run(blocks, x=x, y=y, B=5)
    rows = x.reshape(5, 8)
    np.testing.assert_array_equal(y, (rows - rows.max(1, keepdims=True)).ravel())


@intent.kernel
def chunks(x: I.In[I.f32, ("N",)], last: I.Out[I.f32, ("cdiv(N, L)",)], y: I.Out[I.f32, ("N",)], L: I.Constexpr[int]):
    (N,) = x.shape
    axis = I.domain(0, N)
    for c in I.parallel(I.domain(0, last.shape[0])):
        chunk = axis[c * L : I.minimum(c * L + L, N)]
        last[c] = x[I.end(chunk) - 1]
        y[chunk] = x[chunk] - x[c * L]


@pytest.mark.parametrize("n", [0, 1, 8, 11])
def test_the_last_chunk_may_be_shorter(run, n):
    x, y, last = normal(n), np.zeros(n, np.float32), np.zeros(-(-n // 4), np.float32)
    run(chunks, x=x, y=y, last=last, L=4)
    for c in range(len(last)):
        np.testing.assert_array_equal(y[4 * c : 4 * c + 4], x[4 * c : 4 * c + 4] - x[4 * c])
        assert last[c] == x[min(4 * c + 3, n - 1)]


@intent.kernel
def overlapping(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    axis = I.domain(0, x.shape[0])
    for c in I.parallel(I.domain(0, I.ceil_div(x.shape[0], 4))):
        chunk = axis[c * 4 : I.minimum(c * 4 + 5, x.shape[0])]
        y[chunk] = x[chunk]


def test_chunks_that_overlap_are_found(wrong):
    assert wrong(overlapping).code == "E304"


@intent.kernel
def from_either_end(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M",)]):
    place = I.cast(at[:], I.index)
    place = I.select(place < 0, place + y.shape[0], place)
    inside = (place >= 0) & (place < y.shape[0])
    I.scatter_unique(y, index=I.assume_unique(place), value=x[:], valid=inside)


def test_a_guard_may_be_about_a_selection(run):
    x, y, at = normal(6), normal(5), np.array([-1, 0, 5, -6, 3, -3], np.int32)
    want = y.copy()
    want[[4, 0, 3, 2]] = x[[0, 1, 4, 5]]
    run(from_either_end, x=x, at=at, y=y)
    np.testing.assert_array_equal(y, want)


def test_an_access_outside_is_a_check_error():
    @intent.kernel
    def first(x: I.In[I.f32, (3, "N")], y: I.Out[I.f32, ("N",)]):
        y[:] = x[2, :]

    program = first.capture()
    beyond = At(const(3))
    (broken,) = rewrite((program,), lambda t: beyond if t is At(const(2)) else t)
    assert isinstance(broken, LogicalProgram)
    with pytest.raises(CheckError, match=r"(?s)E502 .*'x'.*found: *index 3 on axis 0"):
        logical.run(broken, {"x": normal(3, 2), "y": np.zeros(2, np.float32)})


def test_layouts_of_memory_do_not_matter(run):
    @intent.kernel
    def copy(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            y[i, :] = x[i, :]

    program = copy.capture()
    big = normal(20, 30)
    for x in (big[::2, ::-1], big.T, big[3:9, 5:6], np.broadcast_to(big[0, :3], (4, 3))):
        y = np.zeros((2 * x.shape[0], x.shape[1]), np.float32)[::2]
        logical.run(program, {"x": x, "y": y})
        np.testing.assert_array_equal(y, x)
