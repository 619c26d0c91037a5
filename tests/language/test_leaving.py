"""`while`, `break`, `continue` and `return`: what Python does, lane by lane."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.terms.core import find
from intent_np.terms.logical import Branch, Ordered
from tests.sources import executed

from .random_control import as_python, source

RNG = np.random.default_rng(29)


def compiled(text, name="k"):
    """A kernel from text."""
    return executed(text)[name]


@pytest.mark.parametrize("seed", range(80))
def test_random_programs_do_what_python_does(run, seed):
    text = source(seed)
    random = np.random.default_rng(seed)
    kernel = compiled(text)
    for n in (0, 1, 5):
        p = 7 if seed % 2 else 1
        x, y, z = random.integers(0, 9, (p, n)), random.integers(0, 9, (p, n)), np.full(p, -1)
        expected = {"x": x.copy(), "y": y.copy(), "z": z.copy()}
        as_python(text, **expected)
        run(kernel, x=x, y=y, z=z)
        assert z.tolist() == expected["z"].tolist(), text
        assert y.tolist() == expected["y"].tolist(), text


@intent.fn
def first_at_least(x, low, high, t):
    """Binary search: bounds that hold from iteration to iteration are found by the compiler."""
    while low < high:
        middle = (low + high) // 2
        if x[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low


@intent.kernel
def searched(x: I.In[I.i32, ("N",)], t: I.In[I.i32, ("M",)], y: I.Out[I.index, ("M",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, t.shape[0])):
        y[i] = first_at_least(x, 0, N, t[i])


@pytest.mark.parametrize("n", [0, 1, 33])
def test_a_binary_search_needs_no_promise(run, n):
    x, t = np.sort(RNG.integers(0, 50, n)).astype(np.int32), np.arange(-1, 52, dtype=np.int32)
    y = np.zeros(t.size, np.int64)
    run(searched, x=x, t=t, y=y)
    np.testing.assert_array_equal(y, np.searchsorted(x, t))


@intent.kernel
def collatz(x: I.In[I.i64, ("N",)], steps: I.Out[I.i64, ("N",)], path: I.InOut[I.i64, ("N", 8)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        v, n = x[i], 0
        while v != 1:
            if n < 8:
                path[i, I.minimum(I.maximum(I.cast(n, I.index), 0), 7)] = v
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            n += 1
        steps[i] = n


def test_each_lane_stops_on_its_own(run):
    x, steps, path = np.arange(1, 40), np.zeros(39, np.int64), np.zeros((39, 8), np.int64)
    program = run(collatz, x=x, steps=steps, path=path)
    for i, v in enumerate(x.tolist()):
        seen = []
        while v != 1:
            seen.append(v)
            v = v // 2 if v % 2 == 0 else 3 * v + 1
        assert steps[i] == len(seen)
        assert path[i].tolist() == (seen + [0] * 8)[:8]
    (loop,) = find(program, Ordered)
    assert loop.point is None
    assert loop.condition is not None


@intent.fn
def found(x, row, t):
    """Returns a record out of two loops; the first of them only reads."""
    for c in I.domain(0, x.shape[1]):
        if x[row, c] == t:
            return I.record(where=c, pair=(True, x[row, :]))
    for c in I.domain(0, x.shape[1]):
        x[row, c] = x[row, c] - 1
        if x[row, c] == t:
            return I.record(where=-c, pair=(True, x[row, :] + 100))
    return I.record(where=x.shape[1], pair=(False, x[row, :] * 0))


@intent.kernel
def find_rows(x: I.InOut[I.i32, ("M", "N")], t: I.i32, w: I.Out[I.index, ("M",)], y: I.Out[I.i32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        r = found(x, row, t)
        w[row] = r.where if r.pair[0] else -100
        y[row, :] = r.pair[1]


def test_a_helper_returns_a_record_out_of_its_loops(run):
    x0 = np.array([[5, 7, 7, 9], [8, 3, 8, 8], [1, 2, 3, 4], [7, 8, 8, 8]], np.int32)
    x, w, y = x0.copy(), np.zeros(4, np.int64), np.zeros((4, 4), np.int32)
    run(find_rows, x=x, t=7, w=w, y=y)
    np.testing.assert_array_equal(w, [1, 0, -100, 0])
    np.testing.assert_array_equal(x, [x0[0], [7, 3, 8, 8], x0[2] - 1, x0[3]])
    np.testing.assert_array_equal(y, [x0[0], [107, 103, 108, 108], [0] * 4, x0[3]])


@intent.kernel
def last_positive(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (2,)]):
    i, pair, r = 0, (0.0, 1), I.record(total=I.zeros((), I.f32), count=0)
    for i in range(x.shape[0]):
        if x[i] < 0:
            break
        pair = (pair[0] + x[i], pair[1] + 1)
        r = I.record(total=r.total + pair[0], count=r.count + i)
    y[0] = I.cast(i, I.f32) + pair[0] * 10
    y[1] = r.total[()] + I.cast(r.count, I.f32) + I.cast(pair[1], I.f32)


def test_the_target_and_products_are_carried(run):
    x, y = np.array([1, 2, 4, -1, 8], np.float32), np.zeros(2, np.float32)
    run(last_positive, x=x, y=y)
    np.testing.assert_array_equal(y, [3 + 70, 1 + 3 + 7 + (0 + 1 + 2) + 4])


@intent.kernel
def guarded_reads(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], z: I.Out[I.index, ()]):
    (N,) = x.shape
    i = 0
    while i < N and x[i] > 0:
        y[i] = x[i] if i + 1 == N or x[i + 1] > 0 else 0 - x[i]
        i += 1
    z[()] = i


@pytest.mark.parametrize("x", [[], [3], [0], [1, 2, 3], [1, 2, 0, 4]])
def test_a_connective_guards_what_stands_behind_it(run, x):
    x, y, z = np.array(x, np.int32), np.full(len(x), 9, np.int32), np.zeros((), np.int64)
    run(guarded_reads, x=x, y=y, z=z)
    n = next((i for i, v in enumerate(x) if v <= 0), len(x))
    expected = [v if i + 1 == len(x) or x[i + 1] > 0 else -v for i, v in enumerate(x[:n])]
    assert z == n
    assert y.tolist() == [*expected, *[9] * (len(x) - n)]


@intent.fn
def take(stack, top):
    """The next number of a stack, and one fewer: an effect in a condition."""
    stack[1] = stack[1] + 1
    top[0] = top[0] - 1
    return top[0]


@intent.kernel
def effects_in_conditions(stack: I.InOut[I.i32, (2,)], top: I.InOut[I.i32, (1,)], flag: I.bool):
    while take(stack, top) > 0:
        stack[0] = stack[0] * 2 + top[0]
        if stack[0] > 100:
            return
    last = take(stack, top) if flag else 7
    stack[0] = -last


@pytest.mark.parametrize(
    ("n", "flag", "expected"), [(4, True, [2, 5, -2]), (4, False, [-7, 4, 0]), (99, True, [296, 2, 97])]
)
def test_conditions_may_have_effects(run, n, flag, expected):
    stack, top = np.array([0, 0], np.int32), np.array([n], np.int32)
    run(effects_in_conditions, stack=stack, top=top, flag=flag)
    s, t, calls = 0, n, 0
    while True:
        t, calls = t - 1, calls + 1
        if t <= 0:
            break
        s = s * 2 + t
        if s > 100:
            break
    if t <= 0:
        last = 7
        if flag:
            t, calls = t - 1, calls + 1
            last = t
        s = -last
    assert [*stack.tolist(), top[0]] == [s, calls, t]


@intent.kernel
def compile_time(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], LIMIT: I.Constexpr[int] = 2):
    total: I.f32 = 0.0
    for i, factor in ((0, 1.0), (1, 2.0), (2, 4.0), (3, 8.0)):
        if i == LIMIT:
            break
        if factor > 1e9 or LIMIT < 0:
            continue
        total += factor
    while LIMIT > 100:
        total = 0.0
    if LIMIT == 3:
        y[:] = x[:] + total
        return
    y[:] = x[:] - total


@pytest.mark.parametrize(("limit", "total"), [(0, 0), (2, -3), (3, 7), (4, -15)])
def test_what_is_known_is_decided_now(run, limit, total):
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    program = run(compile_time, x=x, y=y, LIMIT=limit)
    np.testing.assert_array_equal(y, x + total)
    assert not list(find(program, (Ordered, Branch)))


@intent.kernel
def old_value(x: I.InOut[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        before = x[i]
        inside = 0
        if before > 2:
            x[i] = before * 2
            inside = x[i]
        else:
            inside = x[i]
            x[i] = inside + 5
        x[i] = x[i] + 1
        y[i] = before
        z[i] = inside


def test_a_read_in_a_branch_stays_where_it_stands(run):
    x0 = np.arange(6, dtype=np.int32)
    x, y, z = x0.copy(), x0 * 0, x0 * 0
    run(old_value, x=x, y=y, z=z)
    np.testing.assert_array_equal(x, np.where(x0 > 2, x0 * 2, x0 + 5) + 1)
    np.testing.assert_array_equal(y, x0)
    np.testing.assert_array_equal(z, np.where(x0 > 2, x0 * 2, x0))


@intent.kernel
def exchanged_or_not(flag: I.In[I.i64, (1,)], y: I.InOut[I.i64, ("N",)], z: I.Out[I.i64, (1,)]):
    b = I.cast(5, I.i64)
    if flag[0] == 1:
        b = b + 1
    else:
        for i in range(y.shape[0]):
            b = b + I.atomic.exchange(y, i, b)
    z[0] = b


def test_a_loop_of_a_branch_that_is_not_taken_exchanges_nothing(run):
    for flag, kept, found in ((1, [8, 8], 6), (0, [5, 13], 21)):
        y, z = np.full(2, 8), np.zeros(1, np.int64)
        run(exchanged_or_not, flag=np.array([flag]), y=y, z=z)
        assert (y.tolist(), z.tolist()) == (kept, [found])
