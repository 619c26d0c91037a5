"""Elementwise kernels over whole tensors."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import erf, exact, sigmoid, sqrt, tanh

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


@intent.kernel
def gelu_erf(x: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("N",)]):
    """y = x Phi(x) = x/2 (1 + erf(x / sqrt(2))), in f32."""
    value = I.cast(x[:], I.f32)
    y[:] = I.cast(0.5 * value * (1.0 + I.erf(value * 0.7071067811865476)), I.bf16)


@intent.kernel
def gelu_tanh(x: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("N",)]):
    """y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), in f32."""
    value = I.cast(x[:], I.f32)
    inner = 0.7978845608028654 * (value + 0.044715 * (value * value * value))
    y[:] = I.cast(0.5 * value * (1.0 + I.tanh(inner)), I.bf16)


@intent.kernel
def adamw(
    gradient: I.In[I.f32, ("N",)],
    parameter: I.InOut[I.f32, ("N",)],
    momentum: I.InOut[I.f32, ("N",)],
    variance: I.InOut[I.f32, ("N",)],
    rate: I.f32,
    decay: I.f32,
    epsilon: I.f32,
    correction: I.f32,
    correction2: I.f32,
    BETA: I.Constexpr[float] = 0.9,
    BETA2: I.Constexpr[float] = 0.999,
):
    """m = BETA m + (1 - BETA) g, v = BETA2 v + (1 - BETA2) g^2, p -= rate (m' / (sqrt(v') + epsilon) + decay p), where
    m' = correction m and v' = correction2 v.

    The corrections 1 / (1 - BETA^t) and 1 / (1 - BETA2^t) of step t come from the host.
    """
    g = gradient[:]
    m = BETA * momentum[:] + (1 - BETA) * g
    v = BETA2 * variance[:] + (1 - BETA2) * (g * g)
    p = parameter[:]
    step = correction * m / (I.sqrt(correction2 * v) + epsilon)
    momentum[:] = m
    variance[:] = v
    parameter[:] = p - rate * (step + decay * p)


@intent.kernel
def intdivmod(
    n: I.In[I.i32, ("N",)], d: I.In[I.i32, ("N",)], quotient: I.Out[I.i32, ("N",)], remainder: I.Out[I.i32, ("N",)]
):
    """n = quotient d + remainder, where the remainder is 0 or has the sign of d and is smaller; d is not 0."""
    quotient[:] = n[:] // d[:]
    remainder[:] = n[:] % d[:]


# Oracles
def axpby_oracle(a, x, b, y):
    return {"out": exact(x) * a + exact(y) * b}


def relu_oracle(x):
    return {"y": np.where(np.isnan(x) | (x > 0), x, 0.0)}


def swiglu_oracle(gate, up):
    g = exact(gate)
    return {"out": (g * sigmoid(g)).to("bf16") * exact(up, "bf16")}


def gelu_erf_oracle(x):
    value = exact(x)
    return {"y": 0.5 * value * (1.0 + erf(value * np.sqrt(0.5)))}


def gelu_tanh_oracle(x):
    value = exact(x)
    return {"y": 0.5 * value * (1.0 + tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * (value * value * value))))}


def adamw_oracle(
    gradient, parameter, momentum, variance, rate, decay, epsilon, correction, correction2, BETA, BETA2
):  # fmt: skip
    g, p = exact(gradient), exact(parameter)
    m = exact(momentum) * BETA + g * (1 - BETA)
    v = exact(variance) * BETA2 + (g * g) * (1 - BETA2)
    step = m * correction / (sqrt(v * correction2) + epsilon)
    return {"momentum": m, "variance": v, "parameter": p - (step + p * decay) * rate}


def intdivmod_oracle(n, d):
    """From the magnitudes: truncated, and one step down where there is a rest and the signs differ."""
    quotient, rest = np.divmod(np.abs(n), np.abs(d))
    quotient, rest = np.sign(n) * np.sign(d) * quotient, np.sign(n) * rest
    below = (rest != 0) & (np.sign(n) != np.sign(d))
    return {"quotient": quotient - below, "remainder": rest + below * d}


def _moments(extents, rng):
    """Second moments, which are not negative."""
    return {"variance": np.abs(rng.standard_normal(extents["N"]))}


def _divisible(extents, rng):
    """All signs and sizes, the extremes among them, but no 0 to divide by, and no quotient outside of i32."""
    low, high = -(2**31), 2**31 - 1
    edges = np.array([low, low + 1, -7, -2, -1, 1, 2, 7, high - 1, high])
    n, d = (
        np.where(rng.random(extents["N"]) < 0.5, rng.choice(edges, extents["N"]), drawn)
        for drawn in (rng.integers(low, high, extents["N"]), rng.integers(1, 100, extents["N"]))
    )
    d = d * np.where(rng.random(len(d)) < 0.5, 1, -1)
    d = np.clip(d, low, high)  # -low is no i32
    return {"n": np.where((n == low) & (d == -1), low + 1, n), "d": d}


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
    Case(
        name="gelu_erf",
        kernel=gelu_erf,
        oracle=gelu_erf_oracle,
        small=VECTORS,
        bytes=lambda e: 2 * 2 * _elements(e),
        flops=lambda e: 6 * _elements(e),
    ),
    Case(
        name="gelu_tanh",
        kernel=gelu_tanh,
        oracle=gelu_tanh_oracle,
        small=VECTORS,
        bytes=lambda e: 2 * 2 * _elements(e),
        flops=lambda e: 9 * _elements(e),
    ),
    Case(
        name="adamw",
        kernel=adamw,
        oracle=adamw_oracle,
        small=VECTORS,
        scalars={"rate": 1e-3, "decay": 0.01, "epsilon": 1e-8, "correction": 1 / 0.271, "correction2": 1 / 0.002997},
        constexprs={"BETA": 0.9, "BETA2": 0.999},
        structured=_moments,
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 7 * 4 * _elements(e),
        flops=lambda e: 16 * _elements(e),
    ),
    Case(
        name="intdivmod",
        kernel=intdivmod,
        oracle=intdivmod_oracle,
        small=VECTORS,
        structured=_divisible,
        values=("normal",),
        bytes=lambda e: 4 * 4 * _elements(e),
        flops=lambda e: 2 * _elements(e),
    ),
)
