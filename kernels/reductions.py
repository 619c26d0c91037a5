"""Reductions over one axis of a matrix, and over all of a vector."""

import math

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import Approx, exact, exp, log, maximum, total
from intent_np.testing.formats import FORMATS

from .extents import MATRICES, ROWS, VECTORS


@intent.kernel
def row_sum(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """y[m] = sum of row m."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        y[row] = I.reduce.sum(x[row, columns], axis=0)


@intent.kernel
def col_sum(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N",)]):
    """y[n] = sum of column n."""
    y[:] = I.reduce.sum(x[:, :], axis=0)


@intent.kernel
def logsumexp(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """y[m] = log(sum(exp(row m))), in f32; -inf of an empty row, NaN of a row that is -inf throughout."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(x[row, columns], I.f32)
        peak = I.reduce.max(value, axis=0)
        y[row] = I.log(I.reduce.sum(I.exp(value - peak), axis=0)) + peak


@intent.kernel
def sum_all(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    """y = sum of x."""
    y[()] = I.reduce.sum(x[:])


@intent.kernel
def max_argmax(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("M",)], index: I.Out[I.i64, ("M",)]):
    """The largest element of each row and where it is first found; NaN is larger than all; of an empty row, -inf and
    the largest index."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        largest, at = I.arg_reduce.max(x[row, columns], axis=0)
        value[row] = largest
        index[row] = I.cast(at, I.i64)


@intent.kernel
def max_argmax_all(x: I.In[I.f32, ("N",)], value: I.Out[I.f32, ()], index: I.Out[I.i64, ()]):
    """The largest element of all, and where it is first found; as `max_argmax` otherwise."""
    largest, at = I.arg_reduce.max(x[:], axis=0)
    value[()] = largest
    index[()] = I.cast(at, I.i64)


@intent.fn
def pooled(a, b):
    """Count, mean and sum of squares about the mean of two samples together."""
    count = a.count + b.count
    share = b.count / I.maximum(count, 1.0)
    step = b.mean - a.mean
    return I.record(count=count, mean=a.mean + step * share, spread=a.spread + b.spread + step * step * a.count * share)


@intent.kernel
def welford(x: I.In[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)], variance: I.Out[I.f32, ("M",)]):
    """Mean and biased variance of each row, in one pass over samples that are pooled."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        sample = I.record(count=I.full(value.shape, 1.0, I.f32), mean=value, spread=I.zeros(value.shape, I.f32))
        nothing = I.record(count=0.0, mean=0.0, spread=0.0)
        found = I.reduce(sample, axis=0, identity=nothing, combine=pooled)
        mean[row] = found.mean
        variance[row] = found.spread / I.maximum(found.count, 1.0)


# Oracles
def row_sum_oracle(x):
    return {"y": total(exact(x), axis=1, keepdims=False)}


def col_sum_oracle(x):
    return {"y": total(exact(x), axis=0, keepdims=False)}


def logsumexp_oracle(x):
    value = exact(x)
    peak = maximum(value, axis=1)
    return {"y": (log(total(exp(value - peak), axis=1)) + peak)[:, 0]}


def sum_all_oracle(x):
    return {"y": total(exact(x), axis=0, keepdims=False)}


def max_argmax_oracle(x):
    M, N = x.shape
    if N == 0:
        return {"value": np.full(M, -np.inf), "index": np.full(M, 2**63 - 1)}
    largest = np.where(np.isnan(x).any(axis=1), np.nan, x.max(axis=1))[:, None]
    found = (x == largest) | (np.isnan(x) & np.isnan(largest))
    return {"value": largest[:, 0], "index": np.where(found, np.arange(N), N).min(axis=1)}


def max_argmax_all_oracle(x):
    return {name: of_row[0] for name, of_row in max_argmax_oracle(x[None]).items()}


def pooled_moments(x, axes, f="f32"):
    """Mean and sum of squares about it, with bounds for pooling in any order: the mean has a rounding of its size a
    step, and the relative error of the spread S grows with sqrt(sum of squares / S), its condition, and the number of
    steps (Chan, Golub, LeVeque)."""
    n = math.prod(x.shape[a] for a in axes)
    unit = 2.0**-24 * 4 * min(n, 8 * math.sqrt(n))
    mean = x.sum(axis=axes, keepdims=True) / max(n, 1)
    largest = np.abs(x).max(axis=axes, initial=0.0)
    spread = ((x - mean) ** 2).sum(axis=axes)
    square = (x * x).sum(axis=axes)
    bound = unit * np.sqrt(spread * square) + unit * unit * square
    mean = Approx(mean.squeeze(axes), unit * largest, FORMATS[f])
    return mean, Approx(spread, bound, FORMATS[f])


def welford_oracle(x):
    mean, spread = pooled_moments(x, (1,))
    return {"mean": mean, "variance": spread / float(max(x.shape[1], 1))}


CASES = (
    Case(
        name="row_sum",
        kernel=row_sum,
        oracle=row_sum_oracle,
        small=ROWS,
        large=({"M": 8192, "N": 16384},),
        bytes=lambda e: 4 * (e["M"] * e["N"] + e["M"]),
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="col_sum",
        kernel=col_sum,
        oracle=col_sum_oracle,
        small=(*MATRICES, {"M": 20011, "N": 2}),
        large=({"M": 8192, "N": 16384}, {"M": 2**22, "N": 32}),
        bytes=lambda e: 4 * (e["M"] * e["N"] + e["N"]),
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="logsumexp",
        kernel=logsumexp,
        oracle=logsumexp_oracle,
        small=ROWS,
        bytes=lambda e: 2 * e["M"] * e["N"] + 4 * e["M"],
        flops=lambda e: 4 * e["M"] * e["N"],
    ),
    Case(
        name="sum_all",
        kernel=sum_all,
        oracle=sum_all_oracle,
        small=VECTORS,
        bytes=lambda e: 4 * e["N"] + 4,
        flops=lambda e: e["N"],
    ),
    Case(
        name="max_argmax",
        kernel=max_argmax,
        oracle=max_argmax_oracle,
        small=ROWS,
        bytes=lambda e: 4 * e["M"] * e["N"] + 12 * e["M"],
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="max_argmax_all",
        kernel=max_argmax_all,
        oracle=max_argmax_all_oracle,
        small=VECTORS,
        bytes=lambda e: 4 * e["N"] + 12,
        flops=lambda e: e["N"],
    ),
    Case(
        name="welford",
        kernel=welford,
        oracle=welford_oracle,
        small=ROWS,
        # with an infinity the result depends on what is pooled first
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 4 * e["M"] * e["N"] + 8 * e["M"],
        flops=lambda e: 9 * e["M"] * e["N"],
    ),
)
