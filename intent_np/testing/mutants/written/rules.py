"""Kernels for mutants of rules."""

# ruff: noqa: D103, F821, UP037  (extents are names in quotes)
# mypy: ignore-errors

from __future__ import annotations

import intent_np as intent
import intent_np.language as I

from .kept import written


@written()
@intent.kernel
def quotients(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] / 3.0


@written()
@intent.kernel
def compared_as_bytes(
    x: I.In[I.i32, ("N",)], y: I.In[I.i32, ("N",)],
    a: I.Out[I.bool, ("N",)], b: I.Out[I.bool, ("N",)], c: I.Out[I.bool, ("N",)], d: I.Out[I.bool, ("N",)],
):  # fmt: skip
    a[:] = I.cast(x[:], I.i8) < I.cast(y[:], I.i8)
    b[:] = I.cast(x[:], I.i8) <= I.cast(y[:], I.i8)
    c[:] = I.cast(x[:], I.i8) == I.cast(y[:], I.i8)
    d[:] = I.cast(x[:], I.i8) != I.cast(y[:], I.i8)


@written()
@intent.kernel
def compared_as_bits(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], a: I.Out[I.bool, ("N",)]):
    a[:] = I.bitcast(x[:], I.i32) < I.bitcast(y[:], I.i32)


@written()
@intent.kernel
def truths_of_bytes(x: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cast(I.cast(x[:], I.i8) != 0, I.f32)


@written()
@intent.kernel
def ones_among_bytes(x: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cast(I.cast(x[:], I.i8) == 1, I.f32)


@written()
@intent.kernel
def folded_rows(x: I.In[I.i32, (2, 8)], y: I.Out[I.i32, ()]):
    y[()] = I.reduce.max(I.cumsum(I.reshape(x[:, :], (8, 2)), axis=0), axis=(0, 1))


@written()
@intent.kernel
def folded_sums(x: I.In[I.i32, (4, "N", 3)], y: I.Out[I.i32, (3,)]):
    sums = I.reduce.max(x[:, :, :], axis=1, keepdims=True)
    y[:] = I.reduce.min(I.reshape(sums, (6, 2)), axis=0)[0]


@written()
@intent.kernel
def one_of_the_sums(x: I.In[I.i32, ("M", 6)], y: I.Out[I.i32, ()]):
    sums = I.reduce.sum(x[:, :], axis=0, keepdims=True)
    y[()] = I.reduce.sum(sums[0, 1:2], axis=0)


@written()
@intent.kernel
def last_of_all(w: I.In[I.i64, (5,)], y: I.Out[I.i64, (5,)]):
    y[:] = I.reduce.max(I.cast(I.indices(I.domain(0, 5))[:, None], I.i64) * 3 + w[:], axis=0)


@written()
@intent.kernel
def filled_row(x: I.In[I.i32, (4,)], y: I.Out[I.i32, ()]):
    y[()] = I.reduce.sum(I.full((7,), 2, I.i32) + x[0:1], axis=0)


@written()
@intent.kernel
def parts_of_parts(x: I.In[I.i32, (40,)], a: I.Out[I.i32, ()], b: I.Out[I.i32, ()], c: I.Out[I.i32, ()]):
    sums = I.cumsum(x[:], axis=0)
    a[()] = I.reduce.sum(sums[3:30][2:9], axis=0)
    b[()] = I.reduce.sum(sums[3:30:2][2:9], axis=0)
    c[()] = I.reduce.sum(sums[3:30][2:9:3], axis=0)


@written()
@intent.kernel
def part_of_a_new_axis(x: I.In[I.i32, (40,)], y: I.Out[I.i32, ()]):
    sums = I.cumsum(x[:], axis=0)
    y[()] = I.reduce.sum(sums[None, 3:9][0:0, 1:3], axis=(0, 1))


@written()
@intent.kernel
def rows_of_one_column(x: I.In[I.i32, (5, 1)], w: I.In[I.i32, (5, 6)], y: I.Out[I.i32, (5, 2)], z: I.Out[I.i32, (5,)]):
    both = I.cumsum(x[:, :], axis=0) * 3 + I.cumsum(w[:, :], axis=1)
    y[:, :] = both[:, 2:4]
    z[:] = both[:, 3]
