"""Kernels whose ordered loops store and update, or end when data says so."""

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I

from .loop_cases import Cases, blank

CASES = Cases(6)
case, few, RNG = CASES.case, CASES.few, CASES.rng


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
