"""Indices and sizes: offsets past 2**31, positions from the end, nothing at all, extents that are no power of two."""

from dataclasses import replace

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import classify
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.testing.triton_interpreter import evaluate

# --- past 2**31: the memory is mapped, and only what is touched exists


@intent.kernel
def one_element(x: I.In[I.u8, ("N",)], y: I.Out[I.u8, (1,)], AT: I.Constexpr[int] = 0):
    y[0] = x[AT] if x.shape[0] > AT else 0


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_a_constant_index_past_2_to_the_31_is_that_element(target):
    x, y = np.zeros(2**31 + 8, np.uint8), np.zeros(1, np.uint8)
    x[2**31 + 5] = 7
    intent.compile(one_element, target=target, constexprs={"AT": 2**31 + 5})(x, y)
    assert y[0] == 7


@intent.kernel
def row_of_index(x: I.In[I.u8, ("M", "K")], at: I.In[I.i32, ("N",)], y: I.Out[I.u8, ("N", 4)]):
    M, K = x.shape
    for i in I.parallel(I.domain(0, at.shape[0])):
        row = I.cast(at[i], I.index)
        for k in I.parallel(I.domain(0, 4)):
            y[i, k] = x[row, k] if row >= 0 and row < M and k < K else 0


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_an_i32_index_times_a_stride_does_not_wrap(target):
    x, y = np.zeros((16385, 131072), np.uint8), np.zeros((3, 4), np.uint8)  # 16384 * 131072 = 2**31
    x[16384, :4], x[16383, :4], x[0, :4] = 5, 4, 3
    intent.compile(row_of_index, target=target)(x, np.int32([16384, 0, 16383]), y)
    assert y.tolist() == [[5] * 4, [3] * 4, [4] * 4]


@intent.kernel
def filled(x: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("N",)]):
    y[:] = x[:] + 1


@pytest.mark.parametrize(("elements", "bits"), [(2**31 - 2**20, 32), (2**31 + 8, 64), (3_270_680_000, 64)])
def test_the_class_of_a_call_has_offsets_that_hold_its_elements(elements, bits):
    """Decided on arrays that are mapped and never touched."""
    plan = Compilation(filled, SM_90, {}, intent.CompileOptions()).plan
    x, y = np.empty(elements, np.float16), np.empty(elements, np.float16)
    assert classify(plan, bind(plan, (x, y)).facts()).index_bits == bits


@intent.kernel
def copied(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    y[:, :] = x[:, :]


def test_a_matrix_of_more_than_2_to_the_31_elements_is_addressed_in_64_bits():
    """Where the class of a call says so, the number of an instance is widened before anything is multiplied by it."""
    plan = Compilation(copied, SM_90, {}, intent.CompileOptions()).plan
    x, y = np.empty((40960, 128256), np.float16), np.empty((40960, 128256), np.float16)
    wide = classify(plan, bind(plan, (x, y)).facts())
    assert wide.index_bits == 64
    assert classify(plan, bind(plan, (x[:100], y[:100])).facts()).index_bits == 32
    for holds, widened in ((wide, True), (replace(wide, index_bits=32), False)):
        compilation = Compilation(copied, SM_90, {}, intent.CompileOptions())
        launch, _ = compilation.launch(holds)
        with compilation.arena:
            source = print_triton(launch.function)
        assert source.count("tl.program_id(") == 1
        assert ("tl.program_id(0).to(tl.int64)" in source) == widened


@intent.kernel
def one_token(x: I.In[I.u8, ("B", "T", "H", "K")], t: I.index, y: I.Out[I.u8, ("B", "H", "K")]):
    y[:, :, :] = x[:, t, :, :] if t >= 0 and t < x.shape[1] else I.zeros(y.shape, I.u8)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_the_first_token_past_2_to_the_31_is_that_of_a_batch_of_one(target):
    """((B - 1) T H + (H - 1)) K is past 2**31 - 1; each sequence on its own is far below it."""
    x = np.zeros((3, 2**20, 16, 64), np.uint8)  # mapped: a token of a sequence is 2**30 elements behind the last one
    for b, t in ((0, 0), (1, 2**20 - 1), (2, 0), (2, 2**20 - 1)):
        x[b, t] = np.arange(16 * 64).reshape(16, 64) % 251 + b
    kernel = intent.compile(one_token, target=target)
    for t in (0, 2**20 - 1):
        y, single = np.ones((3, 16, 64), np.uint8), np.ones((1, 16, 64), np.uint8)
        kernel(x, t, y)
        np.testing.assert_array_equal(y, x[:, t])
        for b in range(3):
            kernel(x[b : b + 1], t, single)
            np.testing.assert_array_equal(single[0], y[b])


def test_strides_count_towards_the_offsets():
    """Few elements that lie far apart, forwards or backwards."""
    plan = Compilation(copied, SM_90, {}, intent.CompileOptions()).plan
    memory = np.empty(2**31 + 2**12, np.float16)
    far = np.lib.stride_tricks.as_strided(memory, (3, 5), (2**31, 2))
    y = np.zeros((3, 5), np.float16)
    assert classify(plan, bind(plan, (far, y)).facts()).index_bits == 64
    assert classify(plan, bind(plan, (far[::-1], y)).facts()).index_bits == 64
    assert classify(plan, bind(plan, (far[:1], y[:1])).facts()).index_bits == 32


@intent.kernel
def many_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    for r, c in I.parallel((I.domain(0, x.shape[0]), I.domain(0, x.shape[1]))):
        y[r, c] = x[r, c] * 2


@pytest.mark.parametrize("shape", [(300, 1), (1, 300), (130, 3)])
def test_a_grid_of_rows_and_columns(everywhere, shape):
    x = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    y = np.zeros(shape, np.int32)
    everywhere(many_rows, x, y)
    np.testing.assert_array_equal(y, x * 2)


@pytest.mark.parametrize("shape", [(70000, 1), (1, 70000), (66000, 3)])
def test_no_axis_of_a_grid_is_limited_to_65535(shape):
    """An instance for each element: their number is one axis of the launch, which the device function takes apart."""
    options = intent.CompileOptions(passes={"block_axes": {"sizes": {"r": 1, "c": 1}}})
    x = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    y = np.zeros(shape, np.int32)
    intent.compile(many_rows, "cpu", options=options)(x, y)
    np.testing.assert_array_equal(y, x * 2)
    compilation = Compilation(many_rows, SM_90, {}, options)
    launch, _ = compilation.launch(generic_class(compilation.plan))
    with compilation.arena:
        (instances,) = launch.grid
        assert evaluate(instances, {"M": shape[0], "N": shape[1]}) == x.size
        source = print_triton(launch.function)
    assert source.count("tl.program_id(") == source.count("tl.program_id(0)") == 1


# --- positions


@intent.kernel
def gathered(x: I.In[I.f32, ("M",)], at: I.In[I.i64, ("N",)], y: I.Out[I.f32, ("N",)]):
    (M,) = x.shape
    for i in I.parallel(I.domain(0, at.shape[0])):
        p = I.cast(at[i], I.index)
        y[i] = x[p] if p >= 0 and p < M else -1.0


def test_an_index_of_64_bits_is_taken_and_one_outside_touches_nothing(everywhere):
    x = np.arange(5, dtype=np.float32)
    y = np.zeros(6, np.float32)
    everywhere(gathered, x, np.int64([4, 0, 5, -1, -6, 2**40]), y)
    assert y.tolist() == [4, 0, -1, -1, -1, -1]


@intent.kernel
def unguarded(x: I.In[I.f32, ("M",)], at: I.In[I.i64, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, at.shape[0])):
        y[i] = x[at[i]]


def test_an_index_that_is_not_proved_inside_is_refused():
    with pytest.raises(intent.CompileError) as caught:
        intent.compile(unguarded, target="cpu")
    assert caught.value.code == "E301"


@pytest.mark.parametrize("place", [5, -6, 2**31, -(2**31) - 1])
def test_a_known_index_outside_is_refused(place):
    @intent.kernel
    def element(x: I.In[I.f32, (5,)], y: I.Out[I.f32, (1,)]):
        y[0] = x[place]

    with pytest.raises(intent.CompileError) as caught:
        element.capture()
    assert caught.value.code == "E308"


@intent.kernel
def promised(x: I.In[I.f32, ("M",)], at: I.In[I.i64, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[I.assume_in_bounds(at[:], x)]


@pytest.mark.parametrize("outside", [5, -1, -6])
def test_an_index_that_breaks_its_promise_is_found(found, outside):
    """Negative ones too: what is known when running counts from 0 alone."""
    x, y = np.arange(5, dtype=np.float32), np.zeros(2, np.float32)
    assert set(found(promised, x, np.int64([0, outside]), y)) == {"E502", "E510"}


@intent.kernel
def last_column(m: I.In[I.f32, ("M", 1)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, (2,)]):
    for i in I.parallel(I.domain(0, m.shape[0])):
        y[i] = m[i, -1]
    whole = m[:, -1]
    z[-1] = I.reduce.sum(whole, axis=-1)
    z[-2] = I.reduce.max(m[:, :], axis=(-1, -2))


def test_minus_one_is_the_last(everywhere):
    y, z = np.zeros(4, np.float32), np.zeros(2, np.float32)
    everywhere(last_column, np.float32([[10], [20], [30], [40]]), y, z)
    assert y.tolist() == [10, 20, 30, 40]
    assert z.tolist() == [40, 100]


@intent.kernel
def end_of_a_scan(x: I.In[I.i32, ("M", 7)], y: I.Out[I.i32, ("M", 2)]):
    running = I.cumsum(x[:, :], axis=1)
    y[:, 0] = running[:, -1]
    y[:, 1] = running[:, -7]


def test_the_last_of_a_running_sum_is_the_sum(everywhere):
    x = np.arange(21, dtype=np.int32).reshape(3, 7)
    y = np.zeros((3, 2), np.int32)
    everywhere(end_of_a_scan, x, y)
    np.testing.assert_array_equal(y, np.stack([x.sum(1), x[:, 0]], 1))


# --- nothing, and extents of any size


@intent.kernel
def row_facts(x: I.In[I.f32, ("M", "N")], s: I.Out[I.f32, ("M",)], m: I.Out[I.f32, ("M",)], n: I.Out[I.f32, ("M",)]):
    s[:] = I.reduce.sum(x[:, :], axis=1)
    m[:] = I.reduce.max(x[:, :], axis=1)
    n[:] = I.reduce.min(x[:, :], axis=1)


@pytest.mark.parametrize("shape", [(0, 4), (5, 0), (0, 0), (1, 1), (3, 33)])
def test_a_reduction_of_nothing_is_the_identity(everywhere, shape):
    x = -np.abs(np.random.default_rng(0).standard_normal(shape)).astype(np.float32)
    s, m, n = (np.full(shape[0], 9, np.float32) for _ in range(3))
    everywhere(row_facts, x, s, m, n)
    np.testing.assert_allclose(s, x.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(m, x.max(1, initial=-np.inf))
    np.testing.assert_array_equal(n, x.min(1, initial=np.inf))


@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0)])
def test_a_gather_of_nothing_or_from_nothing(everywhere, sizes):
    x, at, y = np.ones(sizes[0], np.float32), np.zeros(sizes[1], np.int64), np.zeros(sizes[1], np.float32)
    everywhere(gathered, x, at, y)
    assert y.tolist() == [-1] * sizes[1]


@intent.kernel
def places(x: I.In[I.f32, ("A", "B", "C")], best: I.Out[I.index, ("A", "C")], least: I.Out[I.index, ("A", "C")]):
    _, high = I.arg_reduce.max(x[:, :, :], axis=1)
    _, low = I.arg_reduce.min(x[:, :, :], axis=1)
    best[:, :] = high
    least[:, :] = low


@pytest.mark.parametrize("shape", [(37, 101, 53), (3, 101, 5), (32, 20, 1), (1, 1, 3), (2, 64, 4)])
def test_places_of_extremes_along_a_middle_axis_of_any_extent(everywhere, shape):
    x = np.random.default_rng(1).integers(-9, 0, shape).astype(np.float32)  # below every padding, with ties
    best, least = np.zeros((2, shape[0], shape[2]), np.int64)
    everywhere(places, x, best, least)
    np.testing.assert_array_equal(best, x.argmax(1))
    np.testing.assert_array_equal(least, x.argmin(1))


@intent.kernel
def nonzero_places(x: I.In[I.i32, ("N",)], y: I.InOut[I.i64, ("N",)], count: I.Out[I.i64, ()]):
    found: I.index = 0
    for i in I.domain(0, x.shape[0]):
        if x[i] != 0 and found < y.shape[0]:
            y[found] = I.cast(i, I.i64)
            found = found + 1
    count[()] = I.cast(found, I.i64)


@intent.kernel
def repeated_places(r: I.In[I.i64, ("N",)], y: I.InOut[I.i64, ("M",)], count: I.Out[I.i64, ()]):
    M = y.shape[0]
    at: I.index = 0
    for i in I.domain(0, r.shape[0]):
        for _ in I.domain(0, I.maximum(I.cast(r[i], I.index), 0)):
            if at < M:
                y[at] = I.cast(i, I.i64)
            at = at + 1
    count[()] = I.cast(at, I.i64)


@pytest.mark.parametrize("values", [[], [0], [0, 0], [3], [0, 1, 0, 2]])
def test_as_many_places_as_there_are_none_too(everywhere, values):
    y, count = np.full(len(values), -1, np.int64), np.ones((), np.int64)
    everywhere(nonzero_places, np.int32(values), y, count)
    assert y[:count].tolist() == np.flatnonzero(values).tolist()
    y, count = np.full(9, -1, np.int64), np.ones((), np.int64)
    everywhere(repeated_places, np.int64(values), y, count)
    assert y[:count].tolist() == np.repeat(np.arange(len(values)), values).tolist()


def test_bases_and_offsets_past_2_to_the_31_add_up_in_64_bits():
    """Each view is small; where it begins in its memory is an address, and no part of an offset."""
    plan = Compilation(copied, SM_90, {}, intent.CompileOptions()).plan
    memory = np.empty(2**32, np.uint8)
    x = memory[2_779_057_358 : 2_779_057_358 + 6 * 2].view(np.float16).reshape(2, 3)
    assert classify(plan, bind(plan, (x, np.zeros((2, 3), np.float16))).facts()).index_bits == 32
    memory[2_779_057_358 : 2_779_057_358 + 12] = np.arange(6, dtype=np.float16).view(np.uint8)
    for target in ("reference", "cpu"):
        y = np.zeros((2, 3), np.float16)
        intent.compile(copied, target=target)(x, y)
        assert y.tolist() == [[0, 1, 2], [3, 4, 5]]


@intent.kernel
def gathered_with_fill(
    x: I.In[I.f32, ("N",)], at: I.In[I.index, ("M",)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, (3,)]
):
    p = at[:]
    inside = p >= 0 and p < x.shape[0]
    y[:] = I.gather(x, p, valid=inside, fill=-1.0)
    z[0] = I.reduce.max(I.gather(x, p, valid=inside, fill=0.0))
    z[1] = I.reduce.sum(I.gather(x, p, valid=inside, fill=-2.0))
    z[2] = I.reduce.min(I.gather(x, p, valid=inside, fill=1.0))


@pytest.mark.parametrize("outside", [[], [5], [5, -1, 7, 2**40]])
def test_a_lane_that_is_not_valid_gives_the_fill(everywhere, outside):
    """Also where a reduction would rather have its identity there."""
    x, at = np.float32([-3, -4, -5, -6, -7]), np.array([0, *outside, 3], np.int64)
    y, z = np.zeros(len(at), np.float32), np.zeros(3, np.float32)
    everywhere(gathered_with_fill, x, at, y, z)
    n = len(outside)
    assert y.tolist() == [-3, *[-1] * n, -6]
    assert z.tolist() == [0 if n else -3, -9 - 2 * n, -6]
