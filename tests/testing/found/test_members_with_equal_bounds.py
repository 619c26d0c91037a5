"""Seed 1094 of `intent-np fuzz`, machine: different in lower_to_coordinates."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(x1: I.In[I.f32, (0, "K")], z2: I.InOut[I.f32, ("K", "2 * K")]):
    K = x1.shape[1]
    for p1, p2 in I.parallel((I.domain(0, K), I.domain(0, 2 * K, 2))):
        z2[p1, p2] = 0


def test_it_holds():
    arrays = {
        "x1": np.array([], np.float64).reshape((0, 2)),
        "z2": np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.float64).reshape((2, 4)),
    }
    holds(k, {"K": 2}, arrays)
