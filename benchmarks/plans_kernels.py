"""Kernels whose values are used in more than one place or traversal, and the sizes at which their plans are measured.

All arrays are of types that CuPy has, so that measuring needs NumPy and CuPy alone.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import intent_np as intent
import intent_np.language as I

ELEMENTS = 2**26


@intent.kernel
def softmax(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        weight = I.exp(value - I.reduce.max(value, axis=0))
        y[row, :] = I.cast(weight / I.reduce.sum(weight, axis=0), I.f16)


@intent.kernel
def layer_norm(
    x: I.In[I.f16, ("M", "N")], weight: I.In[I.f16, ("N",)], bias: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("M", "N")]
):
    count = I.cast(x.shape[1], I.f32)
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        centered = value - I.reduce.sum(value, axis=0) / count
        normal = centered * I.rsqrt(I.reduce.sum(centered * centered, axis=0) / count + 1e-5)
        y[row, :] = I.cast(normal * I.cast(weight[:], I.f32) + I.cast(bias[:], I.f32), I.f16)


@intent.kernel
def rms_norm(x: I.In[I.f16, ("M", "N")], weight: I.In[I.f16, ("N",)], y: I.Out[I.f16, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        square = I.reduce.sum(value * value, axis=0) / I.cast(x.shape[1], I.f32)
        y[row, :] = I.cast(value * I.rsqrt(square + 1e-6) * I.cast(weight[:], I.f32), I.f16)


@intent.kernel
def rms_norm_backward(
    dy: I.In[I.f16, ("M", "N")],
    x: I.In[I.f16, ("M", "N")],
    weight: I.In[I.f16, ("N",)],
    scale: I.In[I.f32, ("M",)],
    dx: I.Out[I.f16, ("M", "N")],
):
    for row in I.parallel(I.domain(0, x.shape[0])):
        normal = I.cast(x[row, :], I.f32) * scale[row]
        flow = I.cast(dy[row, :], I.f32) * I.cast(weight[:], I.f32)
        along = I.reduce.sum(flow * normal, axis=0) / I.cast(x.shape[1], I.f32)
        dx[row, :] = I.cast(scale[row] * (flow - normal * along), I.f16)


@intent.kernel
def logsumexp(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        top = I.reduce.max(value, axis=0)
        y[row] = I.log(I.reduce.sum(I.exp(value - top), axis=0)) + top


@intent.kernel
def cross_entropy(x: I.In[I.f16, ("M", "N")], target: I.In[I.i64, ("M",)], loss: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        top = I.reduce.max(value, axis=0)
        at = I.cast(target[row], I.index)
        chosen = I.cast(x[row, at], I.f32) if at >= 0 and at < x.shape[1] else 0.0
        loss[row] = I.log(I.reduce.sum(I.exp(value - top), axis=0)) + top - chosen


@intent.fn
def pooled(a, b):
    count = a.count + b.count
    share = b.count / I.maximum(count, 1.0)
    apart = b.mean - a.mean
    spread = a.spread + b.spread + apart * apart * (a.count * share)
    return I.record(count=count, mean=a.mean + apart * share, spread=spread)


@intent.kernel
def welford(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    """Rows of mean 0 and variance 1, from moments that are pooled."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        sample = I.record(count=I.full(value.shape, 1.0, I.f32), mean=value, spread=I.zeros(value.shape, I.f32))
        found = I.reduce(sample, axis=0, identity=I.record(count=0.0, mean=0.0, spread=0.0), combine=pooled)
        y[row, :] = I.cast((value - found.mean) * I.rsqrt(found.spread / found.count + 1e-5), I.f16)


@intent.kernel
def variance(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    count = I.cast(x.shape[1], I.f32)
    for row in I.parallel(I.domain(0, x.shape[0])):
        centered = x[row, :] - I.reduce.sum(x[row, :], axis=0) / count
        y[row] = I.reduce.sum(centered * centered, axis=0) / count


@intent.kernel
def chain(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")], DEPTH: I.Constexpr[int] = 1):
    """Two dependent normalizations of a value that is dear to compute, more so with DEPTH."""
    count = I.cast(x.shape[1], I.f32)
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        value = I.tanh(I.erf(value) + value)
        if DEPTH > 1:
            value = I.tanh(I.erf(value) + value)
        centered = value - I.reduce.sum(value, axis=0) / count
        y[row, :] = I.cast(centered * I.rsqrt(I.reduce.sum(centered * centered, axis=0) / count + 1e-5), I.f16)


@intent.kernel
def two_axes(x: I.In[I.f16, ("M", 256, 256)], y: I.Out[I.f16, ("M", 256, 256)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[m, :, :], I.f32)
        weight = I.exp(value - I.reduce.max(I.reduce.max(value, axis=1), axis=0))
        y[m, :, :] = I.cast(weight / I.reduce.sum(I.reduce.sum(weight, axis=1), axis=0), I.f16)


@intent.kernel
def norm_matmul(x: I.In[I.f16, ("M", "K")], w: I.In[I.f16, ("K", "N")], y: I.Out[I.f16, ("M", "N")]):
    value = I.cast(x[:, :], I.f32)
    scale = I.rsqrt(I.reduce.sum(value * value, axis=1, keepdims=True) / I.cast(x.shape[1], I.f32) + 1e-6)
    y[:, :] = I.cast(I.matmul(I.cast(value * scale, I.f16), w[:, :], acc_dtype=I.f32), I.f16)


@intent.kernel
def attention(
    q: I.In[I.f16, ("H", "Q", 128)],
    k: I.In[I.f16, ("H", "K", 128)],
    v: I.In[I.f16, ("H", "K", 128)],
    out: I.Out[I.f16, ("H", "Q", 128)],
):
    for h in I.parallel(I.domain(0, q.shape[0])):
        scores = I.matmul(q[h, :, :], k[h, :, :], transpose_rhs=True, acc_dtype=I.f32) * 128**-0.5
        weight = I.exp(scores - I.reduce.max(scores, axis=1, keepdims=True))
        total = I.reduce.sum(weight, axis=1, keepdims=True)
        out[h, :, :] = I.cast(I.matmul(I.cast(weight, I.f16), v[h, :, :], acc_dtype=I.f32) / total, I.f16)


class Workload(NamedTuple):
    """A kernel at a size.  `bounded` extents are taken as the bounds of the class, so that a fragment may hold them."""

    kernel: Any
    extents: Mapping[str, int]
    numerics: str = "strict"
    constexprs: Mapping[str, Any] = {}
    bounded: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        size = "x".join(map(str, self.extents.values()))
        extra = "".join(f" {name}={value}" for name, value in self.constexprs.items())
        return f"{self.kernel.name} {size}{extra} {self.numerics}"


def rows(kernel: Any, n: int, numerics: str = "strict", **constexprs: Any) -> Workload:
    """As many rows as make 2^26 elements; up to 32768 a fragment may hold one."""
    return Workload(kernel, {"M": ELEMENTS // n, "N": n}, numerics, constexprs, ("N",) if n <= 32768 else ())


LENGTHS = (256, 1024, 4096, 16384, 32768, 65536, 131072)

WORKLOADS = (
    *(rows(softmax, n) for n in LENGTHS),
    *(rows(softmax, n, "relaxed") for n in LENGTHS[3:]),
    *(rows(layer_norm, n) for n in (4096, 16384, 32768, 65536)),
    *(rows(rms_norm, n) for n in (4096, 16384, 32768, 131072)),
    *(rows(rms_norm_backward, n) for n in (4096, 16384, 32768, 65536)),
    *(rows(logsumexp, n, numerics) for n in (32768, 131072) for numerics in ("strict", "relaxed")),
    *(rows(cross_entropy, n, numerics) for n in (32768, 131072) for numerics in ("strict", "relaxed")),
    *(rows(welford, n) for n in (4096, 32768)),
    rows(variance, 16384),
    *(rows(chain, 131072, "strict", DEPTH=depth) for depth in (1, 2)),
    rows(chain, 16384, "strict", DEPTH=1),
    Workload(two_axes, {"M": 1024}),
    *(Workload(norm_matmul, {"M": 4096, "N": 4096, "K": 4096}, n) for n in ("strict", "relaxed")),
    *(Workload(attention, {"H": 64, "Q": 4096, "K": 4096}, n) for n in ("strict", "relaxed")),
)
