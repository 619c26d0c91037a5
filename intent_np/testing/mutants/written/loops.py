"""Kernels for mutants of loops: those that instances perform, and those that several reductions share."""

# ruff: noqa: D103, F821, UP037  (extents are names in quotes)
# mypy: ignore-errors

from __future__ import annotations

import intent_np as intent
import intent_np.language as I

from .kept import written

# ---- for loops that instances perform


@written()
@intent.kernel
def ragged_largest(x: I.In[I.i32, ("M",)], at: I.In[I.u8, ("G",)], y: I.Out[I.i32, ()], z: I.Out[I.i32, ("G",)]):
    G, M = at.shape[0], x.shape[0]
    longest = I.buffer((G,), I.i32)
    for g in I.parallel(I.domain(0, G)):
        end = I.clamp(I.cast(at[g] % 16, I.index), 0, M)
        longest[g] = I.reduce.max(x[I.domain(0, end)] * (I.cast(g, I.i32) + 1), axis=0)
    y[()] = I.reduce.sum(longest[:], axis=0)
    z[:] = longest[:]


@written()
@intent.kernel
def steps_of_its_own(n: I.In[I.u8, ("M",)], x: I.InOut[I.i32, ("M",)], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ()]):
    M = x.shape[0]
    last = I.buffer((M,), I.i32)
    for i in I.parallel(I.domain(0, M)):
        left = x[i]
        for j in range(I.cast(n[i] % 8, I.index)):
            left = left * 3 + I.cast(j, I.i32)
            x[i] = x[i] + left
        last[i] = left
    y[:] = last[:]
    z[()] = I.reduce.sum(last[:], axis=0)


@written()
@intent.kernel
def both_ways(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    y[:] = I.cumsum(x[:]) - I.cumsum(x[:], reverse=True)
    z[:] = I.cummax(I.cumsum(x[:], reverse=True) % 7) - x[:]


@written()
@intent.kernel
def along_and_across(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M",)]):
    y[:, :] = I.cumsum(I.cumsum(x[:, :], axis=1) % 11, axis=0)
    z[:] = I.reduce.sum(I.cumsum(x[:, :], axis=0) * 3, axis=1)


@written()
@intent.kernel
def buffers_turned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        kept = I.buffer((N, 3), I.f32)
        kept[:, 0] = x[row, :] * 2.0
        kept[:, 2] = x[row, :] - 1.0
        y[row, :] = kept[N - 1 - I.indices(I.domain(0, N)), 0] + kept[:, 2]


@written()
@intent.kernel
def kept_twice(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    back = N - 1 - I.indices(I.domain(0, N))
    for row in I.parallel(I.domain(0, M)):
        kept = I.buffer((N,), I.i32)
        kept[:] = x[row, :]
        y[row, :] = kept[back]
        kept[:] = x[row, :] // 2
        z[row, :] = kept[back]


@written()
@intent.kernel
def masked_largest(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M",)]):
    N = x.shape[1]
    i = I.indices(I.domain(0, N))
    inner = I.domain(0, N)
    y[:] = I.reduce.max(I.select((i % 2 == 0)[None, :], x[:, :], -1.0), axis=1)
    z[:] = I.reduce.sum(I.exp(I.select(I.indices(inner)[None, :] + 3 < N, x[:, inner], 0.0)), axis=1)


@written()
@intent.kernel
def centered_twice(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M",)]):
    value = x[:, :] - I.reduce.max(x[:, :], axis=1, keepdims=True)
    y[:, :] = value / I.reduce.sum(value * 2.0, axis=1, keepdims=True)
    z[:] = I.reduce.min(value * I.reduce.min(x[:, :], axis=1, keepdims=True), axis=1)


# ---- for loops that several reductions share


@written()
@intent.kernel
def extremes_in_one_loop(x: I.In[I.f32, ("M", "N")], least: I.Out[I.f32, ("M",)], largest: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        least[row] = I.reduce.min(x[row, :], axis=0)
        largest[row] = I.reduce.max(x[row, :], axis=0)
