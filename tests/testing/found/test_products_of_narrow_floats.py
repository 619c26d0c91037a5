"""Seed 20018 of `intent-np fuzz`, device: E601."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z2: I.InOut[I.f8e4m3fn, ("3 * M",)], x2: I.In[I.bool, ()], x5: I.In[I.f32, ("N",)]):
    I.scatter_unique(
        z2, index=I.domain(0, 0), value=I.reduce.prod(I.full(x5.shape, 1.5, I.f8e4m3fn), axis=0), valid=x2[()]
    )


def test_it_holds():
    arrays = {
        "z2": np.array([], np.float64),
        "x2": np.array([False], np.bool_).reshape(()),
        "x5": np.array([], np.float64),
    }
    holds(k, {"M": 0, "N": 0}, arrays, oracles=("reference", "machine", "text", "cubin"))
