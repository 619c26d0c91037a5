"""Seed 520248 of `intent-np fuzz`, device: different; 0.9375 among 8-bit floats was written 0.94, and read in f32."""

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z1: I.InOut[I.f8e4m3fn, ("M",)]):
    for i2 in I.domain(0, z1.shape[0]):
        z1[i2] = I.erf(I.cast(1.5, I.f8e4m3fn)) + (z1[i2 - 1] if i2 > 0 else -1.0)


@intent.kernel
def bf16(x: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("N",)], z: I.Out[I.bf16, ("N",)], w: I.Out[I.bool, ("N",)]):
    y[:] = I.fmod(x[:], 0.3) * 0.7
    z[:] = I.maximum(x[:], 0.94) / 1.1
    w[:] = I.minimum(x[:], 0.94) < 0.94


@intent.kernel
def f8e5m2(x: I.In[I.f8e5m2, ("N",)], y: I.Out[I.f8e5m2, ("N",)], z: I.Out[I.f8e5m2, ("N",)], w: I.Out[I.bool, ("N",)]):
    y[:] = I.fmod(x[:], 0.3) * 0.7
    z[:] = I.select(x[:] < 0.94, 0.94, 1.1) - x[:]
    w[:] = I.minimum(x[:], 0.94) < 0.94


@pytest.mark.parametrize(("kernel", "extents"), [(k, {"M": 7}), (bf16, {"N": 33}), (f8e5m2, {"N": 33})])
def test_it_holds(kernel, extents):
    holds(kernel, extents, oracles=("reference", "machine", "triton"))
