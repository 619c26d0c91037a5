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

from .ordered_rows import (
    compacted,
    cut,
    guarded,
    iterated,
    looked_up,
    published,
    reduced,
    scattered,
    staged,
    weighed_steps,
)


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
def both_ways(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cumsum(x[:], axis=0) - I.cumsum(x[:], axis=0, reverse=True)


@intent.kernel
def picked(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        _, at = I.arg_reduce.max(x[row, :], axis=0)
        y[row] = x[row, at] if at >= 0 and at < x.shape[1] else 0.0


@intent.kernel
def found_and_shifted(x: I.In[I.f32, ("M", "N")], at: I.Out[I.i64, ("M",)], y: I.Out[I.f32, ("M", "N")]):
    """The place of the maximum, and how far all else is from it."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.exp(x[row, :])
        top, place = I.arg_reduce.max(value, axis=0)
        at[row] = I.cast(place, I.i64)
        y[row, :] = value - top


@intent.fn
def pooled(a, b):
    count = a.count + b.count
    share, step = b.count / I.maximum(count, 1.0), b.mean - a.mean
    spread = a.spread + b.spread + step * step * a.count * share
    return I.record(count=count, mean=a.mean + step * share, spread=spread)


@intent.kernel
def welford(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    """Rows of mean 0 and variance 1, by a reduction of records."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.tanh(x[row, :])
        sample = I.record(count=I.full(value.shape, 1.0, I.f32), mean=value, spread=I.zeros(value.shape, I.f32))
        found = I.reduce(sample, axis=0, identity=I.record(count=0.0, mean=0.0, spread=0.0), combine=pooled)
        y[row, :] = (value - found.mean) * I.rsqrt(found.spread / found.count + 1e-5)


@intent.kernel
def distribution(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    """The share of all up to each member: a scan that waits for reductions."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        weight = I.exp(x[row, :] - I.reduce.max(x[row, :], axis=0))
        y[row, :] = I.cumsum(weight, axis=0) / I.reduce.sum(weight, axis=0)


@intent.kernel
def scanned_twice(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    """A reduction of a scan, and that scan again."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        behind = I.cumsum(I.erf(x[row, :]), axis=0, reverse=True)
        y[row, :] = behind - I.reduce.max(behind, axis=0)


@intent.fn
def moments(values):
    count = I.reduce.sum(I.full(values.shape, 1.0, I.f32), axis=0)
    mean = I.reduce.sum(values, axis=0) / count
    return I.record(count=count, mean=mean, spread=I.reduce.sum((values - mean) * (values - mean), axis=0))


@intent.kernel
def folded(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    """A fold of slices that waits for a maximum, and what it is for."""
    nothing = I.record(count=0.0, mean=0.0, spread=0.0)
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.exp(x[row, :] - I.reduce.max(x[row, :], axis=0))
        found = I.region_fold(value, axis=0, summarize=moments, combine=pooled, identity=nothing)
        y[row, :] = (value - found.mean) * I.rsqrt(found.spread / found.count + 1e-5)


@intent.kernel
def jagged(x: I.In[I.f32, ("T", "N")], offsets: I.In[I.i32, ("G + 1",)], y: I.Out[I.f32, ("T", "N")]):
    """A softmax of the rows of each group."""
    groups = I.domain(0, offsets.shape[0] - 1)
    rows = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(groups):
        weight = I.exp(x[rows[g], :] - I.reduce.max(x[rows[g], :], axis=0))
        y[rows[g], :] = weight / I.reduce.sum(weight, axis=0)


@intent.kernel
def square(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    """Two axes of one domain, which are two all the same."""
    weight = I.exp(x[:, :] - I.reduce.max(I.reduce.max(x[:, :], axis=1), axis=0))
    y[:, :] = weight / I.reduce.sum(I.reduce.sum(weight, axis=1), axis=0)


@intent.kernel
def three_axes(x: I.In[I.f32, ("M", "A", "B", "C")], y: I.Out[I.f32, ("M", "A", "B", "C")]):
    """Three loops in each other, and reductions that need two of them."""
    for m in I.parallel(I.domain(0, x.shape[0])):
        value = x[m, :, :, :]
        top = I.reduce.max(I.reduce.max(I.reduce.max(value, axis=2), axis=1), axis=0)
        y[m, :, :, :] = value * top - I.reduce.sum(value, axis=1, keepdims=True)


@intent.kernel
def stepped(w: I.In[I.f32, ("A",)], x: I.In[I.f32, ("A", "B")], y: I.Out[I.f32, ("A", "B")]):
    """A scan along the axis of a loop, of which another loop inside of it needs the prefix in hand."""
    y[:, :] = I.cumsum(w[:], axis=0)[:, None] * x[:, :] - I.reduce.sum(x[:, :], axis=1, keepdims=True)


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
    "argmax": Case(found_and_shifted, {"M": 3, "N": 70}),
    "argmax held": Case(found_and_shifted, {"M": 3, "N": 70}, "strict", ("N",)),
    "welford": Case(welford, {"M": 2, "N": 50}, "strict"),
    "distribution": Case(distribution, {"M": 3, "N": 70}),
    "distribution held": Case(distribution, {"M": 3, "N": 40}, "strict", ("N",)),
    "scanned_twice": Case(scanned_twice, {"M": 3, "N": 70}, "strict"),
    "folded": Case(folded, {"M": 3, "N": 70}),
    "square": Case(square, {"N": 20}, "strict"),
    "iterated": Case(iterated, {"M": 2, "N": 40, "T": 3}),
    "weighed_steps": Case(weighed_steps, {"M": 2, "N": 40, "T": 3}),
    "staged": Case(staged, {"M": 2, "N": 40}),
    "scattered": Case(scattered, {"M": 2, "N": 40}),
    "picked": Case(picked, {"M": 3, "N": 70}),
    "compacted": Case(compacted, {"M": 3, "N": 40}, "strict"),
    "looked_up": Case(looked_up, {"M": 3, "N": 40, "K": 12}, "strict"),
    "three_axes": Case(three_axes, {"M": 2, "A": 5, "B": 9, "C": 20}, "strict"),
    "three_axes short": Case(three_axes, {"M": 1, "A": 33, "B": 36, "C": 40}, "strict", ("A", "B", "C")),
    "stepped": Case(stepped, {"A": 40, "B": 20}, "strict"),
    "reduced": Case(reduced, {"M": 2, "N": 20}, "strict"),
    "published": Case(published, {"M": 3, "N": 40}, "strict"),
    "guarded": Case(guarded, {"M": 3, "N": 40}, "strict"),
    "cut": Case(cut, {"T": 40, "N": 3, "G": 3, "G + 1": 4}),
    "jagged": Case(jagged, {"T": 40, "N": 3, "G": 3, "G + 1": 4}),
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
            made[p.name] = np.full(shape, np.nan if dtype.kind == "f" else -1, dtype)
        elif dtype.kind == "i":
            found = rng.integers(0, case.extents.get("T", case.extents["N"]), shape).astype(dtype)
            if p.name == "offsets":
                found = np.sort(found)
                found[[0, -1]] = 0, case.extents["T"]
            made[p.name] = found
        else:
            made[p.name] = rng.standard_normal(shape).astype(dtype)
    return made


__all__ = ["CASES", "Case", "Pick", "arguments", "planned", "small_point"]
