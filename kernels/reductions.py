"""Reductions over one axis of a matrix."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, exp, log, maximum, total

from .extents import MATRICES, ROWS


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


# Oracles
def row_sum_oracle(x):
    return {"y": total(exact(x), axis=1, keepdims=False)}


def col_sum_oracle(x):
    return {"y": total(exact(x), axis=0, keepdims=False)}


def logsumexp_oracle(x):
    value = exact(x)
    peak = maximum(value, axis=1)
    return {"y": (log(total(exp(value - peak), axis=1)) + peak)[:, 0]}


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
        large=({"M": 8192, "N": 16384},),
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
)
