"""Losses of predicted distributions, a row each."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, exp, log, matmul, maximum, mean, select, total

from .extents import PRODUCTS, ROWS


@intent.kernel
def cross_entropy(
    logits: I.In[I.bf16, ("M", "N")],
    target: I.In[I.i64, ("M",)],
    loss: I.Out[I.f32, ("M",)],
    IGNORE: I.Constexpr[int] = -100,
    SMOOTHING: I.Constexpr[float] = 0.0,
):
    """loss = log(sum(exp(x))) - (1 - SMOOTHING) x[target] - SMOOTHING mean(x) by row, in f32; 0 where the target is
    IGNORE.  Other targets are columns."""
    M, N = logits.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(logits[row, columns], I.f32)
        at = I.cast(target[row], I.index)
        chosen = I.cast(logits[row, at], I.f32) if at >= 0 and at < N else 0.0
        peak = I.reduce.max(value, axis=0)
        entropy = I.log(I.reduce.sum(I.exp(value - peak), axis=0)) + peak
        found = entropy - (1 - SMOOTHING) * chosen
        if SMOOTHING > 0:
            found = found - SMOOTHING * (I.reduce.sum(value, axis=0) / I.cast(N, I.f32))
        loss[row] = I.select(at == IGNORE, 0.0, found)


@intent.kernel
def fused_linear_cross_entropy(
    hidden: I.In[I.f16, ("M", "K")],
    weight: I.In[I.f16, ("N", "K")],
    target: I.In[I.i64, ("M",)],
    loss: I.Out[I.f32, ("M",)],
):
    """loss = log(sum(exp(x))) - x[target] by row of x = hidden weight', which is never stored."""
    words = I.domain(0, weight.shape[0])
    x = I.matmul(hidden[:, :], weight[words, :], transpose_rhs=True, acc_dtype=I.f32)
    peak = I.reduce.max(x, axis=1)
    total = I.reduce.sum(I.exp(x - peak[:, None]), axis=1)
    chosen = I.cast(target[:], I.index)[:, None] == I.indices(words)[None, :]
    loss[:] = I.log(total) + peak - I.reduce.sum(I.select(chosen, x, 0.0), axis=1)


@intent.kernel
def jsd(
    log_p: I.In[I.f32, ("M", "N")],
    log_q: I.In[I.f32, ("M", "N")],
    loss: I.Out[I.f32, ("M",)],
    BETA: I.Constexpr[float] = 0.5,
):
    """The generalized Jensen-Shannon divergence: with m = BETA p + (1 - BETA) q, BETA KL(p, m) + (1 - BETA) KL(q, m),
    where KL(p, m) = sum of p (log p - log m)."""
    M, N = log_p.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        a, b = log_p[row, columns], log_q[row, columns]
        p, q = I.exp(a), I.exp(b)
        middle = I.log(BETA * p + (1 - BETA) * q)
        loss[row] = I.reduce.sum(BETA * p * (a - middle) + (1 - BETA) * q * (b - middle), axis=0)


# Oracles
def _chosen(x, target):
    """The logits of the targets; a row without one has 0."""
    known = (target >= 0) & (target < x.value.shape[1])
    places = np.where(known, target, 0)[:, None]
    if x.value.shape[1] == 0:
        return exact(np.zeros(len(target)))
    error = x.error + np.zeros_like(x.value)
    taken = (np.take_along_axis(part, places, axis=1)[:, 0] for part in (x.value, error))
    return select(known, type(x)(*taken, x.format), 0.0)


def _entropy(x):
    peak = maximum(x, axis=1)
    return (log(total(exp(x - peak), axis=1)) + peak)[:, 0]


def cross_entropy_oracle(logits, target, IGNORE, SMOOTHING):
    x = exact(logits)
    found = _entropy(x) - _chosen(x, target) * (1 - SMOOTHING)
    if SMOOTHING:
        found = found - mean(x, axis=1, keepdims=False) * SMOOTHING
    return {"loss": select(target == IGNORE, 0.0, found)}


def fused_linear_cross_entropy_oracle(hidden, weight, target):
    x = matmul(exact(hidden), exact(weight).T)
    return {"loss": _entropy(x) - _chosen(x, target)}


def jsd_oracle(log_p, log_q, BETA):
    a, b = exact(log_p), exact(log_q)
    p, q = exp(a), exp(b)
    middle = log(p * BETA + q * (1 - BETA))
    return {"loss": total(p * BETA * (a - middle) + q * (1 - BETA) * (b - middle), axis=1, keepdims=False)}


def _targets(extents, rng):
    """Columns, of which the first and the last are frequent.  A third of the rows behind the first, and all that are
    empty, are ignored."""
    M, N = extents["M"], extents["N"]
    if N == 0:
        return {"target": np.full(M, -100)}
    target = np.where(rng.random(M) < 0.5, rng.integers(0, N, M), rng.choice([0, N - 1], M))
    return {"target": np.where((rng.random(M) < 0.3) & (np.arange(M) > 0), -100, target)}


def _columns(extents, rng):
    return {"target": rng.integers(0, max(extents["N"], 1), extents["M"])}


def _log_probabilities(extents, rng):
    """Rows of logarithms of distributions, one of them with little in common with the other."""
    made = {}
    for name, scale in (("log_p", 1.0), ("log_q", 4.0)):
        x = scale * rng.standard_normal((extents["M"], extents["N"]))
        made[name] = x - np.log(np.exp(x).sum(axis=1, keepdims=True, initial=1e-9))
    return made


def _entropy_case(name, smoothing):
    return Case(
        name=name,
        kernel=cross_entropy,
        oracle=cross_entropy_oracle,
        small=ROWS,
        constexprs={"IGNORE": -100, "SMOOTHING": smoothing},
        structured=_targets,
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 2 * e["M"] * e["N"] + 12 * e["M"],
        flops=lambda e: 5 * e["M"] * e["N"],
    )


CASES = (
    _entropy_case("cross_entropy", 0.0),
    _entropy_case("cross_entropy_smoothed", 0.1),
    Case(
        name="fused_linear_cross_entropy",
        kernel=fused_linear_cross_entropy,
        oracle=fused_linear_cross_entropy_oracle,
        small=tuple(e for e in PRODUCTS if e["N"]),
        structured=_columns,
        values=("normal", "integers", "negative"),
        bytes=lambda e: 2 * e["K"] * (e["M"] + e["N"]) + 12 * e["M"],
        flops=lambda e: 2 * e["M"] * e["N"] * e["K"],
    ),
    Case(
        name="jsd",
        kernel=jsd,
        oracle=jsd_oracle,
        small=ROWS,
        constexprs={"BETA": 0.3},
        structured=_log_probabilities,
        values=("normal",),
        bytes=lambda e: 2 * 4 * e["M"] * e["N"] + 4 * e["M"],
        flops=lambda e: 12 * e["M"] * e["N"],
    ),
)
