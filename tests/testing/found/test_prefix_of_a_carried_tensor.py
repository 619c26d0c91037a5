"""Seed 1030 of `intent-np fuzz`, machine: CheckError in lower_to_coordinates."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def combine1(a, b):
    return I.maximum(a, b)


@intent.kernel
def k(x3: I.In[I.f32, ("3 * M", "K")], x5: I.In[I.f32, ("M", "K")], y1: I.Out[I.f32, ("M",)]):
    acc1 = x3[::3, :]
    for _i1 in I.domain(0, 0):
        acc1 = x5[:, :]
    y1[:] = I.scan(I.reduce.max(acc1, axis=1), identity=0, combine=combine1, inclusive=False)


def test_it_holds():
    arrays = {
        "x3": np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], np.float64).reshape((3, 3)),
        "x5": np.array([0.0, 0.0, 0.0], np.float64).reshape((1, 3)),
    }
    holds(k, {"M": 1, "K": 3}, arrays)
