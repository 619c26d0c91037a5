"""Seed 1489 of `intent-np fuzz`, machine: different in block_axes."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def combine1(a, b):
    return a + b


@intent.fn
def summarize_region1(values, s):
    return I.reduce.max(values)


@intent.fn
def combine_region1(a, b):
    return I.maximum(a, b)


@intent.kernel
def k(z1: I.InOut[I.index, (1,)], x5: I.In[I.index, ("M", 1, "N")]):
    I.atomic.and_(
        z1,
        index=0,
        value=I.region_fold(
            I.scan(x5[:, I.domain(0, 1), :], axis=2, identity=0, combine=combine1, inclusive=True)[:, 0, :],
            axis=1,
            summarize=summarize_region1,
            combine=combine_region1,
            identity=0,
            operands=0,
        ),
    )


def test_it_holds():
    arrays = {
        "z1": np.array([1], np.int64),
        "x5": np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 0, 17], np.int64).reshape((1, 1, 18)),
    }
    holds(k, {"M": 1, "N": 18}, arrays)
