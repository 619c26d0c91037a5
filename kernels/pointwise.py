"""Elementwise kernels over whole tensors."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, sigmoid

from .extents import MATRICES, VECTORS


@intent.kernel
def axpby(a: I.f32, x: I.In[I.f16, ("N",)], b: I.f32, y: I.In[I.f16, ("N",)], out: I.Out[I.f16, ("N",)]):
    """out = a x + b y, in f32."""
    out[:] = I.cast(a * I.cast(x[:], I.f32) + b * I.cast(y[:], I.f32), I.f16)


@intent.kernel
def relu(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    """y = max(x, 0); NaN stays NaN."""
    y[:, :] = I.maximum(x[:, :], 0.0)


@intent.kernel
def swiglu(gate: I.In[I.bf16, ("M", "N")], up: I.In[I.bf16, ("M", "N")], out: I.Out[I.bf16, ("M", "N")]):
    """out = silu(gate) up.  The activated gate is rounded to bf16, as a network that stores it would round it."""
    g = I.cast(gate[:, :], I.f32)
    activated = I.cast(g * I.sigmoid(g), I.bf16)
    out[:, :] = activated * up[:, :]


# Oracles
def axpby_oracle(a, x, b, y):
    return {"out": exact(x) * a + exact(y) * b}


def relu_oracle(x):
    return {"y": np.where(np.isnan(x) | (x > 0), x, 0.0)}


def swiglu_oracle(gate, up):
    g = exact(gate)
    return {"out": (g * sigmoid(g)).to("bf16") * exact(up, "bf16")}


def _elements(extents):
    return extents.get("M", 1) * extents["N"]


CASES = (
    Case(
        name="axpby",
        kernel=axpby,
        oracle=axpby_oracle,
        small=VECTORS,
        scalars={"a": 1.25, "b": -0.7},
        bytes=lambda e: 3 * 2 * _elements(e),
        flops=lambda e: 3 * _elements(e),
    ),
    Case(
        name="relu",
        kernel=relu,
        oracle=relu_oracle,
        small=MATRICES,
        large=({"M": 8192, "N": 8192},),
        bytes=lambda e: 2 * 2 * _elements(e),
        flops=_elements,
    ),
    Case(
        name="swiglu",
        kernel=swiglu,
        oracle=swiglu_oracle,
        small=MATRICES,
        large=({"M": 8192, "N": 14336},),
        bytes=lambda e: 3 * 2 * _elements(e),
        flops=lambda e: 5 * _elements(e),
    ),
)
