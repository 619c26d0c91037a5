"""A sum that may pass the range of its format on the way may be NaN, and so may a bounded function of it."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import expected


@intent.kernel
def bounded(x: I.In[I.f16, ("N",)], y: I.In[I.f16, ("N",)], z: I.Out[I.f16, ()]):
    z[()] = I.tanh(I.dot(x[:], y[:], acc_dtype=I.f16))


def test_nothing_is_expected():
    x, y = np.array([110, 110, -110], "f2"), np.array([29952, 2, 29952], "f2")
    wanted = expected(bounded, {"x": x, "y": y, "z": np.zeros((), "f2")})["z"]
    assert np.isinf(wanted.bound)  # the products are infinities of either sign
    few = expected(bounded, {"x": x[1:2], "y": y[1:2], "z": np.zeros((), "f2")})["z"]
    assert few.bound < 0.01
