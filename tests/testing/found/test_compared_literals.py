"""Found by hand beside seed 520248: Triton compares a literal as f32, whatever it meets."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def f64(x: I.In[I.f64, ("N",)], y: I.Out[I.bool, ("N",)], z: I.Out[I.bool, ("N",)]):
    y[:] = I.minimum(x[:], 0.1) < 0.1
    z[:] = I.select(x[:] == 0.7, x[:], 0.3) >= 0.3


@intent.kernel
def f16(x: I.In[I.f16, ("N",)], y: I.Out[I.bool, ("N",)], z: I.Out[I.bool, ("N",)]):
    y[:] = I.minimum(x[:], 0.1) < 0.1
    z[:] = I.select(x[:] == 0.7, x[:], 0.3) >= 0.3


@intent.kernel
def bf16(x: I.In[I.bf16, ("N",)], y: I.Out[I.bool, ("N",)], z: I.Out[I.bool, ("N",)]):
    y[:] = I.minimum(x[:], 0.7) < 0.7
    z[:] = I.select(x[:] == 0.7, x[:], 0.3) >= 0.3


@intent.kernel
def f32(x: I.In[I.f32, ("N",)], y: I.Out[I.bool, ("N",)], z: I.Out[I.bool, ("N",)]):
    y[:] = I.minimum(x[:], 1e-40) < 1e-40
    z[:] = I.select(x[:] == 0.7, x[:], 0.3) >= 0.3


@pytest.mark.parametrize("kernel", [f64, f16, bf16, f32])
def test_it_holds(kernel):
    holds(kernel, {"N": 5}, {"x": np.array([0.1, 0.3, 0.7, 1e-40, 0.2])}, oracles=("reference", "machine", "triton"))
