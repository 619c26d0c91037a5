"""Reductions over groups of rows that lie one behind the other, some of them empty."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import concatenated, exact, total

from .extents import GROUPS, ragged


@intent.kernel
def segment_sum(x: I.In[I.f32, ("Z", "D")], offsets: I.In[I.i32, ("G + 1",)], y: I.Out[I.f32, ("G", "D")]):
    """y[g] = sum of the rows offsets[g] to offsets[g + 1] of x; 0 of none."""
    groups = I.domain(0, y.shape[0])
    members = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for group in I.parallel(groups):
        y[group, :] = I.reduce.sum(x[members[group], :], axis=0)


@intent.kernel
def jagged_mean(x: I.In[I.f16, ("Z", "D")], offsets: I.In[I.i32, ("G + 1",)], y: I.Out[I.f16, ("G", "D")]):
    """y[g] = mean of the rows offsets[g] to offsets[g + 1] of x, in f32; 0 of none."""
    groups = I.domain(0, y.shape[0])
    members = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for group in I.parallel(groups):
        total = I.reduce.sum(I.cast(x[members[group], :], I.f32), axis=0)
        count = I.cast(I.maximum(offsets[group + 1] - offsets[group], 1), I.f32)
        y[group, :] = I.cast(total / count, I.f16)


# Oracles
def segment_sum_oracle(x, offsets):
    return {"y": _sums(x, offsets)}


def jagged_mean_oracle(x, offsets):
    return {"y": _sums(x, offsets) / exact(np.maximum(np.diff(offsets), 1)[:, None])}


def _sums(x, offsets):
    groups = [total(exact(x[a:b]), axis=0) for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    return concatenated([exact(np.zeros((0, x.shape[1]))), *groups])


def _case(kernel, oracle, size):
    return Case(
        name=kernel.name,
        kernel=kernel,
        oracle=oracle,
        small=GROUPS,
        structured=lambda extents, rng: {"offsets": ragged(extents, rng)},
        bytes=lambda e: size * e["D"] * (e["Z"] + e["G"]) + 4 * (e["G"] + 1),
        flops=lambda e: e["Z"] * e["D"],
    )


CASES = (_case(segment_sum, segment_sum_oracle, 4), _case(jagged_mean, jagged_mean_oracle, 2))
