"""Places in order along one dimension of an output, whose other dimension runs over the same members."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def square(x: I.In[I.index, ("N", "N + 1")], key: I.In[I.index, ("N + 1",)], z: I.Out[I.index, ("N + 1", "N + 1")]):
    z[:, :] = I.pad(x[:, :], ((1, 0), (0, 0)), constant_values=2) + I.argsort(key[:], axis=0)


def test_it_holds():
    arrays = {"x": np.zeros((1, 2), "i8"), "key": np.zeros(2, "i8")}
    holds(square, {"N": 1}, arrays, oracles=("reference", "machine", "text"))
    holds(square, {"N": 6}, layout="negative", values="integers", seed=1, oracles=("reference", "machine", "text"))
