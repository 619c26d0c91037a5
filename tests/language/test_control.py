"""Branches, loops and their carries; reads that a later write must not change."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.terms.core import find
from intent_np.terms.logical import Branch, Ordered, Parallel

RNG = np.random.default_rng(11)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@intent.kernel
def branches(x: I.In[I.f32, ("N",)], t: I.f32, y: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    sign: I.f32 = 1.0
    if t <= 0:
        sign = -sign
    for i in I.parallel(I.domain(0, N)):
        v = x[i]
        if v > t:
            y[i] = v * sign
        elif v < -t:
            y[i] = 7
        else:
            pass


@pytest.mark.parametrize("t", [0.5, -0.25, 100.0])
def test_runtime_branches_merge_names_and_guard_writes(run, t):
    x, y = normal(60), np.full(60, np.nan, np.float32)
    program = run(branches, x=x, t=t, y=y)
    s = np.float32(1 if t > 0 else -1)
    np.testing.assert_array_equal(y, np.where(x > np.float32(t), x * s, np.where(x < -np.float32(t), 7, np.nan)))
    assert len(list(find(program, Branch))) == 2


@intent.kernel
def pure_branch(x: I.In[I.f32, ("M", "N")], flag: I.bool, y: I.Out[I.f32, ("M", "N")]):
    v = x[:, :]
    pair = (v, 2.0)
    if flag:
        v = v * 2
        pair = (v + 1, 3.0)
    y[:, :] = v + pair[0] * pair[1]


@pytest.mark.parametrize("flag", [False, True])
def test_a_pure_branch_is_a_select(run, flag):
    x, y = normal(3, 4), np.zeros((3, 4), np.float32)
    program = run(pure_branch, x=x, flag=flag, y=y)
    assert not list(find(program, Branch))
    np.testing.assert_array_equal(y, x * 2 + (x * 2 + 1) * 3 if flag else x + x * 2)


@intent.kernel
def parallel_pairs(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    M, N = x.shape
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        if i == j:
            continue
        y[j, i] = x[i, j]


@intent.kernel
def parallel_nest(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    M, N = x.shape
    rows, columns = I.domain(0, M), I.domain(0, N)
    for i in I.parallel(rows):
        for j in I.parallel(columns):
            if i == j:
                pass
            else:
                y[j, i] = x[i, j]


@pytest.mark.parametrize("kernel", [parallel_pairs, parallel_nest])
@pytest.mark.parametrize("shape", [(4, 6), (1, 1), (0, 3), (70, 50)])
def test_parallel_points(run, kernel, shape):
    x, y = normal(*shape), np.full(shape[::-1], 9, np.float32)
    program = run(kernel, x=x, y=y)
    np.testing.assert_array_equal(y, np.where(np.eye(*shape[::-1], dtype=bool), 9, x.T))
    assert list(find(program, Parallel))


@intent.kernel
def carries(x: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)], best: I.Out[I.index, ("M",)], n: I.Out[I.i64, ()]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        acc, where, largest = 0.0, 0, x[row, 0] if N > 0 else 0.0
        for c in range(N):
            v = x[row, c]
            acc += v
            if v > largest:
                where = c
                largest = v
        total[row] = acc
        best[row] = where
    count = 0
    for _ in range(3, 10, 3):
        count = count + 1
    n[()] = count


@pytest.mark.parametrize("shape", [(5, 7), (3, 1), (4, 0)])
def test_ordered_loops_carry_what_they_change(run, shape):
    x = normal(*shape)
    total, best, n = np.zeros(shape[0], np.float32), np.zeros(shape[0], np.int64), np.zeros((), np.int64)
    program = run(carries, x=x, total=total, best=best, n=n)
    np.testing.assert_array_equal(total, np.cumsum(x, 1, dtype=np.float32)[:, -1] if shape[1] else 0)
    np.testing.assert_array_equal(best, x.argmax(1) if shape[1] else 0)
    assert n == 3
    kinds = [tuple(str(s.dtype) for s in loop.states) for loop in find(program, Ordered)]
    assert kinds == [("f32", "index", "f32"), ("i64",)]  # literals take what the loop makes of them


@intent.kernel
def tensor_carry(x: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, (2,)]):
    K, N = x.shape
    pair = (I.zeros(N, I.f32), I.full((N,), -1, I.f32))
    for i, k in enumerate(I.domain(0, K)):
        temporary = x[k, :] * I.cast(i, I.f32)
        pair = (pair[0] + temporary, I.maximum(pair[1], temporary))
    y[:] = pair[0] + pair[1]
    nested: I.f32 = 0.0
    for a in range(2):
        for b in range(a, 4):
            nested = nested * 2 + I.cast(b, I.f32)
        z[a] = nested


def test_tensors_and_tuples_are_carried(run):
    x, y, z = normal(5, 9), np.zeros(9, np.float32), np.zeros(2, np.float32)
    run(tensor_carry, x=x, y=y, z=z)
    weighted = x * np.arange(5, dtype=np.float32)[:, None]
    np.testing.assert_allclose(y, weighted.sum(0) + np.maximum(weighted.max(0), -1), rtol=1e-5, atol=1e-5)
    expected, nested = [], 0.0
    for a in range(2):
        for b in range(a, 4):
            nested = nested * 2 + b
        expected.append(nested)
    np.testing.assert_array_equal(z, expected)


@intent.kernel
def mixed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for i in I.parallel(I.domain(0, M)):
        if i % 2 == 0:
            acc: I.f32 = 0.0
            for c in columns[0 : I.minimum(i, N)]:
                if x[i, c] > 0:
                    acc += x[i, c]
                else:
                    continue
            for j in I.parallel(columns):
                y[i, j] = acc + x[i, j]
        else:
            acc = I.reduce.max(x[i, :])
            y[i, :] = acc
        z[i] = acc


@pytest.mark.parametrize("shape", [(9, 5), (4, 7), (3, 0), (1, 1)])
def test_loops_under_conditions_and_conditions_in_loops(run, shape):
    x, y, z = normal(*shape), np.zeros(shape, np.float32), np.zeros(shape[0], np.float32)
    run(mixed, x=x, y=y, z=z)
    for i, row in enumerate(x):
        acc = np.cumsum(np.append(np.float32(0), row[: min(i, shape[1])].clip(0)), dtype=np.float32)[-1]
        acc = acc if i % 2 == 0 else row.max(initial=-np.inf)
        np.testing.assert_array_equal(y[i], acc + row if i % 2 == 0 else acc)
        assert z[i] == acc


@intent.kernel
def growing(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (4, 2)]):
    axis = I.domain(0, x.shape[0])
    for i in I.parallel(I.domain(0, 2)):
        n = i
        for k in range(4):
            part = axis[0 : I.minimum(I.maximum(n, 0), I.end(axis))]
            y[k, i] = I.reduce.sum(x[part])
            n = n * 2 + 1


def test_a_carry_may_be_an_extent(run):
    x, y = RNG.integers(0, 9, 10).astype(np.float32), np.zeros((4, 2), np.float32)
    run(growing, x=x, y=y)
    for i in range(2):
        n = i
        for k in range(4):
            assert y[k, i] == x[:n].sum()
            n = n * 2 + 1


@intent.kernel
def unrolled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (3, "N")]):
    for i, factor in ((0, 1.0), (1, 2.0), (2, 4.0)):
        y[i, :] = x[:] * factor


def test_a_tuple_is_unrolled(run):
    x, y = normal(5), np.zeros((3, 5), np.float32)
    program = run(unrolled, x=x, y=y)
    np.testing.assert_array_equal(y, np.stack([x, x * 2, x * 4]))
    assert not list(find(program, Ordered))


# ---- order of reads and writes


@intent.kernel
def overtaken(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    before = x[:]
    x[:] = before * 2
    after = x[:]
    x[:] = after + before
    y[:] = before


def test_a_read_stays_where_it_stands(run):
    x0 = normal(6)
    x, y = x0.copy(), np.zeros(6, np.float32)
    run(overtaken, x=x, y=y)
    np.testing.assert_array_equal(x, x0 * 2 + x0)
    np.testing.assert_array_equal(y, x0)


@intent.kernel
def prefix(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    (N,) = x.shape
    first = I.reduce.sum(x[:])
    for i in I.domain(1, N):
        x[i] += x[i - 1]
    y[()] = first + I.reduce.sum(x[:])


def test_an_iteration_reads_what_earlier_ones_wrote(run):
    x0 = RNG.integers(0, 9, 12).astype(np.float32)
    x, y = x0.copy(), np.zeros((), np.float32)
    run(prefix, x=x, y=y)
    np.testing.assert_array_equal(x, np.cumsum(x0))
    assert y == x0.sum() + np.cumsum(x0).sum()


@intent.kernel
def same_place(x: I.InOut[I.f32, (4,)], y: I.Out[I.f32, (2,)]):
    outside = x[0]
    for _ in range(3):
        inside = x[0]
        x[0] = inside + 1
    y[0] = outside
    y[1] = x[0]


def test_the_same_element_before_and_inside_a_loop(run):
    x, y = np.zeros(4, np.float32), np.zeros(2, np.float32)
    run(same_place, x=x, y=y)
    np.testing.assert_array_equal(x, [3, 0, 0, 0])
    np.testing.assert_array_equal(y, [0, 3])


@intent.kernel
def rows_twice(x: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        x[row, columns] = v - I.reduce.max(v)
        x[row, columns] += 1.0
    for row in I.parallel(I.domain(0, M)):
        y[row] = I.reduce.sum(x[row, columns])


def test_statements_see_what_earlier_ones_wrote(run):
    x0 = normal(40, 9)
    x, y = x0.copy(), np.zeros(40, np.float32)
    run(rows_twice, x=x, y=y)
    np.testing.assert_array_equal(x, x0 - x0.max(1, keepdims=True) + 1)
    np.testing.assert_allclose(y, x.sum(1), rtol=1e-6, atol=1e-5)
