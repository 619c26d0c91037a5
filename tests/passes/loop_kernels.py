"""Kernels with ordered loops, each with arguments: what the tests of every level and of every backend run."""

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(5)
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


# ---- scalars


@case(x=few(37), y=blank(37))
@intent.kernel
def running_total(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    total = I.cast(0.0, I.f32)
    for i in I.domain(0, x.shape[0]):
        total = total + x[i]
        y[i] = total


@case(x=few(41), y=blank())
@intent.kernel
def every_third(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    best, at = I.cast(-100.0, I.f32), I.cast(0, I.i32)
    for i in range(1, x.shape[0], 3):
        if x[i] > best:
            best = x[i]
            at = I.cast(i, I.i32)
    y[()] = best * 100.0 + I.cast(at, I.f32)


@case(follow=np.array([3, 0, 4, 2, 1, 5], np.int32), n=5, y=blank(6, dtype=np.int32))
@intent.kernel
def chased(follow: I.In[I.i32, ("N",)], n: I.index, y: I.Out[I.i32, ("N",)]):
    for p in I.parallel(I.domain(0, follow.shape[0])):
        at = I.cast(p, I.i32)
        for _ in range(n):
            at = follow[I.assume_in_bounds(I.cast(at, I.index), follow, axis=0)]
        y[p] = at


# ---- tensors


@case(c=few(5), x=few(70), y=blank(70))
@intent.kernel
def horner(c: I.In[I.f32, ("K",)], x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[:]
    r = v * 0.0
    for k in range(c.shape[0]):
        r = r * v + c[k]
    y[:] = r


@case(a=few(3, 5), x=few(3, 5, 20), y=blank(3, 5, 20), last=blank(3, 20))
@intent.kernel
def passed_on(
    a: I.In[I.f32, ("B", "T")], x: I.In[I.f32, ("B", "T", "D")], y: I.Out[I.f32, ("B", "T", "D")],
    last: I.Out[I.f32, ("B", "D")],
):  # fmt: skip
    """The states of a linear recurrence: batches and lanes beside each other, times in order."""
    B, T, D = x.shape
    lanes = I.domain(0, D)
    for b in I.parallel(I.domain(0, B)):
        state = I.zeros((D,), I.f32)
        for t in range(T):
            y[b, t, lanes] = state
            state = state * a[b, t] + x[b, t, lanes]
        last[b, lanes] = state


@case(x=few(6, 16), b=few(6, 4), c=few(6, 4), y=blank(6, 16))
@intent.kernel
def selective(
    x: I.In[I.f32, ("T", "D")], b: I.In[I.f32, ("T", 4)], c: I.In[I.f32, ("T", 4)], y: I.Out[I.f32, ("T", "D")]
):
    T, D = x.shape
    h = I.zeros((D, 4), I.f32)
    for t in range(T):
        h = h * 0.5 + I.outer(x[t, :], b[t, :], acc_dtype=I.f32)
        y[t, :] = I.reduce.sum(h * c[t, :], axis=1)


@case(x=few(3, 9, 16), y=blank(3, 9, 16))
@intent.kernel
def normalized_on_the_way(x: I.In[I.f32, ("P", "T", 16)], y: I.Out[I.f32, ("P", "T", 16)]):
    P, T, D = x.shape
    for p in I.parallel(I.domain(0, P)):
        h = I.zeros((D,), I.f32)
        for t in range(T):
            h = h + x[p, t, :]
            h = h / (1.0 + I.reduce.sum(h * h, axis=0))
            y[p, t, :] = h


@case(w=few(8, 8), x=few(3, 8), y=blank(3, 8))
@intent.kernel
def mixed(w: I.In[I.f32, (8, 8)], x: I.In[I.f32, ("T", 8)], y: I.Out[I.f32, ("T", 8)]):
    """What an iteration carries is read along another axis than it is made along."""
    h = I.zeros((8,), I.f32)
    for t in range(x.shape[0]):
        h = I.minimum(I.matvec(w[:, :], h, acc_dtype=I.f32) + x[t, :], I.full((8,), 9.0, I.f32))
        y[t, :] = h


@case(w=few(16, 16), x=few(32, 16), n=3, y=blank(32, 16))
@intent.kernel
def multiplied_again(w: I.In[I.f32, (16, 16)], x: I.In[I.f32, ("M", 16)], n: I.index, y: I.Out[I.f32, ("M", 16)]):
    h = x[:, :]
    for _ in range(n):
        h = I.maximum(I.matmul(h, w[:, :], acc_dtype=I.f32), I.zeros((x.shape[0], 16), I.f32)) * 0.125
    y[:, :] = h


@case(x=few(4, 5000), y=blank(4, 5000))
@intent.kernel
def long_rows(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("T", "N")]):
    """Traversals inside of an iteration."""
    total = I.cast(1.0, I.f32)
    for t in range(x.shape[0]):
        total = total + I.reduce.sum(x[t, :], axis=0)
        y[t, :] = x[t, :] * total


@case(x=few(5, 60), y=blank(5, 60))
@intent.kernel
def long_state(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("T", "N")]):
    """What is carried is of unknown extent, and each iteration needs it whole."""
    h = I.zeros((x.shape[1],), I.f32)
    for t in range(1, x.shape[0]):
        h = h / (1.0 + I.reduce.sum(h * h, axis=0)) + x[t, :]
        y[t, :] = h


@case(w=few(12, 12), x=few(4, 12), y=blank(4, 12), last=blank(12), rounds=blank())
@intent.kernel
def long_mixed(
    w: I.In[I.f32, ("N", "N")], x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("T", "N")], last: I.Out[I.f32, ("N",)],
    rounds: I.Out[I.f32, ()],
):  # fmt: skip
    """Carried at two places, by a loop that ends by what it carries."""
    h, t = I.zeros((x.shape[1],), I.f32), 0
    total = I.cast(0.0, I.f32)
    while t < x.shape[0] and I.reduce.max(h, axis=0) < 50.0:
        h = I.matvec(w[:, :], h, acc_dtype=I.f32) * 0.5 + x[t, :]
        total = total + I.reduce.sum(h, axis=0)
        y[t, :] = h
        t = t + 1
    last[:] = h
    rounds[()] = total


@case(x=few(3, 5, 9), k=few(3, 5, 7), first=few(3, 7, 9), out=blank(3, 5, 9), final=blank(3, 7, 9))
@intent.kernel
def long_matrix(
    x: I.In[I.f32, ("B", "T", "V")], k: I.In[I.f32, ("B", "T", "K")], first: I.In[I.f32, ("B", "K", "V")],
    out: I.Out[I.f32, ("B", "T", "V")], final: I.Out[I.f32, ("B", "K", "V")],
):  # fmt: skip
    """A matrix that each time changes: its columns are instances."""
    for b in I.parallel(I.domain(0, x.shape[0])):
        state = first[b, :, :]
        for t in range(x.shape[1]):
            missing = x[b, t, :] - I.vecmat(k[b, t, :], state, acc_dtype=I.f32)
            state = 0.5 * state + I.outer(k[b, t, :], 0.25 * missing, acc_dtype=I.f32)
            out[b, t, :] = I.vecmat(k[b, t, :], state, acc_dtype=I.f32)
        final[b, :, :] = state


# ---- effects


@case(x=few(20), T=3)
@intent.kernel
def relaxed(x: I.InOut[I.f32, ("N",)], T: I.index):
    for _ in range(T):
        for i in range(1, x.shape[0] - 1):
            x[i] = (x[i - 1] + x[i + 1]) * 0.5


@case(x=few(5, 30), y=blank(5, 30), T=3)
@intent.kernel
def back_and_forth(x: I.InOut[I.f32, ("P", "N")], y: I.Out[I.f32, ("P", "N")], T: I.index):
    for p in I.parallel(I.domain(0, x.shape[0])):
        for _ in range(T):
            y[p, :] = x[p, :] * 2.0
            x[p, :] = y[p, :] - 1.0


@case(x=few(4, 32), T=3)
@intent.kernel
def neighbours_in_turn(x: I.InOut[I.f32, ("P", 32)], T: I.index):
    for p in I.parallel(I.domain(0, x.shape[0])):
        for _ in range(T):
            x[p, 1:31] = (x[p, 0:30] + x[p, 2:32]) * 0.5


def positive(b: int, n: int) -> Any:
    a = few(b, n, n)
    return (a @ a.transpose(0, 2, 1) + 40 * np.eye(n)).astype(np.float32)


@case(a=positive(3, 6))
@intent.kernel
def cholesky(a: I.InOut[I.f32, ("B", "N", "N")]):
    B, N, _ = a.shape
    for b in I.parallel(I.domain(0, B)):
        for j in range(N):
            s = a[b, j, j]
            for k in range(j):
                s = s - a[b, j, k] * a[b, j, k]
            d = I.sqrt(s)
            a[b, j, j] = d
            for i in range(j + 1, N):
                t = a[b, i, j]
                for k in range(j):
                    t = t - a[b, i, k] * a[b, j, k]
                a[b, i, j] = t / d


@case(x=RNG.integers(0, 5, (3, 40)).astype(np.int32), y=np.zeros((3, 5), np.int32))
@intent.kernel
def counted(x: I.In[I.i32, ("P", "N")], y: I.InOut[I.i32, ("P", 5)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        for i in range(x.shape[1]):
            bin = I.assume_in_bounds(I.cast(x[p, i], I.index), y, axis=1)
            y[p, bin] = y[p, bin] + 1


# ---- loops that end when data says so


SORTED = np.sort(RNG.integers(0, 50, (5, 37)).astype(np.int32), 1)


@case(x=SORTED, v=np.array([0, 3, 20, 49, 70], np.int32), y=blank(5, dtype=np.int64))
@intent.kernel
def first_at_least(x: I.In[I.i32, ("P", "N")], v: I.In[I.i32, ("P",)], y: I.Out[I.i64, ("P",)]):
    P, N = x.shape
    for p in I.parallel(I.domain(0, P)):
        lo, hi = 0, N
        while lo < hi:
            mid = (lo + hi) // 2
            if x[p, mid] < v[p]:
                lo = mid + 1
            else:
                hi = mid
        y[p] = I.cast(lo, I.i64)


@case(x=np.array([3, 4, 5, 7, 8, -1, 3, 9], np.int32), y=blank(8, dtype=np.int32), n=blank(dtype=np.int32))
@intent.kernel
def until_negative(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], n: I.Out[I.i32, ()]):
    count = I.cast(0, I.i32)
    for i in range(x.shape[0]):
        if x[i] < 0:
            break
        if x[i] % 2 == 0:
            continue
        count = count + 1
        y[i] = x[i] + count
    n[()] = count


@intent.fn
def position_of(x, row, v):
    for i in range(x.shape[1]):
        if x[row, i] == v:
            return i
    return -1


@case(
    x=SORTED,
    v=SORTED[[0, 1, 2, 3, 4], [0, 36, 5, 7, 9]] + np.array([0, 0, 0, 0, 100], np.int32),
    y=blank(5, dtype=np.int64),
)
@intent.kernel
def found_early(x: I.In[I.i32, ("P", "N")], v: I.In[I.i32, ("P",)], y: I.Out[I.i64, ("P",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        y[p] = I.cast(position_of(x, p, v[p]), I.i64)


@case(x=few(5, 9), n=np.array([0, 9, 3, 1, 5], np.int32), y=blank(5))
@intent.kernel
def as_many_as_said(x: I.In[I.f32, ("P", "N")], n: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("P",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        total = I.cast(0.0, I.f32)
        for i in range(I.cast(n[p], I.index)):
            total = total * 2.0 + x[p, I.assume_in_bounds(i, x, axis=1)]
        y[p] = total


@case(x=np.array([3, 3, 2, 2, 1, 0, 5, 5], np.int32), rounds=blank(dtype=np.int32))
@intent.kernel
def until_settled(x: I.InOut[I.i32, (8,)], rounds: I.Out[I.i32, ()]):
    """The condition reads what the body stores."""
    n = I.cast(0, I.i32)
    while x[0] > 0 and n < 20:
        for i in range(x.shape[0]):
            if x[i] > 0:
                x[i] = x[i] - 1
        n = n + 1
    rounds[()] = n


@case(x=few(8), flag=True, y=blank(8))
@intent.kernel
def under_a_branch(x: I.In[I.f32, ("N",)], flag: I.bool, y: I.Out[I.f32, ("N",)]):
    total = I.cast(0.0, I.f32)
    if flag:
        i = 0
        while i < x.shape[0]:
            total = total + x[i]
            y[i] = total
            i = i + 1
    else:
        for i in range(x.shape[0]):
            y[i] = -x[i]


# ---- updates


@intent.fn
def total(a, b):
    return a + b


@case(x=RNG.integers(0, 5, (3, 40)).astype(np.int32), y=few(3, 5, dtype=np.int32))
@intent.kernel
def tallied(x: I.In[I.i32, ("P", "N")], y: I.InOut[I.i32, ("P", 5)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        for i in range(x.shape[1]):
            I.atomic.add(y, (p, I.assume_in_bounds(I.cast(x[p, i], I.index), y, axis=1)), 1)


@case(x=few(6, 70), at=RNG.integers(0, 20, (6, 70)).astype(np.int32), y=few(20), seen=blank(6, 20))
@intent.kernel
def added_in_turn(
    x: I.In[I.f32, ("T", "N")], at: I.In[I.i32, ("T", "N")], y: I.InOut[I.f32, ("M",)],
    seen: I.Out[I.f32, ("T", "M")],
):  # fmt: skip
    """Each iteration reads what it and earlier ones brought together."""
    for t in range(x.shape[0]):
        places = I.assume_in_bounds(I.cast(at[t, :], I.index), y)
        I.scatter_reduce(y, (places,), x[t, :], combine=total)
        seen[t, :] = y[:] * 2.0


@case(x=few(4, 30, dtype=np.int32), count=np.zeros(4, np.int64), y=blank(4, 30, dtype=np.int32))
@intent.kernel
def kept_in_order(x: I.In[I.i32, ("P", "N")], count: I.InOut[I.i64, ("P",)], y: I.InOut[I.i32, ("P", "N")]):
    """What an update finds is where an iteration stores."""
    for p in I.parallel(I.domain(0, x.shape[0])):
        for i in range(x.shape[1]):
            if x[p, i] > 0:
                slot = I.atomic.add(count, p, 1)
                y[p, I.assume_in_bounds(I.cast(slot, I.index), y, axis=1)] = x[p, i]


@case(
    x=np.array([[3, 19, 3, 11, 35], [0, 8, 16, 8, 24]], np.int32), table=np.full((2, 8), -1, np.int32), steps=blank(2)
)
@intent.kernel
def inserted(x: I.In[I.i32, ("P", "N")], table: I.InOut[I.i32, ("P", 8)], steps: I.Out[I.f32, ("P",)]):
    """A hash table with linear probing: a loop that ends by what an update found."""
    for p in I.parallel(I.domain(0, x.shape[0])):
        taken = I.cast(0.0, I.f32)
        for i in range(x.shape[1]):
            key, at, done = x[p, i], I.cast(x[p, i] % 8, I.index), False
            while not done:
                place = (p, I.assume_in_bounds(at, table, axis=1))
                r = I.atomic.compare_exchange(table, place, expected=-1, desired=key)
                done = r.success | (r.old_value == key)
                at = (at + 1) % 8
                taken = taken + 1.0
        steps[p] = taken


@case(left=np.array([3, 0, 5, 1], np.int32), y=blank(4, 6))
@intent.kernel
def counted_down(left: I.InOut[I.i32, ("P",)], y: I.InOut[I.f32, ("P", 6)]):
    """Asking the condition changes memory."""
    for p in I.parallel(I.domain(0, left.shape[0])):
        i = 0
        while I.atomic.add(left, p, -1) > 0:
            y[p, I.assume_in_bounds(i, y, axis=1)] = I.cast(i, I.f32)
            i = i + 1


@case(x=few(3, 12), last=few(3), y=blank(3, 12))
@intent.kernel
def handed_on(x: I.In[I.f32, ("P", "N")], last: I.InOut[I.f32, ("P",)], y: I.Out[I.f32, ("P", "N")]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        total = I.cast(0.0, I.f32)
        for i in range(x.shape[1]):
            if x[p, i] >= 0.0:
                total = total + I.atomic.exchange(last, p, x[p, i])
            else:
                last[p] = last[p] + 1.0
            y[p, i] = total
        I.atomic.add(last, p, total)


@case(
    source=RNG.integers(0, 40, 90).astype(np.int32),
    target=RNG.integers(0, 40, 90).astype(np.int32),
    label=RNG.permutation(40).astype(np.int32),
    T=4,
)
@intent.kernel
def spreading(source: I.In[I.i32, (90,)], target: I.In[I.i32, (90,)], label: I.InOut[I.i32, ("V",)], T: I.index):
    """Labels go along edges: every edge of an iteration reads what the iteration before left."""
    for _ in range(T):
        sent = I.gather(label, I.assume_in_bounds(I.cast(source[:], I.index), label))
        I.scatter_reduce(label, (I.assume_in_bounds(I.cast(target[:], I.index), label),), sent, combine=least)


@intent.fn
def least(a, b):
    return I.minimum(a, b)


@case(x=few(5, 33), at=RNG.integers(0, 7, (5, 33)).astype(np.int32), y=few(7), z=few(7, dtype=np.int32))
@intent.kernel
def over_lanes(
    x: I.In[I.f32, ("T", "N")], at: I.In[I.i32, ("T", "N")], y: I.InOut[I.f32, ("M",)], z: I.InOut[I.i32, ("M",)]
):
    """Nothing sees in which order the updates happen: lanes are instances."""
    T, N = x.shape
    for i in I.parallel(I.domain(0, N)):
        for t in range(T):
            place = I.assume_in_bounds(I.cast(at[t, i], I.index), y)
            if x[t, i] > -2.0:
                I.scatter_reduce(y, place, x[t, i], combine=total)
                I.atomic.max(z, place, I.cast(x[t, i], I.i32))
