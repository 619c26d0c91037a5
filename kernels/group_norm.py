"""Normalization over groups of channels and over batches, and what flows back through it."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, host_program, launch
from intent_np.testing.approx import Approx, exact, mean, rsqrt, total

from .reductions import pooled, pooled_moments


@intent.kernel
def group_norm(
    x: I.In[I.f16, ("B", "G", "C", "S")],
    weight: I.In[I.f16, ("G", "C")],
    bias: I.In[I.f16, ("G", "C")],
    epsilon: I.f32,
    y: I.Out[I.f16, ("B", "G", "C", "S")],
):
    """y = (x - mean) / sqrt(variance + epsilon) weight + bias, moments over the C channels and S places of a group."""
    B, G, C, S = x.shape
    count = I.cast(C, I.f32) * I.cast(S, I.f32)
    for b, g in I.parallel((I.domain(0, B), I.domain(0, G))):
        value = I.cast(x[b, g, :, :], I.f32)
        centered = value - I.reduce.sum(value) / count
        variance = I.reduce.sum(centered * centered) / count
        scale, shift = I.cast(weight[g, :, None], I.f32), I.cast(bias[g, :, None], I.f32)
        y[b, g, :, :] = I.cast(centered * I.rsqrt(variance + epsilon) * scale + shift, I.f16)


@intent.kernel
def group_norm_dx(
    dy: I.In[I.f16, ("B", "G", "C", "S")],
    x: I.In[I.f16, ("B", "G", "C", "S")],
    weight: I.In[I.f16, ("G", "C")],
    center: I.In[I.f32, ("B", "G")],
    scale: I.In[I.f32, ("B", "G")],
    dx: I.Out[I.f16, ("B", "G", "C", "S")],
):
    """dx = scale (g - mean(g) - h mean(g h)), where g = weight dy, h = (x - center) scale, means over the group."""
    B, G, C, S = x.shape
    count = I.cast(C, I.f32) * I.cast(S, I.f32)
    for b, g in I.parallel((I.domain(0, B), I.domain(0, G))):
        normal = (I.cast(x[b, g, :, :], I.f32) - center[b, g]) * scale[b, g]
        flow = I.cast(dy[b, g, :, :], I.f32) * I.cast(weight[g, :, None], I.f32)
        along = I.reduce.sum(flow * normal) / count
        dx[b, g, :, :] = I.cast(scale[b, g] * (flow - I.reduce.sum(flow) / count - normal * along), I.f16)


@intent.kernel
def group_norm_dweight(
    dy: I.In[I.f16, ("B", "G", "C", "S")],
    x: I.In[I.f16, ("B", "G", "C", "S")],
    center: I.In[I.f32, ("B", "G")],
    scale: I.In[I.f32, ("B", "G")],
    dweight: I.Out[I.f32, ("G", "C")],
    dbias: I.Out[I.f32, ("G", "C")],
):
    """dweight = sum of dy h and dbias = sum of dy over batch and places, where h = (x - center) scale."""
    _, G, C, _ = x.shape
    for g, c in I.parallel((I.domain(0, G), I.domain(0, C))):
        flow = I.cast(dy[:, g, c, :], I.f32)
        normal = (I.cast(x[:, g, c, :], I.f32) - center[:, g][:, None]) * scale[:, g][:, None]
        dweight[g, c] = I.reduce.sum(flow * normal)
        dbias[g, c] = I.reduce.sum(flow)


@host_program
def group_norm_backward(
    dy: I.In[I.f16, ("B", "G", "C", "S")],
    x: I.In[I.f16, ("B", "G", "C", "S")],
    weight: I.In[I.f16, ("G", "C")],
    center: I.In[I.f32, ("B", "G")],
    scale: I.In[I.f32, ("B", "G")],
    dx: I.Out[I.f16, ("B", "G", "C", "S")],
    dweight: I.Out[I.f32, ("G", "C")],
    dbias: I.Out[I.f32, ("G", "C")],
):
    """The gradients of x, weight and bias, from the means and reciprocal deviations that forward has kept."""
    launch(group_norm_dx, dy, x, weight, center, scale, dx)
    launch(group_norm_dweight, dy, x, center, scale, dweight, dbias)


@intent.kernel
def batch_norm(
    x: I.In[I.f32, ("B", "C", "S")],
    weight: I.In[I.f32, ("C",)],
    bias: I.In[I.f32, ("C",)],
    running_mean: I.InOut[I.f32, ("C",)],
    running_variance: I.InOut[I.f32, ("C",)],
    momentum: I.f32,
    epsilon: I.f32,
    y: I.Out[I.f32, ("B", "C", "S")],
):
    """y = (x - mean) / sqrt(variance + epsilon) weight + bias, moments of each channel over batch and places, which
    move the running ones by a share of momentum; the running variance is the unbiased one."""
    for c in I.parallel(I.domain(0, x.shape[1])):
        value = x[:, c, :]
        sample = I.record(count=I.full(value.shape, 1.0, I.f32), mean=value, spread=I.zeros(value.shape, I.f32))
        nothing = I.record(count=0.0, mean=0.0, spread=0.0)
        found = I.reduce(sample, axis=(0, 1), identity=nothing, combine=pooled)
        variance = found.spread / I.maximum(found.count, 1.0)
        y[:, c, :] = (value - found.mean) * I.rsqrt(variance + epsilon) * weight[c] + bias[c]
        unbiased = found.spread / I.maximum(found.count - 1.0, 1.0)
        running_mean[c] = running_mean[c] + momentum * (found.mean - running_mean[c])
        running_variance[c] = running_variance[c] + momentum * (unbiased - running_variance[c])


# Oracles
def _merged(x):
    """The channels and places of a group as one axis."""
    return x.reshape(*x.shape[:2], x.shape[2] * x.shape[3])


def _channels(value, model):
    """A value for each channel of each group, at each place."""
    spread = np.zeros_like(model) + value[None, :, :, None]
    return exact(_merged(spread))


def _like(result, model):
    """A result over merged axes in the shape of `model`."""
    error = result.error + np.zeros_like(result.value)
    return Approx(result.value.reshape(model.shape), error.reshape(model.shape), result.format)


def _summed(terms):
    """The sum over batch and places of each channel."""
    B, G, C, S = terms.value.shape
    parts = (terms.value, terms.error + np.zeros_like(terms.value))
    return total(
        Approx(*(np.moveaxis(p, 0, -1).reshape(G, C, S * B) for p in parts), terms.format), axis=2, keepdims=False
    )


def group_norm_oracle(x, weight, bias, epsilon):
    value = exact(_merged(x))
    centered = value - mean(value, axis=2)
    normal = centered * rsqrt(mean(centered * centered, axis=2) + epsilon)
    return {"y": _like(normal * _channels(weight, x) + _channels(bias, x), x)}


def group_norm_backward_oracle(dy, x, weight, center, scale):
    rate = exact(scale[:, :, None])
    normal = (exact(_merged(x)) - exact(center[:, :, None])) * rate
    flow = exact(_merged(dy)) * _channels(weight, x)
    dx = rate * (flow - mean(flow, axis=2) - normal * mean(flow * normal, axis=2))
    return {
        "dx": _like(dx, x), "dweight": _summed(_like(exact(_merged(dy)) * normal, x)), "dbias": _summed(exact(dy))
    }  # fmt: skip


def batch_norm_oracle(x, weight, bias, running_mean, running_variance, momentum, epsilon):
    center, spread = pooled_moments(x, (0, 2))
    count = float(max(x.shape[0] * x.shape[2], 1))
    deviation = rsqrt(spread / count + epsilon)
    by_channel = (slice(None), None)
    normal = (exact(x) - center[by_channel]) * deviation[by_channel]
    old_mean, old_variance = exact(running_mean), exact(running_variance)
    return {
        "y": normal * exact(weight[by_channel]) + exact(bias[by_channel]),
        "running_mean": old_mean + (center - old_mean) * momentum,
        "running_variance": old_variance + (spread / max(count - 1, 1.0) - old_variance) * momentum,
    }


def _kept(extents, rng):
    """Means and reciprocal deviations such as forward keeps."""
    shape = extents["B"], extents["G"]
    return {"center": rng.standard_normal(shape) / 4, "scale": 0.5 + rng.random(shape)}


_GROUPS = tuple(
    {"B": b, "G": g, "C": c, "S": s}
    for b, g, c, s in (
        (0, 2, 3, 5), (2, 0, 3, 5), (1, 1, 1, 1), (2, 3, 5, 7), (1, 4, 2, 129), (3, 2, 17, 31), (2, 1, 4, 1000),
        (1, 2, 1, 4097),
    )
)  # fmt: skip
_BATCHES = tuple(
    {"B": b, "C": c, "S": s}
    for b, c, s in ((2, 0, 3), (1, 1, 1), (1, 3, 2), (3, 5, 7), (2, 4, 129), (17, 3, 31), (5, 2, 1000), (1, 2, 4097))
)
_FINITE = ("normal", "integers", "negative", "special")


def _elements(e):
    return e["B"] * e.get("G", 1) * e["C"] * e["S"]


CASES = (
    Case(
        name="group_norm",
        kernel=group_norm,
        oracle=group_norm_oracle,
        small=_GROUPS,
        scalars={"epsilon": 1e-5},
        bytes=lambda e: 2 * (2 * _elements(e) + 2 * e["G"] * e["C"]),
        flops=lambda e: 7 * _elements(e),
    ),
    Case(
        name="group_norm_backward",
        kernel=group_norm_backward,
        oracle=group_norm_backward_oracle,
        small=_GROUPS,
        structured=_kept,
        values=_FINITE,
        bytes=lambda e: 2 * 3 * _elements(e) + 10 * e["G"] * e["C"] + 8 * e["B"] * e["G"],
        flops=lambda e: 15 * _elements(e),
    ),
    Case(
        name="batch_norm",
        kernel=batch_norm,
        oracle=batch_norm_oracle,
        small=_BATCHES,
        scalars={"momentum": 0.1, "epsilon": 1e-5},
        values=_FINITE,
        bytes=lambda e: 4 * (2 * _elements(e) + 6 * e["C"]),
        flops=lambda e: 13 * _elements(e),
    ),
)
