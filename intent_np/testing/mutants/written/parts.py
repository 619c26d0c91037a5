"""Kernels for mutants of reductions in parts."""

# ruff: noqa: D103, F821, UP037  (extents are names in quotes)
# mypy: ignore-errors

from __future__ import annotations

import intent_np as intent
import intent_np.language as I

from .kept import written


@written("in parts")
@intent.kernel
def parts_of_a_sum(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()], w: I.In[I.i32, (3,)], z: I.Out[I.i32, (3,)]):
    y[()] = I.reduce.sum(x[:])
    z[:] = I.reduce.max(x[:]) + w[:]


@written("in parts")
@intent.kernel
def parts_of_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("N",)], z: I.Out[I.i64, ("N",)], w: I.Out[I.i32, ()]):
    y[:] = I.reduce.sum(x[:, :], axis=0)
    z[:] = I.reduce.max(I.cast(x[:, :], I.i64) * 3, axis=0)
    w[()] = I.reduce.sum(x[:, :])


@written("in parts")
@intent.kernel
def parts_of_a_product(a: I.In[I.i8, ("M", "K")], b: I.In[I.i8, ("K", "N")], c: I.Out[I.i32, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i32) + 1


@intent.fn
def last(a, b):
    return I.select(b != 0, b, a)


@written()
@intent.kernel
def in_order(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = I.scan(x[:] // 2**30, 0, identity=0, combine=last, inclusive=True)


@intent.fn
def later(a, b):
    return I.record(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)


@written("in parts")
@intent.kernel
def parts_in_order(a: I.In[I.i64, ("N",)], b: I.In[I.i64, ("N",)], y: I.Out[I.i64, ()], z: I.Out[I.i64, ()]):
    step = I.record(scale=a[:], shift=b[:])
    made = I.reduce(step, axis=0, identity=I.record(scale=1, shift=0), combine=later)
    y[()] = made.scale
    z[()] = made.shift
