"""Kernels whose ordered loops carry values: scalars and tensors."""

import numpy as np

import intent_np as intent
import intent_np.language as I

from .loop_cases import Cases, blank

CASES = Cases(5)
case, few, RNG = CASES.case, CASES.few, CASES.rng


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


@case(x=np.float32([1, 2, 3, 4]), y=blank(3, 4))
@intent.kernel
def exchanged_behind_another(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (3, "N")]):
    """Two states need each other's old value, and one of them that of a third, which is in no cycle."""
    for i in I.parallel(I.domain(0, x.shape[0])):
        a, b, c = x[i], x[i] + 1.0, x[i] + 2.0
        for _ in range(5):
            a, b, c = a * 2.0, c + a, b
        y[0, i] = a
        y[1, i] = b
        y[2, i] = c


@case(x=np.int32([1, 2, 3, 4]), y=blank(4, 4, dtype=np.int32))
@intent.kernel
def one_value_for_three(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (4, "N")]):
    """Where three states become one value, none of them is called by the name of another."""
    for i in I.parallel(I.domain(0, x.shape[0])):
        a, b, c, d = x[i], x[i] + 1, x[i] + 2, x[i] + 3
        for _ in range(4):
            a, b, c, d = c + b, c + b, c + d, c + b
            if d > 30:
                break
            a = d
        y[0, i] = a
        y[1, i] = b
        y[2, i] = c
        y[3, i] = d


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
