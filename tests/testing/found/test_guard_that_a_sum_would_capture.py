"""A condition along an axis, of a value that sums over that axis, is not about the members of the sum."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def one_sum(z: I.InOut[I.f32, ("N",)], x: I.In[I.f32, ("K", "N")], m: I.In[I.bool, ("N",)]):
    of_rows = I.reduce.sum(x[:, :], axis=1)
    value = I.gather(of_rows, 0, valid=x.shape[0] > 0, fill=0)
    I.scatter_unique(z, index=I.domain(0, z.shape[0]), value=value, valid=m[:])


@intent.kernel
def one_prefix(z: I.InOut[I.i32, ("N",)], x: I.In[I.i32, ("K", "N")], m: I.In[I.bool, ("N",)]):
    inside = x.shape[0] > 0
    value = I.gather(I.cumsum(x[:, :], axis=1), (0, slice(None)), valid=I.full((x.shape[1],), inside, I.bool), fill=0)
    I.scatter_unique(z, index=I.domain(0, z.shape[0]), value=value, valid=m[:])


ARRAYS = {"x": np.arange(1, 11.0).reshape(2, 5), "z": np.zeros(5), "m": np.array([0, 1, 0, 0, 1], bool)}


def test_sum() -> None:
    holds(one_sum, {"K": 2, "N": 5}, ARRAYS)
    holds(one_sum, {"K": 0, "N": 5})


def test_prefix() -> None:
    holds(one_prefix, {"K": 2, "N": 5}, ARRAYS)
    holds(one_prefix, {"K": 0, "N": 5})
