"""Seed 1307 of `intent-np fuzz`, compile: TypeError in block_axes ordered.Recur.infer."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize_region1(values, s):
    return (I.reduce.sum(values), 0)


@intent.fn
def combine_region1(a, b):
    return (0, 0)


@intent.kernel
def k(z1: I.InOut[I.f32, (1,)], x4: I.In[I.i32, ("N + 2",)]):
    acc1 = x4[1:1]
    for _oi1, _i1 in enumerate(I.domain(0, 0)):
        acc1 = x4[1:1]
    t2, _ = I.region_fold(
        acc1, axis=0, summarize=summarize_region1, combine=combine_region1, identity=(0, 0), operands=0
    )
    I.atomic.min(z1, index=t2 % 1, value=0)


def test_it_holds():
    arrays = {
        "z1": np.array([0.0], np.float64),
        "x4": np.array([0, 0], np.int32),
    }
    holds(k, {"N": 0}, arrays)
