"""Seeds 95008 and 95029 of `intent-np fuzz --numerics relaxed`: a result that is NaN has no error relative to it."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.exp(x[:]) / I.cast(x.shape[0] - 3, I.f32)


def test_it_holds():
    holds(k, {"N": 3}, {"x": np.array([np.inf, -np.inf, np.nan])}, numerics="relaxed")
