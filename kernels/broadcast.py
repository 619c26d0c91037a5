"""Broadcasting and layout."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, larger, select

from .extents import MATRICES


@intent.kernel
def bias_relu(x: I.In[I.f16, ("M", "N")], bias: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("M", "N")]):
    """y = max(x + bias, 0), in f32."""
    biased = I.cast(x[:, :], I.f32) + I.cast(bias[:], I.f32)
    y[:, :] = I.cast(I.maximum(biased, 0.0), I.f16)


@intent.kernel
def outer_add_mask(
    a: I.In[I.f16, ("M",)],
    b: I.In[I.f16, ("N",)],
    mask: I.In[I.bool, ("M", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    """out[m, n] = a[m] + b[n] where the mask holds, else 0."""
    total = I.cast(a[:, None], I.f32) + I.cast(b[None, :], I.f32)
    out[:, :] = I.cast(I.select(mask[:, :], total, 0.0), I.f16)


@intent.kernel
def transpose(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    """y[n, m] = x[m, n]."""
    y[:, :] = I.transpose(x[:, :])


# Oracles
def bias_relu_oracle(x, bias):
    return {"y": larger(exact(x) + exact(bias), 0.0)}


def outer_add_mask_oracle(a, b, mask):
    return {"out": select(mask, exact(a[:, None]) + exact(b[None, :]), 0.0)}


def transpose_oracle(x):
    return {"y": np.swapaxes(x, 0, 1)}


CASES = (
    Case(
        name="bias_relu",
        kernel=bias_relu,
        oracle=bias_relu_oracle,
        small=MATRICES,
        bytes=lambda e: 2 * (2 * e["M"] * e["N"] + e["N"]),
        flops=lambda e: 2 * e["M"] * e["N"],
    ),
    Case(
        name="outer_add_mask",
        kernel=outer_add_mask,
        oracle=outer_add_mask_oracle,
        small=MATRICES,
        bytes=lambda e: 3 * e["M"] * e["N"] + 2 * (e["M"] + e["N"]),
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="transpose",
        kernel=transpose,
        oracle=transpose_oracle,
        small=MATRICES,
        large=({"M": 16384, "N": 8192},),
        bytes=lambda e: 2 * 4 * e["M"] * e["N"],
        flops=lambda e: 0,
    ),
)
