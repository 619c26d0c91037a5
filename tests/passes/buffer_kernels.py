"""Kernels with memory of their own, each with arguments: what the tests of every level and of every backend run."""

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(7)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {}
"""By name: a kernel, and its launch arguments in order."""


def case(**arguments: Any) -> Any:
    """Declare a kernel with its arguments."""

    def declare(kernel: Any) -> Any:
        CASES[kernel.name] = kernel, arguments
        return kernel

    return declare


def few(*shape: int, dtype: Any = np.float32) -> Any:
    """Small integers: sums and products of a few are exact."""
    return RNG.integers(-3, 4, shape).astype(dtype)


def blank(*shape: int, dtype: Any = np.float32) -> Any:
    return np.full(shape, 77, dtype)


# ---- one for each point


@case(x=few(5, 37), y=blank(5, 37))
@intent.kernel
def turned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        b = I.buffer((N,), I.f32)
        b[columns] = x[row, columns] * 2.0
        y[row, columns] = b[N - 1 - I.indices(columns)]


@case(x=few(6, 4, dtype=np.int32), y=blank(6, 4, dtype=np.int32))
@intent.kernel
def prefixes(x: I.In[I.i32, ("M", 4)], y: I.Out[I.i32, ("M", 4)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        mine = I.buffer((4,), I.i32)
        mine[:] = x[row, :]
        for j in range(1, 4):
            mine[j] = mine[j] + mine[j - 1]
        y[row, :] = mine[:]


@case(x=few(3, 9, 5), y=blank(3, 9, 5))
@intent.kernel
def two_points(x: I.In[I.f32, ("A", "B", 5)], y: I.Out[I.f32, ("A", "B", 5)]):
    A, B, _ = x.shape
    for a in I.parallel(I.domain(0, A)):
        whole = I.buffer((B, 5), I.f32)
        whole[:, :] = x[a, :, :] * 2.0
        for b in I.parallel(I.domain(0, B)):
            own = I.buffer((5,), I.f32, init=1.0)
            for i in range(4):
                own[4 - i] = whole[b, i] + own[3 - i]
            y[a, b, :] = own[:] + whole[b, I.indices(I.domain(0, 5)) // 2]


@case(x=few(50), y=blank(50))
@intent.kernel
def every_third_point(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(2, N, 3)):
        b = I.buffer((3,), I.f32, init=-1.0)
        for k in range(3):
            if i + k < N:
                b[2 - k] = x[i + k]
        y[i] = b[0] * 4.0 + b[1] * 2.0 + b[2]


@case(x=few(7, 40), start=np.array([0, 0, 5, 9, 30, 39, 40], np.int32), y=blank(7, 40))
@intent.kernel
def from_where_memory_says(x: I.In[I.f32, ("M", "N")], start: I.In[I.i32, ("M",)], y: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        begin = I.clamp(I.cast(start[row], I.index), 0, N)
        for c in I.parallel(columns[begin:]):
            pair = I.buffer((2,), I.f32)
            pair[0] = x[row, c]
            pair[1] = 1.0
            for _ in range(3):
                pair[0] = pair[0] + pair[1]
                pair[1] = pair[0] - pair[1]
            y[row, c] = pair[0]


@case(x=few(11, dtype=np.int32), n=6, y=blank(11, dtype=np.int32))
@intent.kernel
def as_long_as_asked(x: I.In[I.i32, ("N",)], n: I.index, y: I.Out[I.i32, ("N",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        b = I.buffer((I.maximum(n, 2),), I.i32, init=0)
        b[0] = x[p]
        b[1] = 1
        for k in I.domain(2, I.maximum(n, 2)):
            b[k] = b[k - 1] * 3 - b[k - 2]
        y[p] = I.reduce.sum(b[:])


# ---- one for each iteration, and one for all


@case(x=few(4, 6, 16), y=blank(4, 6, 16))
@intent.kernel
def one_an_iteration(x: I.In[I.f32, ("M", "N", 16)], y: I.Out[I.f32, ("M", "N", 16)]):
    M, N, _ = x.shape
    for row in I.parallel(I.domain(0, M)):
        for j in I.domain(0, N):
            b = I.buffer((16,), I.f32)
            b[:] = x[row, j, :] + I.cast(j, I.f32)
            y[row, j, :] = b[15 - I.indices(I.domain(0, 16))]


@case(x=few(5, 30, dtype=np.int32), z=blank(8, dtype=np.int32), y=blank(5, 8, dtype=np.int32))
@intent.kernel
def counted(x: I.In[I.i32, ("M", "N")], z: I.Out[I.i32, (8,)], y: I.Out[I.i32, ("M", 8)]):
    M, _ = x.shape
    every = I.buffer((8,), I.i32, init=0)
    for row in I.parallel(I.domain(0, M)):
        mine = I.buffer((8,), I.i32, init=0)
        I.atomic.add(mine, x[row, :] % 8, 1)
        y[row, :] = mine[:] * 2
        I.atomic.add(every, x[row, :] % 8, 1)
    z[:] = every[:]


@case(x=few(23), y=blank(23), z=blank(23))
@intent.kernel
def kept_between_loops(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    kept = I.buffer((N, 2), I.f32)
    for i in I.parallel(I.domain(0, N)):
        kept[i, 0] = x[i]
        kept[i, 1] = x[i] * x[i]
    for i in I.parallel(I.domain(0, N)):
        y[i] = kept[i, 1] - kept[i, 0]
    z[:] = kept[N - 1 - I.indices(I.domain(0, N)), 0]


@case(x=few(29), y=blank(29))
@intent.kernel
def turned_around(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    kept = I.buffer((N,), I.f32)
    for i in I.domain(0, N):
        kept[N - 1 - i] = x[i]
    y[:] = kept[:]


@case(x=few(9, 21), w=few(21, 10), y=blank(9, 9))
@intent.kernel
def product_kept(x: I.In[I.f32, ("M", "K")], w: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "M")]):
    (M, _), (_, N) = x.shape, w.shape
    b = I.buffer((M, N), I.f32)
    b[:, :] = I.matmul(x[:, :], w[:, :], acc_dtype=I.f32)
    y[:, :] = I.matmul(b[:, :], b[:, :], transpose_rhs=True, acc_dtype=I.f32)


# ---- what a program does with one


@case(x=few(6, 9), y=blank(6, 9), moves=blank(6, dtype=np.int32))
@intent.kernel
def insertion_sort(x: I.In[I.f32, ("M", 9)], y: I.Out[I.f32, ("M", 9)], moves: I.Out[I.i32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        b = I.buffer((10,), I.f32, init=-1000.0)
        count = I.cast(0, I.i32)
        for i in range(9):
            v = x[row, i]
            at = I.cast(i, I.i32)
            while at > 0 and b[I.assume_in_bounds(I.cast(at - 1, I.index), b)] > v:
                place = I.assume_in_bounds(I.cast(at, I.index), b)
                b[place] = b[I.assume_in_bounds(place - 1, b)]
                at = at - 1
                count = count + 1
            b[I.assume_in_bounds(I.cast(at, I.index), b)] = v
        y[row, :] = b[:9]
        moves[row] = count


@case(left=np.array([1, 3, 5, -1, -1, -1, -1], np.int32), right=np.array([2, 4, 6, -1, -1, -1, -1], np.int32),
      value=few(7), total=blank(3))  # fmt: skip
@intent.kernel
def walked_with_a_stack(
    left: I.In[I.i32, (7,)], right: I.In[I.i32, (7,)], value: I.In[I.f32, (7,)], total: I.Out[I.f32, (3,)]
):
    for root in I.parallel(I.domain(0, 3)):
        stack = I.buffer((8,), I.i32)
        stack[0] = I.cast(root, I.i32)
        top, found = I.cast(1, I.i32), I.cast(0.0, I.f32)
        while top > 0:
            top = top - 1
            node = stack[I.assume_in_bounds(I.cast(top, I.index), stack)]
            at = I.assume_in_bounds(I.cast(node, I.index), value)
            found = found * 2.0 + value[at]
            if left[at] >= 0:
                stack[I.assume_in_bounds(I.cast(top, I.index), stack)] = left[at]
                stack[I.assume_in_bounds(I.cast(top + 1, I.index), stack)] = right[at]
                top = top + 2
        total[root] = found


@case(x=few(5, 12), at=np.stack([np.random.default_rng(i).permutation(12) for i in range(5)]), y=blank(5, 12))
@intent.kernel
def scattered_then_combined(x: I.In[I.f32, ("M", 12)], at: I.In[I.index, ("M", 12)], y: I.Out[I.f32, ("M", 12)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        b = I.buffer((12,), I.f32)
        I.scatter_unique(b, I.assume_unique(I.assume_in_bounds(at[row, :], b)), x[row, :])
        I.scatter_reduce(b, I.assume_in_bounds(at[row, :] // 2, b), x[row, :], I.maximum, valid=at[row, :] >= 0)
        y[row, :] = I.gather(b, 11 - I.indices(I.domain(0, 12)), valid=x[row, :] > 0.0, fill=9.0)


@case(x=few(5, 12), y=blank(5, 12), z=blank(5, 12, dtype=np.float16), t=blank(5, 12, dtype=np.bool_))
@intent.kernel
def of_several_dtypes(
    x: I.In[I.f32, ("M", 12)], y: I.Out[I.f32, ("M", 12)], z: I.Out[I.f16, ("M", 12)], t: I.Out[I.bool, ("M", 12)]
):
    back = 11 - I.indices(I.domain(0, 12))
    for row in I.parallel(I.domain(0, x.shape[0])):
        halves, signs = I.buffer((12,), I.f16), I.buffer((12,), I.bool)
        places = I.buffer((12,), I.index)
        halves[:] = I.cast(x[row, :] * 0.5, I.f16)
        signs[:] = x[row, :] > 1.0
        places[:] = back
        z[row, :] = halves[back]
        t[row, :] = signs[back]
        y[row, :] = x[row, I.assume_in_bounds(places[back] // 2, x, axis=1)]


@case(x=few(6), y=blank(6))
@intent.kernel
def written_on_one_side(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        b = I.buffer((3,), I.f32, init=0.5)
        if x[i] > 0.0:
            b[1] = x[i]
            inner = I.buffer((2,), I.f32)
            inner[0] = x[i] * 3.0
            b[2] = inner[0]
        y[i] = b[0] + b[1] + b[2]


@case(x=few(4, 33), y=blank(4, 33))
@intent.kernel
def swapped_in_place(x: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        before = I.buffer((N,), I.f32)
        before[columns] = x[row, columns]
        x[row, columns] = before[N - 1 - I.indices(columns)] + before[columns]
        y[row, columns] = before[columns]


# ---- what forwarding leaves nothing of

VANISHING: dict[str, tuple[Any, dict[str, Any]]] = {}
"""Kernels whose buffers are read where they were written alone."""


def vanishing(**arguments: Any) -> Any:
    def declare(kernel: Any) -> Any:
        VANISHING[kernel.name] = CASES[kernel.name] = kernel, arguments
        return kernel

    return declare


@vanishing(v=few(19), y=blank(19))
@intent.kernel
def single_elements(v: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, v.shape[0])):
        own = I.buffer((3,), I.f32, init=0.25)
        own[0] = v[i]
        own[1] = own[0] * 2.0
        if v[i] > 0.0:
            own[0] = own[1] + 1.0
        y[i] = own[0] + own[1] + own[2]


@vanishing(x=few(5, 21), y=blank(5, 21), z=blank(5))
@intent.kernel
def read_as_written(x: I.In[I.f32, ("M", 21)], y: I.Out[I.f32, ("M", 21)], z: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        b, c = I.buffer((21,), I.f32), I.buffer((21,), I.f32)
        b[:] = x[row, :] * 2.0
        c[:] = b[:] + 1.0
        y[row, :] = c[:]
        z[row] = I.reduce.max(c[:], axis=0) + b[20]


@vanishing(x=few(5, 21), y=blank(5, 21))
@intent.kernel
def moved_copy(x: I.In[I.f32, ("M", 21)], y: I.Out[I.f32, ("M", 21)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        b = I.buffer((21,), I.f32)
        b[:] = x[row, :]
        y[row, :] = b[20 - I.indices(I.domain(0, 21))]
