"""What has no infinity is no maximum that sums are rescaled to: the pass asked for its identity all the same."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def bytes_of(x: I.In[I.u8, ("N",)], y: I.Out[I.u8, ("N",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        tile = I.domain(0, x.shape[0])[p : I.minimum(p + 1, x.shape[0])]
        y[tile] = I.reduce.max(x[tile])


@intent.kernel
def short_floats(x: I.In[I.f32, ("M",)], y: I.Out[I.f8e4m3fn, ()]):
    kept = I.buffer((0, x.shape[0]), I.f32)
    kept[...] = 0
    y[()] = I.reduce.sum(I.reduce.min(kept[:, :], axis=0), acc_dtype=I.f8e4m3fn)


@pytest.mark.parametrize(
    ("kernel", "sizes", "x"),
    [(bytes_of, {"N": 3}, np.array([3, 1, 2], np.uint8)), (short_floats, {"M": 0}, np.zeros(0))],
)
def test_it_holds(kernel, sizes, x):
    holds(kernel, sizes, {"x": x}, oracles=("reference", "machine"), numerics="relaxed")
