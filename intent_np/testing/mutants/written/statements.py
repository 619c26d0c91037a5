"""Kernels for mutants of passes over authored programs, and over effects."""

# ruff: noqa: D103, F821, UP037  (extents are names in quotes)
# mypy: ignore-errors

from __future__ import annotations

import intent_np as intent
import intent_np.language as I

from .kept import written

# ---- for passes over authored programs


@intent.fn
def put(x, y, i):
    y[i] = x[i] * 3
    return y[i] - 1


@written()
@intent.kernel
def performed(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        z[i] = put(x, y, i) + y[i]


@written(reports=True)
@intent.kernel
def reported_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        low = I.reduce.min(x[row, :], axis=0)
        if low < 0:
            I.debug_print("row {} from {}", row, low, x[row, :])
        for k in range(3):
            if (low + I.cast(k, I.i32)) % 2 == 0:
                I.debug_print("{} at {}", k, row)
        y[row] = low


@written(reports=True)
@intent.kernel
def reported_steps(x: I.In[I.u8, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        left, often = I.cast(x[i] & 7, I.i32), I.cast(0, I.i32)
        while left > 0:
            I.debug_print("{} left of {}, {}", left, x[i], I.cast(left, I.f32) / 2.0)
            left, often = left // 2, often + 1
        y[i] = often


# ---- for passes over effects


@written()
@intent.kernel
def turned(x: I.InOut[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    x[:, :] = I.transpose(x[:, :])
    y[:, :] = I.transpose(x[:, :]) + 1.0


@written()
@intent.kernel
def two_turned(x: I.InOut[I.f32, ("N", "N")], z: I.InOut[I.f32, ("N", "N")]):
    value = x[:, :] + 1.0
    x[:, :] = I.transpose(value) - z[:, :]
    z[:, :] = value


@written("generic")
@intent.kernel
def smoothed(x: I.InOut[I.f32, ("M", 40)]):
    x[:, 1:-1] = x[:, :-2] + x[:, 2:]


@written()
@intent.kernel
def smoothed_in_blocks(x: I.InOut[I.f32, ("M", "N")], y: I.In[I.i32, ("M", 40)], z: I.InOut[I.i32, (50,)]):
    if x.shape[1] > 2:
        x[:, 1:-1] = x[:, :-2] + x[:, 2:]
    I.scatter_reduce(z, y[:, :] % 50, I.gather(z, (y[:, :] % 7)) // 2 - 1, combine=I.minimum)


@written()
@intent.kernel
def of_one_array(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    i = I.indices(I.domain(0, N))
    y[:] = x[N - 1 - i] + x[:]


@written()
@intent.kernel
def counted_in_one_array(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    places = I.indices(I.domain(0, x.shape[0])) // 2
    I.scatter_reduce(y, places, x[:], combine=I.maximum)


@written()
@intent.kernel
def steps_of_one_array(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.domain(0, N):
        if i > 0:
            y[i] = x[i] + x[i - 1] * 2


@written("contiguous")
@intent.kernel
def rows_and_columns(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    y[:, :] = I.transpose(x[:, :])


@written("bounded")
@intent.kernel
def bounded_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[:] = I.reduce.sum(x[:, :], axis=1) / I.reduce.max(I.abs(x[:, :]), axis=1)
