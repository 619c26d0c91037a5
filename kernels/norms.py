"""Normalizations of rows."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, mean, rsqrt, total

from .extents import ROWS


@intent.kernel
def layer_norm(
    x: I.In[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    bias: I.In[I.bf16, ("N",)],
    epsilon: I.f32,
    y: I.Out[I.bf16, ("M", "N")],
):
    """y = (x - mean) / sqrt(variance + epsilon) weight + bias by row, in f32; the variance is the biased one."""
    M, N = x.shape
    columns = I.domain(0, N)
    count = I.cast(N, I.f32)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(x[row, columns], I.f32)
        centered = value - I.reduce.sum(value, axis=0) / count
        variance = I.reduce.sum(centered * centered, axis=0) / count
        normal = centered * I.rsqrt(variance + epsilon)
        y[row, columns] = I.cast(normal * I.cast(weight[columns], I.f32) + I.cast(bias[columns], I.f32), I.bf16)


@intent.kernel
def rms_norm(
    x: I.In[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    epsilon: I.f32,
    y: I.Out[I.bf16, ("M", "N")],
):
    """y = x / sqrt(mean(x^2) + epsilon) weight by row, in f32."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(x[row, columns], I.f32)
        square = I.reduce.sum(value * value, axis=0) / I.cast(N, I.f32)
        y[row, columns] = I.cast(value * I.rsqrt(square + epsilon) * I.cast(weight[columns], I.f32), I.bf16)


@intent.kernel
def add_rms_norm(
    x: I.In[I.bf16, ("M", "N")],
    residual: I.InOut[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    epsilon: I.f32,
    y: I.Out[I.bf16, ("M", "N")],
):
    """residual += x, rounded to bf16, and y = residual / sqrt(mean(residual^2) + epsilon) weight by row."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        stream = x[row, columns] + residual[row, columns]
        residual[row, columns] = stream
        value = I.cast(stream, I.f32)
        square = I.reduce.sum(value * value, axis=0) / I.cast(N, I.f32)
        y[row, columns] = I.cast(value * I.rsqrt(square + epsilon) * I.cast(weight[columns], I.f32), I.bf16)


@intent.kernel
def rms_norm_backward(
    dy: I.In[I.bf16, ("M", "N")],
    x: I.In[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    scale: I.In[I.f32, ("M",)],
    dx: I.Out[I.bf16, ("M", "N")],
    dweight: I.Out[I.f32, ("N",)],
):
    """dx = scale (g - h mean(g h)) by row and dweight = sum of dy h over rows, where g = weight dy and h = x scale;
    scale is 1 / sqrt(mean(x^2) + epsilon), which forward has kept."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        normal = I.cast(x[row, columns], I.f32) * scale[row]
        flow = I.cast(dy[row, columns], I.f32) * I.cast(weight[columns], I.f32)
        along = I.reduce.sum(flow * normal, axis=0) / I.cast(N, I.f32)
        dx[row, columns] = I.cast(scale[row] * (flow - normal * along), I.bf16)
    dweight[:] = I.reduce.sum(I.cast(dy[:, :], I.f32) * (I.cast(x[:, :], I.f32) * scale[:, None]), axis=0)


# Oracles
def layer_norm_oracle(x, weight, bias, epsilon):
    value = exact(x)
    centered = value - mean(value, axis=1)
    normal = centered * rsqrt(mean(centered * centered, axis=1) + epsilon)
    return {"y": normal * exact(weight) + exact(bias)}


def rms_norm_oracle(x, weight, epsilon):
    value = exact(x)
    return {"y": value * rsqrt(mean(value * value, axis=1) + epsilon) * exact(weight)}


def add_rms_norm_oracle(x, residual, weight, epsilon):
    stream = exact(x, "bf16") + exact(residual, "bf16")
    value = stream.to("f32")
    return {"residual": stream, "y": value * rsqrt(mean(value * value, axis=1) + epsilon) * exact(weight)}


def rms_norm_backward_oracle(dy, x, weight, scale):
    rate = exact(scale[:, None])
    normal, flow = exact(x) * rate, exact(dy) * exact(weight)
    return {
        "dx": rate * (flow - normal * mean(flow * normal, axis=1)),
        "dweight": total(exact(dy) * normal, axis=0, keepdims=False),
    }


CASES = (
    Case(
        name="layer_norm",
        kernel=layer_norm,
        oracle=layer_norm_oracle,
        small=ROWS,
        large=({"M": 16384, "N": 4096},),
        scalars={"epsilon": 1e-5},
        bytes=lambda e: 2 * (2 * e["M"] * e["N"] + 2 * e["N"]),
        flops=lambda e: 7 * e["M"] * e["N"],
    ),
    Case(
        name="rms_norm",
        kernel=rms_norm,
        oracle=rms_norm_oracle,
        small=ROWS,
        large=({"M": 16384, "N": 4096},),
        scalars={"epsilon": 1e-6},
        bytes=lambda e: 2 * (2 * e["M"] * e["N"] + e["N"]),
        flops=lambda e: 4 * e["M"] * e["N"],
    ),
    Case(
        name="add_rms_norm",
        kernel=add_rms_norm,
        oracle=add_rms_norm_oracle,
        small=ROWS,
        scalars={"epsilon": 1e-6},
        bytes=lambda e: 2 * (4 * e["M"] * e["N"] + e["N"]),
        flops=lambda e: 5 * e["M"] * e["N"],
    ),
    Case(
        name="rms_norm_backward",
        kernel=rms_norm_backward,
        oracle=rms_norm_backward_oracle,
        small=ROWS,
        structured=lambda extents, rng: {"scale": 0.5 + rng.random(extents["M"])},
        bytes=lambda e: 2 * (3 * e["M"] * e["N"] + 3 * e["N"]) + 4 * e["M"],
        flops=lambda e: 10 * e["M"] * e["N"],
    ),
)
