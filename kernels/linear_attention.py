"""Causal linear attention: a state of keys and values instead of a softmax."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A

from .extents import sizes


@intent.fn
def outer_products(q, k, v, time):
    """What a slice of time adds to the state: the sum of its k' v."""
    return I.matmul(k, v, transpose_lhs=True, acc_dtype=I.f32)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def outputs(q, k, v, time, state):
    """What the queries of a slice read: the state before it, and the slice's own members up to each of them."""
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32)
    seen = I.mask(scores, time[None, :] <= time[:, None], 0.0)
    before = I.matmul(I.cast(q, I.f32), state, acc_dtype=I.f32)
    return before + I.matmul(seen, I.cast(v, I.f32), acc_dtype=I.f32)


@intent.kernel
def causal_linear_attention(
    q: I.In[I.f16, ("B", "H", "T", "D")],
    k: I.In[I.f16, ("B", "H", "T", "D")],
    v: I.In[I.f16, ("B", "H", "T", "E")],
    initial: I.In[I.f32, ("B", "H", "D", "E")],
    out: I.Out[I.f16, ("B", "H", "T", "E")],
    final: I.Out[I.f32, ("B", "H", "D", "E")],
):
    """out[t] = q[t] S[t] with S[t] = S[t - 1] + k[t]' v[t], in f32; S begins as `initial` and ends as `final`."""
    B, H, T, D = q.shape
    E = v.shape[3]
    time = I.domain(0, T)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        found, final[b, h, :, :] = I.region_scan(
            (q[b, h, time, :], k[b, h, time, :], v[b, h, time, :], I.indices(time)),
            axis=0,
            summarize=outer_products,
            combine=plus,
            identity=I.zeros((D, E), I.f32),
            initial_state=initial[b, h, :, :],
            apply=plus,
            emit=outputs,
        )
        out[b, h, time, :] = I.cast(found, I.f16)


# Oracles
def causal_linear_attention_oracle(q, k, v, initial):
    """The sum over all times up to each, without a state; a product of three goes through sums over D and T."""
    value = np.tril(q @ k.swapaxes(-1, -2)) @ v + q @ initial
    size = np.tril(abs(q) @ abs(k).swapaxes(-1, -2)) @ abs(v) + abs(q) @ abs(initial)
    T, D = q.shape[2:]
    factors = [A.exact(x) for x in (q, k, v, initial)]
    return {
        "out": A.products(value, size, 2 * (T + D) + 2, *factors),
        "final": A.matmul_add(factors[1].T, factors[2], factors[3]),
    }


CASES = (
    Case(
        name="causal_linear_attention",
        kernel=causal_linear_attention,
        oracle=causal_linear_attention_oracle,
        small=sizes("B H T D E", "0 2 3 4 4, 2 1 0 4 3, 1 1 1 1 1, 2 3 7 5 3, 1 2 64 16 16, 1 1 131 8 20"),
        # what comes later meets zeros: finite
        values=("normal", "integers", "negative"),
        bytes=lambda e: e["B"] * e["H"] * (4 * e["T"] * (e["D"] + e["E"]) + 8 * e["D"] * e["E"]),
        flops=lambda e: 4 * e["B"] * e["H"] * e["T"] * e["D"] * e["E"],
    ),
)
