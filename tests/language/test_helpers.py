"""Helpers: typed by the call, and called in the program."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.terms.core import find
from intent_np.terms.logical import Call, Perform, Procedure

RNG = np.random.default_rng(13)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@intent.fn
def scaled(v, factor=2.0, *, shift: float = 0.0):
    """v * factor + shift, and its sum."""
    result = v * factor + shift
    return result, I.reduce.sum(result)


@intent.kernel
def calls(x: I.In[I.f32, ("M", "N")], h: I.In[I.f16, ("N",)], y: I.Out[I.f32, ("M", "N")], s: I.Out[I.f32, (3,)]):
    a, total = scaled(x[:, :], shift=1.0)
    y[:, :] = a
    s[0] = total
    s[1] = scaled(h[:], factor=0.5)[1]
    s[2] = scaled(x[:, :], shift=1.0)[1]


def test_defaults_keywords_and_several_results(run):
    x, h, y, s = normal(3, 5), normal(5).astype(np.float16), np.zeros((3, 5), np.float32), np.zeros(3, np.float32)
    program = run(calls, x=x, h=h, y=y, s=s)
    np.testing.assert_array_equal(y, x * 2 + 1)
    np.testing.assert_allclose(s, [y.sum(), (h * np.float16(0.5)).astype("f4").sum(), y.sum()], rtol=1e-5, atol=1e-5)
    assert len({p.formals[0].type for p in find(program, Procedure)}) == 2  # one for each type of argument
    assert sorted(c.position for c in set(find(program, Call))) == [0, 1, 1]


@intent.fn
def magnitude(v, negate):
    if negate:
        return -v
    if v > 0.0:
        return v
    else:
        return -v


@intent.fn
def outer_helper(v):
    return magnitude(v, False) + magnitude(v * 2, True)


@intent.kernel
def nested(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = outer_helper(x[i])


def test_early_returns_merge_and_helpers_call_helpers(run):
    x, y = normal(20), np.zeros(20, np.float32)
    program = run(nested, x=x, y=y)
    np.testing.assert_array_equal(y, np.abs(x) - 2 * x)
    assert {p.name for p in find(program, Procedure)} == {"outer_helper", "magnitude"}


@intent.fn
def store_row(target, row, v):
    target[row, :] = v


@intent.fn
def row_of(source, row):
    return source[row, :]


@intent.fn
def columns_from(axis, begin):
    return axis[begin:]


@intent.kernel
def memory(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.index, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        store_row(y, row, row_of(x, row) + 1)
        if row < N:
            z[row] = I.reduce.sum(I.indices(columns_from(columns, row)))
        else:
            z[row] = 0


def test_helpers_that_touch_memory_are_called(run):
    x, y, z = normal(4, 6), np.zeros((4, 6), np.float32), np.zeros(4, np.int64)
    program = run(memory, x=x, y=y, z=z)
    np.testing.assert_array_equal(y, x + 1)
    np.testing.assert_array_equal(z, [np.arange(r, 6).sum() for r in range(4)])
    assert [c.procedure.name for c in find(program, Call)] == ["row_of"]
    assert [c.procedure.name for c in find(program, Perform)] == ["store_row"]


@intent.fn
def half(a, b):
    return I.record(low=I.minimum(a, b), high=I.maximum(a, b))


@intent.fn
def widened(pair, by):
    return I.record(low=pair.low - by, high=pair.high + by)


@intent.kernel
def records(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("N",)], y: I.Out[I.f32, (2, "N")]):
    pair = widened(half(x[:], z[:]), 1.0)
    low, _ = pair
    y[0, :] = low
    y[1, :] = pair.high


def test_records_go_in_and_out(run):
    x, z, y = normal(9), normal(9), np.zeros((2, 9), np.float32)
    program = run(records, x=x, z=z, y=y)
    np.testing.assert_array_equal(y, np.stack([np.minimum(x, z) - 1, np.maximum(x, z) + 1]))
    assert len(set(find(program, Call))) == 4  # two of two components


@pytest.mark.parametrize("k", [0, 3])
def test_constants_specialise_a_helper(run, k):
    @intent.fn
    def power(v, times):
        result = v
        for _ in range(times):
            result = result * v
        return result

    @intent.kernel
    def kernel(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], K: I.Constexpr[int]):
        y[:] = power(x[:], K)

    x, y = normal(9), np.zeros(9, np.float32)
    run(kernel, x=x, y=y, K=k)
    np.testing.assert_array_equal(y, x if k == 0 else x * x * x * x)


@intent.fn
def neighbours(pair, step=1):
    """Coordinates in and out: each component keeps what is known of it."""
    low, high = pair
    return I.record(here=low, there=high + step - 1), low < high


@intent.fn
def corners(rows, columns, v):
    i, j = I.indices(rows), I.indices(columns)
    return I.record(sum=i[:, None] * 10 + j[None, :], row=i, scaled=v * 2.0)


@intent.kernel
def provenance(x: I.In[I.f32, ("N",)], y: I.InOut[I.index, ("N",)], z: I.Out[I.index, ("N", "N")]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        where, ordered = neighbours((i, i + 1))
        if ordered and where.there < N:
            y[where.here] = where.there
    c = corners(I.domain(0, N), I.domain(0, N), x[:])
    z[:, :] = c.sum + I.transpose(c.sum) * 100 + I.cast(c.scaled, I.index)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_coordinates_keep_their_provenance_through_helpers(run, n):
    x, y, z = np.arange(n, dtype=np.float32), np.full(n, -1), np.zeros((n, n), np.int64)
    program = run(provenance, x=x, y=y, z=z)
    assert y.tolist() == [*range(1, n), *([-1] * min(n, 1))]
    i = np.arange(n)
    s = i[:, None] * 10 + i
    np.testing.assert_array_equal(z, s + s.T * 100 + i * 2)
    assert list(find(program, Call))


@intent.fn
def push(buffer, length, value):
    """A write to a view that is passed, and a new length: where the call site allows effects."""
    if length[()] < buffer.shape[0]:
        buffer[I.minimum(I.maximum(length[()], 0), buffer.shape[0] - 1)] = value
        length[()] = length[()] + 1
        return True
    return False


@intent.kernel
def pushes(x: I.In[I.i32, ("N",)], stack: I.InOut[I.i32, (4,)], n: I.InOut[I.index, ()], lost: I.Out[I.i32, ()]):
    dropped: I.i32 = 0
    for i in I.domain(0, x.shape[0]):
        if x[i] > 0 and not push(stack, n, x[i]):
            dropped += x[i]
    lost[()] = dropped


def test_effects_of_helpers_happen_where_they_are_called(run):
    x, stack = np.array([3, -1, 4, 1, 0, 5, 9, 2], np.int32), np.zeros(4, np.int32)
    n, lost = np.zeros((), np.int64), np.zeros((), np.int32)
    run(pushes, x=x, stack=stack, n=n, lost=lost)
    assert (stack.tolist(), int(n), int(lost)) == ([3, 4, 1, 5], 4, 11)
