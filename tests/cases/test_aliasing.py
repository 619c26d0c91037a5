"""The order of statements, and views of one memory: what was read stays what it was, and a call happens once."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(47)


@intent.kernel
def rewritten(x: I.In[I.f32, ("M", "N")], t: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for r in I.parallel(I.domain(0, M)):
        for c in I.domain(0, N):
            t[r, c] = x[r, c] * 2
            t[r, c] = t[r, c] + 1
            y[r, c] = t[r, c]


@pytest.mark.parametrize("shape", [(1, 1), (3, 129), (17, 33)])
def test_a_load_behind_a_store_sees_it(everywhere, shape):
    x, t, y = (
        RNG.integers(-99, 99, shape).astype(np.float32),
        np.full(shape, 7, np.float32),
        np.zeros(shape, np.float32),
    )
    everywhere(rewritten, x, t, y)
    np.testing.assert_array_equal(y, x * 2 + 1)
    np.testing.assert_array_equal(t, y)


@intent.kernel
def prefixes(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    (N,) = x.shape
    for i in I.domain(0, N):
        y[i] = x[i] + (y[i - 1] if i > 0 else 0)


def test_an_iteration_reads_what_the_one_before_wrote(everywhere):
    x = RNG.integers(-9, 9, 40).astype(np.int32)
    y = np.full(40, 99, np.int32)
    everywhere(prefixes, x, y)
    np.testing.assert_array_equal(y, np.cumsum(x))


@intent.kernel
def counted_up(y: I.InOut[I.i32, ("N",)], limit: I.i32):
    (N,) = y.shape
    for i in I.domain(0, N):
        if I.cast(i, I.i32) < limit:
            y[i] = I.cast(i, I.i32) + 1


@pytest.mark.parametrize("limit", [17, 5, 0])
def test_a_store_under_a_condition_is_done_where_it_holds(everywhere, limit):
    y = np.full(17, -1, np.int32)
    everywhere(counted_up, y, limit)
    assert y.tolist() == [i + 1 if i < limit else -1 for i in range(17)]


@intent.kernel
def added_in_place(x: I.InOut[I.i32, ("N",)]):
    x[:] = x[:] + 1


def test_a_call_happens_once(everywhere):
    x = np.zeros(1000, np.int32)
    everywhere(added_in_place, x)
    assert x.tolist() == [1] * 1000


@intent.kernel
def before_and_after(x: I.InOut[I.i32, ("M", 8)], y: I.Out[I.i32, ("M", 8)]):
    old = x[:, :] * 2
    part = old + 4
    x[:, 2:5] = I.zeros((x.shape[0], 3), I.i32) + 2
    y[:, :] = part


def test_a_value_is_what_it_was_when_it_was_read(everywhere):
    x = RNG.integers(-9, 9, (5, 8)).astype(np.int32)
    y, was = np.zeros((5, 8), np.int32), x.copy()
    everywhere(before_and_after, x, y)
    np.testing.assert_array_equal(y, was * 2 + 4)
    was[:, 2:5] = 2
    np.testing.assert_array_equal(x, was)


@intent.kernel
def bits_before_and_after(x: I.InOut[I.f32, ("M", 8)], y: I.Out[I.i32, ("M", 8)]):
    bits = I.bitcast(x[:, :], I.i32) * 2
    bits -= -4
    x[:, 2:5] = 2.0
    y[:, :] = bits


def test_a_value_of_other_bits_is_what_it_was_too(everywhere):
    x = RNG.standard_normal((5, 8)).astype(np.float32)
    y, was = np.zeros((5, 8), np.int32), x.copy()
    everywhere(bits_before_and_after, x, y)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, was.view(np.int32) * np.int32(2) + np.int32(4))
    was[:, 2:5] = 2
    np.testing.assert_array_equal(x, was)


@intent.kernel
def doubled(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = x[:] * 2


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("apart", [0, 3, -3, 20])
def test_an_input_that_overlaps_an_output_keeps_its_values(target, apart):
    memory = np.arange(60, dtype=np.int32)
    x, y = memory[20:40], memory[20 + apart : 40 + apart]
    was = x.copy()
    intent.compile(doubled, target=target)(x, y)
    np.testing.assert_array_equal(y, was * 2)


@intent.kernel
def two_outputs(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    y[:] = x[:]
    z[:] = x[:] + 1


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_outputs_that_overlap_are_refused_and_nothing_is_written(target):
    memory = np.full(30, 7, np.int32)
    with pytest.raises(intent.CallError):
        intent.compile(two_outputs, target=target)(np.arange(10, dtype=np.int32), memory[:10], memory[9:19])
    assert (memory == 7).all()
    intent.compile(two_outputs, target=target)(np.arange(10, dtype=np.int32), memory[:10], memory[10:20])
    assert memory[:20].tolist() == [*range(10), *range(1, 11)]


def test_an_input_is_never_written(everywhere):
    x, y = np.arange(9, dtype=np.int32), np.zeros(9, np.int32)
    x.flags.writeable = False
    everywhere(doubled, x, y)
    assert y.tolist() == list(range(0, 18, 2))


@intent.kernel
def half_filled(x: I.In[I.f32, ("M", 8)], y: I.Out[I.f32, ("M", 8)], last: I.Out[I.f32, ("M",)]):
    for r in I.parallel(I.domain(0, x.shape[0])):
        b = I.buffer((8,), I.f32)
        b[:] = x[r, :]
        b[4:] = I.zeros((4,), I.f32) - 1.0
        y[r, :] = b[:]
        b[:] = I.cumsum(x[r, :], axis=0)
        last[r] = b[-1]


def test_a_part_of_a_buffer_that_is_filled_behind_a_copy_stays_filled(everywhere):
    x = RNG.integers(-9, 9, (6, 8)).astype(np.float32)
    y, last = np.zeros((6, 8), np.float32), np.zeros(6, np.float32)
    everywhere(half_filled, x, y, last)
    np.testing.assert_array_equal(y[:, :4], x[:, :4])
    assert (y[:, 4:] == -1).all()
    np.testing.assert_array_equal(last, x.sum(1))
