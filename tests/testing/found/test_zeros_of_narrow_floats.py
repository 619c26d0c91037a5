"""Seed 520181 of `intent-np fuzz`, device: E601; the negative zero of 8 bits was made of 32."""

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def f8e4m3fn(x: I.In[I.bool, ("N",)], y1: I.Out[I.f8e4m3fn, ("N",)], y2: I.Out[I.f8e4m3fn, ()]):
    y1[:] = I.select(x[:], 0.94, -0.0)
    y2[()] = -0.0


@intent.kernel
def f8e5m2(x: I.In[I.f8e5m2, ("N",)], y1: I.Out[I.f8e5m2, ("N + 2",)], y2: I.Out[I.f8e5m2, ()]):
    y1[:] = I.pad(x[:], ((1, 1),), constant_values=-0.0)
    a = I.cast(-0.0, I.f8e5m2)
    for i in I.domain(0, x.shape[0]):
        a = I.minimum(a, x[i])
    y2[()] = a


@pytest.mark.parametrize("kernel", [f8e4m3fn, f8e5m2])
def test_it_holds(kernel):
    holds(kernel, {"N": 5}, oracles=("reference", "machine", "triton", "cubin"))
