"""On a GPU: more than 2**31 elements, along one axis and along several, in every kind of access.

CuPy computes what is expected, a part at a time; what a kernel must not touch holds a pattern.
"""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from tests.cases import test_indices as kernels

from .test_gpu import TARGET, pytestmark  # noqa: F401

PAST = 2**31 + 8
PART = 1 << 28

if TARGET.is_gpu:
    import cupy


@pytest.fixture(autouse=True)
def memory() -> Any:
    """Tests of gigabytes, where the device has them, and gives them back."""
    if cupy.cuda.Device().mem_info[0] < 40 << 30:
        pytest.skip("less than 40 GiB of the device's memory are free")
    yield
    cupy.get_default_memory_pool().free_all_blocks()


def pattern(*shape: int, dtype: Any = np.uint8) -> Any:
    """Values of 0 to 250, different in neighbours and in elements 2**31 or 2**32 apart."""
    flat = cupy.empty(int(np.prod(shape)), dtype)
    for at in range(0, flat.size, PART):
        part = flat[at : at + PART]
        part[:] = ((cupy.arange(at, at + part.size, dtype=np.int64) * 2654435761 >> 7) % 251).astype(dtype)
    return flat.reshape(shape)


def same(found: Any, expected: Any) -> None:
    """Two device arrays are equal; compared in parts of the first axis."""
    step = max(1, PART // max(1, int(np.prod(found.shape[1:]))))
    for at in range(0, found.shape[0], step):
        assert bool((found[at : at + step] == expected[at : at + step]).all()), f"from {at}"


def test_every_element_of_a_long_vector_is_written() -> None:
    x = pattern(3_270_680_000, dtype=np.float16)
    y = cupy.full_like(x, -1)
    intent.compile(kernels.filled)(x, y)
    x += cupy.float16(1)
    same(y, x)


def test_every_element_of_a_large_matrix_is_written() -> None:
    x = pattern(40960, 128256, dtype=np.float16)
    y = cupy.full_like(x, -1)
    intent.compile(kernels.copied)(x, y)
    same(y, x)


@intent.kernel
def transposed(x: I.In[I.u8, ("M", "N")], y: I.Out[I.u8, ("N", "M")]):
    y[:, :] = I.transpose(x[:, :])


def test_transposition() -> None:
    x = pattern(65537, 32771)
    y = cupy.zeros((32771, 65537), np.uint8)
    intent.compile(transposed)(x, y)
    same(y, x.T)


def test_strides_that_are_negative_or_far_apart() -> None:
    x, y = pattern(PAST), cupy.zeros(PAST, np.uint8)
    intent.compile(doubled)(x[::-1], y)
    same(y, x[::-1] * 2)
    memory = pattern(3 * 2**30)
    far = cupy.lib.stride_tricks.as_strided(memory, (3, 5), (2**30 + 2**20, 1))
    near = cupy.zeros((3, 5), np.uint8)
    intent.compile(pairs)(far, near)
    same(near, far * 2)
    intent.compile(pairs)(far[::-1], near)
    same(near, far[::-1] * 2)


@intent.kernel
def doubled(x: I.In[I.u8, ("N",)], y: I.Out[I.u8, ("N",)]):
    y[:] = x[:] * 2


@intent.kernel
def pairs(x: I.In[I.u8, ("M", "N")], y: I.Out[I.u8, ("M", "N")]):
    y[:, :] = x[:, :] * 2


@pytest.mark.parametrize("shape", [(PAST, 1), (1, PAST), (2**30 + 3, 3)])
def test_as_many_rows_or_columns(shape: tuple[int, int]) -> None:
    x = pattern(*shape)
    y = cupy.zeros(shape, np.uint8)
    intent.compile(pairs)(x, y)
    same(y, x * 2)


def test_one_element_and_one_token() -> None:
    x, y = pattern(PAST), cupy.zeros(1, np.uint8)
    intent.compile(kernels.one_element, constexprs={"AT": 2**31 + 5})(x, y)
    assert int(y[0]) == int(x[2**31 + 5])
    tokens = pattern(3, 2**20, 16, 64)
    kernel = intent.compile(kernels.one_token)
    for t in (0, 2**20 - 1):
        out = cupy.zeros((3, 16, 64), np.uint8)
        kernel(tokens, t, out)
        same(out, tokens[:, t])


def test_an_i32_index_times_a_stride() -> None:
    x, y = pattern(16385, 131072), cupy.zeros((3, 4), np.uint8)
    at = cupy.asarray(np.int32([16384, 0, 16383]))
    intent.compile(kernels.row_of_index)(x, at, y)
    same(y, x[at][:, :4])


@intent.kernel
def gathered(x: I.In[I.u8, ("N",)], at: I.In[I.i64, ("M",)], y: I.Out[I.u8, ("M",)]):
    y[:] = x[I.assume_in_bounds(at[:], x)]


@intent.fn
def both(a, b):
    return a + b


@intent.kernel
def scattered(at: I.In[I.i64, ("M",)], v: I.In[I.i32, ("M",)], y: I.InOut[I.i32, ("N",)]):
    I.scatter_reduce(y, index=I.assume_in_bounds(at[:], y), value=v[:], combine=both)


def test_gathers_and_updates_by_i64() -> None:
    places = cupy.asarray(np.random.default_rng(0).integers(0, PAST, 5000))
    places[:4] = cupy.asarray([0, 2**31 - 1, 2**31, PAST - 1])
    x, y = pattern(PAST), cupy.zeros(5000, np.uint8)
    intent.compile(gathered)(x, places, y)
    same(y, x[places])
    total = cupy.zeros(PAST, np.int32)
    twice = cupy.concatenate([places, places])
    intent.compile(scattered)(twice, cupy.ones(10000, np.int32), total)
    assert int(total.sum()) == 10000
    assert bool((total[places] >= 2).all())


@intent.kernel
def summed(x: I.In[I.u8, ("M", "N")], y: I.Out[I.i64, ("M",)], where: I.Out[I.index, ("M",)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        row = x[m, :]
        y[m] = I.reduce.sum(I.cast(row, I.i64))
        where[m] = I.arg_reduce.max(row)[1]


def test_sums_and_positions_along_a_long_axis() -> None:
    x = pattern(2, PAST)
    x[0, 2**31 + 3], x[1, 2**31 - 1] = 255, 255
    y, where = cupy.zeros(2, np.int64), cupy.zeros(2, np.int64)
    intent.compile(summed)(x, y, where)
    same(y, x.sum(1, dtype=np.int64))
    assert where.tolist() == [2**31 + 3, 2**31 - 1]


@intent.kernel
def running(x: I.In[I.u8, ("N",)], y: I.Out[I.u8, ("N",)]):
    y[:] = I.cumsum(x[:], acc_dtype=I.u8)


def test_prefixes_of_a_long_axis() -> None:
    x = cupy.zeros(PAST, np.uint8)
    x[[5, 2**30, 2**31 + 2]] = 1
    y = cupy.zeros(PAST, np.uint8)
    intent.compile(running)(x, y)
    edges = [0, 5, 2**30, 2**31 + 2, PAST]
    for level, (lo, hi) in enumerate(zip(edges, edges[1:], strict=False)):
        part = y[lo:hi]
        for at in range(0, part.size, PART):
            assert bool((part[at : at + PART] == level).all()), (level, lo + at)


@intent.kernel
def row_peaks(x: I.In[I.u8, ("M", "N")], y: I.Out[I.u8, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row] = I.reduce.max(x[row, :])


def test_more_points_than_a_grid_has_programs() -> None:
    x, y = pattern(PAST, 2), cupy.zeros(PAST, np.uint8)
    options = intent.CompileOptions(passes={"block_axes": {"sizes": {"row": 1}}})  # a point each
    artifact = intent.compile(row_peaks, options=options)
    artifact(x, y)
    assert any(one.plan.holds.strided for one in artifact.variants)
    for at in range(0, PAST, PART):
        assert bool((y[at : at + PART] == x[at : at + PART].max(1)).all()), at
