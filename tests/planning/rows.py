"""Kernels whose values are used in several places or traversals, and what they are planned for."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage
from intent_np.passes.pipeline import run
from intent_np.permissions import NUMERICS
from intent_np.planning.cheapest import Pick
from intent_np.planning.problem import Limits, Problem
from intent_np.planning.saturate import Saturated, saturate
from intent_np.planning.work import Point
from intent_np.terms.core import Arena
from intent_np.terms.grouped import GroupedProgram


@intent.kernel
def softmax(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        weight = I.exp(value - I.reduce.max(value, axis=0))
        y[row, :] = I.cast(weight / I.reduce.sum(weight, axis=0), I.f16)


@intent.kernel
def layer_norm(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M", "N")]):
    count = I.cast(x.shape[1], I.f32)
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        centered = value - I.reduce.sum(value, axis=0) / count
        variance = I.reduce.sum(centered * centered, axis=0) / count
        y[row, :] = centered * I.rsqrt(variance + 1e-5) * w[:]


@intent.kernel
def rms_norm(
    x: I.In[I.bf16, ("M", "N")], w: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("M", "N")], s: I.Out[I.f32, ("M",)]
):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        scale = I.rsqrt(I.reduce.sum(value * value, axis=0) / I.cast(x.shape[1], I.f32) + 1e-6)
        s[row] = scale
        y[row, :] = I.cast(value * scale * I.cast(w[:], I.f32), I.bf16)


@intent.kernel
def logsumexp(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        top = I.reduce.max(x[row, :], axis=0)
        y[row] = I.log(I.reduce.sum(I.exp(x[row, :] - top), axis=0)) + top


@intent.kernel
def chain(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    """Two dependent normalizations of a value that is dear to compute."""
    count = I.cast(x.shape[1], I.f32)
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        dear = I.tanh(I.erf(value) + value)
        centered = dear - I.reduce.sum(dear, axis=0) / count
        y[row, :] = I.cast(centered * I.rsqrt(I.reduce.sum(centered * centered, axis=0) / count + 1e-5), I.f16)


@intent.kernel
def two_axes(x: I.In[I.f32, ("M", "A", "B")], y: I.Out[I.f32, ("M", "A", "B")]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        value = x[m, :, :]
        top = I.reduce.max(I.reduce.max(value, axis=1), axis=0)
        weight = I.exp(value - top)
        y[m, :, :] = weight / I.reduce.sum(I.reduce.sum(weight, axis=1), axis=0)


@intent.kernel
def norm_matmul(x: I.In[I.f16, ("M", "K")], w: I.In[I.f16, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    value = I.cast(x[:, :], I.f32)
    scale = I.rsqrt(I.reduce.sum(value * value, axis=1, keepdims=True) / I.cast(x.shape[1], I.f32) + 1e-6)
    y[:, :] = I.matmul(I.cast(value * scale, I.f16), w[:, :], acc_dtype=I.f32)


@intent.kernel
def attention(
    q: I.In[I.f16, ("Q", 16)], k: I.In[I.f16, ("K", 16)], v: I.In[I.f16, ("K", 16)], out: I.Out[I.f16, ("Q", 16)]
):
    scores = I.matmul(q[:, :], k[:, :], transpose_rhs=True, acc_dtype=I.f32) * 0.25
    weight = I.exp(scores - I.reduce.max(scores, axis=1, keepdims=True))
    total = I.reduce.sum(weight, axis=1, keepdims=True)
    out[:, :] = I.cast(I.matmul(I.cast(weight, I.f16), v[:, :], acc_dtype=I.f32) / total, I.f16)


@intent.kernel
def cross_entropy(x: I.In[I.f32, ("M", "N")], t: I.In[I.i64, ("M",)], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        top = I.reduce.max(value, axis=0)
        entropy = I.log(I.reduce.sum(I.exp(value - top), axis=0)) + top
        at = I.cast(t[row], I.index)
        y[row] = entropy - (x[row, at] if at >= 0 and at < x.shape[1] else 0.0)


@intent.kernel
def backward(
    dy: I.In[I.f32, ("M", "N")], x: I.In[I.f32, ("M", "N")], s: I.In[I.f32, ("M",)], dx: I.Out[I.f32, ("M", "N")]
):
    for row in I.parallel(I.domain(0, x.shape[0])):
        normal = x[row, :] * s[row]
        along = I.reduce.sum(dy[row, :] * normal, axis=0) / I.cast(x.shape[1], I.f32)
        dx[row, :] = s[row] * (dy[row, :] - normal * along)


@intent.kernel
def running(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cumsum(x[:], axis=0)


@intent.kernel
def furthest(x: I.In[I.f32, ("M", "N")], y: I.Out[I.index, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        _, y[row] = I.arg_reduce.max(x[row, :], axis=0)


class Case(NamedTuple):
    """A kernel, extents to run it at, and what it is compiled with; the class bounds the extents in `bound`.
    Results are `within` a tolerance, if it is not that of their dtype."""

    kernel: Any
    extents: Mapping[str, int]
    numerics: str = "relaxed"
    bound: tuple[str, ...] = ()
    within: float = 0.0


CASES = {
    "softmax": Case(softmax, {"M": 3, "N": 70}),
    "softmax held": Case(softmax, {"M": 3, "N": 70}, "strict", ("N",)),
    "layer_norm": Case(layer_norm, {"M": 2, "N": 65}),
    "rms_norm": Case(rms_norm, {"M": 3, "N": 64}),
    "logsumexp": Case(logsumexp, {"M": 3, "N": 50}),
    "chain": Case(chain, {"M": 2, "N": 70}),
    "two_axes": Case(two_axes, {"M": 2, "A": 9, "B": 20}, "strict", ("B",)),
    "norm_matmul": Case(norm_matmul, {"M": 17, "N": 18, "K": 40}, within=5e-3),
    "attention": Case(attention, {"Q": 20, "K": 37}),
    "cross_entropy": Case(cross_entropy, {"M": 4, "N": 40}),
    "backward": Case(backward, {"M": 2, "N": 70}, "strict"),
}

SMALL = 16
"""Members of the blocks in which small cases are planned, so that their loops have iterations and tails."""


class Planned(NamedTuple):
    """A case as a grouped program with the saturated problem of its one group."""

    case: Case
    space: Arena
    program: GroupedProgram
    saturated: Saturated


@cache
def planned(name: str, keep: bool = True) -> Planned:
    case = CASES[name]
    space = Arena()
    with space:
        logical = case.kernel.capture({}, permissions=NUMERICS[case.numerics])
        options = {"bind_class": {"bounds": {n: case.extents[n] for n in case.bound}}}
        program = run(logical, options=options, stop_after="form_groups")
        (group,) = program.groups
        problem = Problem(group, dict(case.extents), Limits())
        return Planned(case, space, program, saturate(problem, program.permissions, keep))


def small_point(s: Saturated, frame: Any) -> Point:
    """The frame in small blocks, of space axes one member, and of those of products as many."""
    from intent_np.planning.work import blocks_of

    wide = SMALL if s.problem.contracts else 1
    chosen = {a: SMALL if r == "loop" else wide for a, r in zip(s.problem.axes, frame.roles, strict=True)}
    return Point(s, frame, blocks_of(s.problem, frame, chosen), 132)


def arguments(case: Case, seed: int = 0) -> dict[str, np.ndarray]:
    """Normal values for inputs, NaN in outputs."""

    rng = np.random.default_rng(seed)
    made = {}
    for p in case.kernel.parameters:
        dtype = np.dtype(storage(p.dtype))
        shape = tuple(case.extents[str(e)] if str(e) in case.extents else int(str(e)) for e in p.shape)
        if p.mode == "out":
            made[p.name] = np.full(shape, np.nan, dtype)
        elif dtype.kind == "i":
            made[p.name] = rng.integers(0, case.extents["N"], shape)
        else:
            made[p.name] = rng.standard_normal(shape).astype(dtype)
    return made


__all__ = ["CASES", "Case", "Pick", "arguments", "planned", "small_point"]
