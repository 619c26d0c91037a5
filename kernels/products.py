"""Matrix products with more to them: transposed and triangular operands, two products at once, scales and a bias."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A

from .extents import MATRICES, PRODUCTS


@intent.kernel
def matmul_tn(a: I.In[I.bf16, ("K", "M")], b: I.In[I.bf16, ("K", "N")], c: I.Out[I.bf16, ("M", "N")]):
    """C = A' B, in f32: the gradient of a linear layer's weight."""
    c[:, :] = I.cast(I.matmul(a[:, :], b[:, :], transpose_lhs=True, acc_dtype=I.f32), I.bf16)


@intent.kernel
def triangular_matmul(
    a: I.In[I.f16, ("M", "M")],
    b: I.In[I.f16, ("M", "N"), I.constraints(finite=True)],
    c: I.Out[I.f16, ("M", "N")],
):
    """C = L B, where L is the lower triangle of A, in f32; what stands above the diagonal of A plays no part, and what
    it would meet in B is finite."""
    axis = I.domain(0, a.shape[0])
    lower = I.indices(axis)[None, :] <= I.indices(axis)[:, None]
    triangle = I.mask(a[axis, axis], lower, 0)
    c[:, :] = I.cast(I.matmul(triangle, b[:, :], acc_dtype=I.f32), I.f16)


@intent.kernel
def swiglu_matmul(
    x: I.In[I.bf16, ("M", "K")],
    gate: I.In[I.bf16, ("K", "N")],
    up: I.In[I.bf16, ("K", "N")],
    y: I.Out[I.bf16, ("M", "N")],
):
    """Y = silu(X G) * (X U), in f32, with silu(z) = z / (1 + exp(-z))."""
    g = I.matmul(x[:, :], gate[:, :], acc_dtype=I.f32)
    u = I.matmul(x[:, :], up[:, :], acc_dtype=I.f32)
    y[:, :] = I.cast(g * I.sigmoid(g) * u, I.bf16)


@intent.kernel
def int8_matmul_bias(
    x: I.In[I.i8, ("M", "K")],
    w: I.In[I.i8, ("K", "N")],
    x_scale: I.In[I.f32, ("M",)],
    w_scale: I.In[I.f32, ("N",)],
    bias: I.In[I.bf16, ("N",)],
    y: I.Out[I.bf16, ("M", "N")],
):
    """y[m, n] = (sum over k of x[m, k] w[k, n]) x_scale[m] w_scale[n] + bias[n]: sums in i32, the rest in f32."""
    total = I.cast(I.matmul(x[:, :], w[:, :], acc_dtype=I.i32), I.f32)
    scaled = total * x_scale[:][:, None] * w_scale[:][None, :]
    y[:, :] = I.cast(scaled + I.cast(bias[:], I.f32)[None, :], I.bf16)


# Oracles
def matmul_tn_oracle(a, b):
    return {"c": A.matmul(A.exact(a).T, A.exact(b))}


def triangular_matmul_oracle(a, b):
    return {"c": A.matmul(A.exact(np.tril(a)), A.exact(b))}


def swiglu_matmul_oracle(x, gate, up):
    g, u = A.matmul(A.exact(x), A.exact(gate)), A.matmul(A.exact(x), A.exact(up))
    return {"y": g * A.sigmoid(g) * u}


def int8_matmul_bias_oracle(x, w, x_scale, w_scale, bias):
    total = A.exact(x @ w, "f64").to("f32")
    return {"y": total * A.exact(x_scale)[:, None] * A.exact(w_scale) + A.exact(bias)}


def _product(name, kernel, oracle, bytes, flops):
    return Case(name=name, kernel=kernel, oracle=oracle, small=PRODUCTS, bytes=bytes, flops=flops)


CASES = (
    _product(
        "matmul_tn",
        matmul_tn,
        matmul_tn_oracle,
        bytes=lambda e: 2 * (e["K"] * (e["M"] + e["N"]) + e["M"] * e["N"]),
        flops=lambda e: 2 * e["M"] * e["N"] * e["K"],
    ),
    Case(
        name="triangular_matmul",
        kernel=triangular_matmul,
        oracle=triangular_matmul_oracle,
        small=MATRICES,
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 2 * (e["M"] * (e["M"] + 1) // 2 + 2 * e["M"] * e["N"]),
        flops=lambda e: e["M"] * (e["M"] + 1) * e["N"],
    ),
    _product(
        "swiglu_matmul",
        swiglu_matmul,
        swiglu_matmul_oracle,
        bytes=lambda e: 2 * (e["M"] * e["K"] + 2 * e["K"] * e["N"] + e["M"] * e["N"]),
        flops=lambda e: 4 * e["M"] * e["N"] * e["K"],
    ),
    _product(
        "int8_matmul_bias",
        int8_matmul_bias,
        int8_matmul_bias_oracle,
        bytes=lambda e: e["K"] * (e["M"] + e["N"]) + 4 * e["M"] + 6 * e["N"] + 2 * e["M"] * e["N"],
        flops=lambda e: 2 * e["M"] * e["N"] * e["K"],
    ),
)
