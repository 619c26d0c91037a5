"""Kernels whose reductions may be split among instances, with arguments that make sums of floats exact."""

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I
from kernels.reductions import pooled

RNG = np.random.default_rng(11)


@intent.kernel
def total(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.sum(x[:])


@intent.kernel
def mean_of_matrix(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, (3,)], weights: I.In[I.f32, (3,)]):
    """A reduction along two axes, and several stores behind it."""
    y[:] = I.reduce.sum(x[:, :]) * weights[:] + 1.0


@intent.kernel
def columns(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("N",)], z: I.Out[I.i64, ("N",)]):
    """Two reductions that go through the same members."""
    y[:] = I.reduce.sum(x[:, :], axis=0)
    z[:] = I.reduce.max(I.cast(x[:, :], I.i64) * 3, axis=0)


@intent.kernel
def rows(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    along = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        y[row] = I.reduce.max(I.cast(x[row, along], I.f32), axis=0)


@intent.kernel
def largest(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ()], at: I.Out[I.i64, (2,)]):
    """The largest element of all and where it is first found: a tuple, along two axes."""
    M, N = x.shape
    found, place = I.arg_reduce.max(I.reshape(x[:, :], (M * N,)), axis=0)
    value[()] = found
    at[0] = I.cast(place // I.maximum(N, 1), I.i64)
    at[1] = I.cast(place % I.maximum(N, 1), I.i64)


@intent.kernel
def first_largest(x: I.In[I.f32, ("N",)], value: I.Out[I.f32, ()], at: I.Out[I.i64, ()]):
    found, place = I.arg_reduce.max(x[:], axis=0)
    value[()] = found
    at[()] = I.cast(place, I.i64)


@intent.kernel
def moments(x: I.In[I.f32, ("N",)], mean: I.Out[I.f32, ()], variance: I.Out[I.f32, ()]):
    """A record with a combine of the author's."""
    value = x[:]
    sample = I.record(count=I.full(value.shape, 1.0, I.f32), mean=value, spread=I.zeros(value.shape, I.f32))
    found = I.reduce(sample, axis=0, identity=I.record(count=0.0, mean=0.0, spread=0.0), combine=pooled)
    mean[()] = found.mean
    variance[()] = found.spread / I.maximum(found.count, 1.0)


@intent.fn
def both(a, b):
    return a & b


@intent.kernel
def flags(x: I.In[I.i32, ("M", "N")], every: I.Out[I.bool, ("M",)], bits: I.Out[I.u64, ("M",)]):
    every[:] = I.reduce(x[:, :] > -4, axis=1, identity=True, combine=both)
    bits[:] = I.reduce(I.cast(x[:, :], I.u64), axis=1, identity=0xFFFFFFFFFFFFFFFF, combine=both)


@intent.kernel
def product(
    a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], bias: I.In[I.f32, ("N",)], c: I.Out[I.f16, ("M", "N")]
):
    """A matrix product with something behind it."""
    c[:, :] = I.cast(I.maximum(I.matmul(a[:, :], b[:, :], acc_dtype=I.f32) + bias[:], 0.0), I.f16)


@intent.kernel
def batch(a: I.In[I.f32, ("B", "M", "K")], b: I.In[I.f32, ("B", "K", "N")], c: I.Out[I.f32, ("B", "M", "N")]):
    c[:, :, :] = I.contract(a[:, :, :], b[:, :, :], reduce=((2, 1),), batch=((0, 0),), acc_dtype=I.f32)


@intent.kernel
def dot(a: I.In[I.f32, ("K",)], b: I.In[I.f32, ("K",)], c: I.Out[I.f32, ()]):
    c[()] = I.dot(a[:], b[:], acc_dtype=I.f32)


@intent.kernel
def beside(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M", "K")], y: I.Out[I.f32, ()], w: I.Out[I.f32, ("M",)]):
    """Two groups of one launch, each with instances and counters of its own."""
    y[()] = I.reduce.sum(x[:] * 2.0)
    w[:] = I.reduce.sum(z[:, :], axis=1)


@intent.kernel
def in_place(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ()]):
    y[()] = y[()] * 2.0 + I.reduce.sum(x[:])


KERNELS = {
    "total": (total, ("N",)), "mean_of_matrix": (mean_of_matrix, ("M", "N")), "columns": (columns, ("N", "M")),
    "rows": (rows, ("M", "N")), "largest": (largest, ("M", "N")), "first_largest": (first_largest, ("N",)),
    "moments": (moments, ("N",)), "flags": (flags, ("M", "N")), "product": (product, ("M", "N", "K")),
    "batch": (batch, ("B", "M", "N", "K")), "dot": (dot, ("K",)), "beside": (beside, ("M", "N", "K")),
    "in_place": (in_place, ("N",)),
}  # fmt: skip
"""Kernels, with their extents; the last one is that of a reduction."""


def arguments(name: str, extents: dict[str, int]) -> dict[str, Any]:
    """What a kernel is called with: small integers."""
    from intent_np.testing.arguments import arguments as made

    return made(KERNELS[name][0], extents, values="integers")
