"""Seed 1101 of `intent-np fuzz`, compile: TypeError in block_axes ordered.Recur.infer."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize_region1(values):
    return I.record(f0=I.reduce.sum(values, axis=1), f1=0)


@intent.fn
def combine_region1(a, b):
    return I.record(f0=a.f0, f1=0)


@intent.kernel
def k(x7: I.In[I.f32, (0, "N + 1")], x8: I.In[I.i32, ("N", "K")], y2: I.Out[I.f32, ("N", "N + 1")]):
    acc1 = x8[I.domain(0, x8.shape[0])]
    for _i1 in I.domain(0, 0):
        acc1 = acc1
    t6 = I.region_fold(
        acc1, axis=1, summarize=summarize_region1, combine=combine_region1, identity=I.record(f0=0, f1=0)
    ).f0
    y2[:, :] = I.pad(I.gather(x7[:, :-1], t6, valid=(0 <= t6 < 0)[:, None], fill=0), ((0, 0), (1, 0)))


def test_it_holds():
    arrays = {
        "x7": np.array([], np.float64).reshape((0, 1)),
        "x8": np.array([], np.int32).reshape((0, 0)),
    }
    holds(k, {"N": 0, "K": 0}, arrays)
