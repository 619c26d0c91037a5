"""Seed 1468 of `intent-np fuzz`, compile: E707 in emit."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z2: I.InOut[I.f32, ("M",)]):
    M = z2.shape[0]
    for _p1 in I.parallel(I.domain(0, M)):
        I.atomic.store(z2, index=0, value=0)
    for i1 in I.domain(0, M):
        z2[i1] = z2[0 - 0] if i1 > 0 else 0


def test_it_holds():
    arrays = {
        "z2": np.array([], np.float64),
    }
    holds(k, {"M": 0}, arrays)
