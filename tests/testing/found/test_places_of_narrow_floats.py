"""Seeds 50031 and 50034 of random kernels, cubin: E601 where a reduction of several components has floats of 8 bits."""

import ml_dtypes
import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(x: I.In[I.f8e5m2, ("M", "N")], y: I.Out[I.f8e5m2, ("M",)], at: I.Out[I.index, ("M",)]):
    y[:], at[:] = I.arg_reduce.max(x[:, :], axis=1)


def test_it_holds():
    x = np.array([[1.5, -2.0, 1.5], [np.nan, 3.0, 0.0]], ml_dtypes.float8_e5m2)
    arrays = {"x": x, "y": np.zeros(2, x.dtype), "at": np.zeros(2, np.int64)}
    holds(k, {"M": 2, "N": 3}, arrays, oracles=("reference", "machine", "text", "cubin"))
