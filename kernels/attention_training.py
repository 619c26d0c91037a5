"""Attention for training: the forward pass keeps the logarithm of each row's sum, and the backward pass starts from it.

Queries are (B, H, Q, D) and keys and values (B, H, K, D), f16.  The queries are the last Q of K positions, so query i
sees keys 0 to i + K - Q; one that sees none gives 0, and -inf as its logarithm.
"""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, host_program, launch
from intent_np.testing import approx as A

from .extents import sizes


@intent.fn
def causal(queries, keys, Q, K):
    """Which keys each query sees, if the queries are the last of the positions."""
    return I.indices(keys)[None, :] <= I.indices(queries)[:, None] + (K - Q)


@intent.kernel
def attention_forward(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    out: I.Out[I.f16, ("B", "H", "Q", "D")],
    lse: I.Out[I.f32, ("B", "H", "Q")],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
    CAUSAL: I.Constexpr[bool],
):
    """out = softmax(S) V and lse = log(sum over k of exp(S)), where S = SCALE Q K' of the keys that are seen."""
    B, H, Q, _ = q.shape
    K = k.shape[2]
    queries, keys = I.domain(0, Q), I.domain(0, K)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        scores = I.matmul(q[b, h, queries, :], k[b, h, keys, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        if CAUSAL:
            scores = I.select(causal(queries, keys, Q, K), scores, float("-inf"))
        peak = I.reduce.max(scores, axis=1)
        base = I.select(peak == float("-inf"), 0.0, peak)
        weight = I.exp(scores - base[:, None])
        total = I.reduce.sum(weight, axis=1)
        share = I.select(total > 0, total, 1.0)
        product = I.matmul(I.cast(weight, I.f16), v[b, h, keys, :], acc_dtype=I.f32)
        out[b, h, queries, :] = I.cast(product / share[:, None], I.f16)
        lse[b, h, queries] = base + I.log(total)


@intent.kernel
def attention_delta(
    out: I.In[I.f16, ("B", "H", "Q", "D")],
    dout: I.In[I.f16, ("B", "H", "Q", "D")],
    delta: I.Out[I.f32, ("B", "H", "Q")],
):
    """delta = sum over d of out dout: how far each row's total weight would move."""
    delta[:, :, :] = I.reduce.sum(I.cast(out[...], I.f32) * I.cast(dout[...], I.f32), axis=3)


@intent.fn
def gradients(q, k, v, dout, lse, delta, seen, SCALE):
    """(P, dS): the weights of some queries and keys, and the gradient of their scores."""
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32) * SCALE
    weight = I.select(seen, I.exp(scores - lse[:, None]), 0.0)
    moved = I.matmul(dout, v, transpose_rhs=True, acc_dtype=I.f32)
    return weight, weight * (moved - delta[:, None])


@intent.kernel
def attention_backward_keys(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    dout: I.In[I.f16, ("B", "H", "Q", "D")],
    lse: I.In[I.f32, ("B", "H", "Q")],
    delta: I.In[I.f32, ("B", "H", "Q")],
    dk: I.Out[I.f16, ("B", "H", "K", "D")],
    dv: I.Out[I.f16, ("B", "H", "K", "D")],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """dV = P' dO and dK = SCALE dS' Q, where P = exp(S - lse) and dS = P (dO V' - delta)."""
    B, H, Q, _ = q.shape
    K = k.shape[2]
    queries, keys = I.domain(0, Q), I.domain(0, K)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        query, change = q[b, h, queries, :], dout[b, h, queries, :]
        weight, moved = gradients(
            query, k[b, h, keys, :], v[b, h, keys, :], change, lse[b, h, queries], delta[b, h, queries],
            causal(queries, keys, Q, K), SCALE,
        )  # fmt: skip
        dv[b, h, keys, :] = I.cast(I.matmul(I.cast(weight, I.f16), change, transpose_lhs=True, acc_dtype=I.f32), I.f16)
        total = I.matmul(I.cast(moved, I.f16), query, transpose_lhs=True, acc_dtype=I.f32)
        dk[b, h, keys, :] = I.cast(total * SCALE, I.f16)


@intent.kernel
def attention_backward_queries(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    dout: I.In[I.f16, ("B", "H", "Q", "D")],
    lse: I.In[I.f32, ("B", "H", "Q")],
    delta: I.In[I.f32, ("B", "H", "Q")],
    dq: I.Out[I.f16, ("B", "H", "Q", "D")],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """dQ = SCALE dS K, with dS = P (dO V' - delta)."""
    B, H, Q, _ = q.shape
    K = k.shape[2]
    queries, keys = I.domain(0, Q), I.domain(0, K)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        key = k[b, h, keys, :]
        _, moved = gradients(
            q[b, h, queries, :], key, v[b, h, keys, :], dout[b, h, queries, :], lse[b, h, queries],
            delta[b, h, queries], causal(queries, keys, Q, K), SCALE,
        )  # fmt: skip
        dq[b, h, queries, :] = I.cast(I.matmul(I.cast(moved, I.f16), key, acc_dtype=I.f32) * SCALE, I.f16)


@host_program
def attention_backward(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    dout: I.In[I.f16, ("B", "H", "Q", "D")],
    dq: I.Out[I.f16, ("B", "H", "Q", "D")],
    dk: I.Out[I.f16, ("B", "H", "K", "D")],
    dv: I.Out[I.f16, ("B", "H", "K", "D")],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """The gradients of causal attention by Q, K and V, where dout is that by its result: the forward pass, and three
    kernels that compute its weights once more."""
    out = np.empty_like(q)
    lse = np.empty_like(q, dtype=np.float32, shape=q.shape[:-1])
    delta = np.empty_like(lse)
    launch(attention_forward, q, k, v, out, lse, D=D, SCALE=SCALE, CAUSAL=True)
    launch(attention_delta, out, dout, delta)
    launch(attention_backward_keys, q, k, v, dout, lse, delta, dk, dv, D=D, SCALE=SCALE)
    launch(attention_backward_queries, q, k, v, dout, lse, delta, dq, D=D, SCALE=SCALE)


# Oracles
def _seen(q, k):
    """Which keys each query sees, counted on the device that holds the arrays."""
    ones = np.ones_like(q[:1, :1, :, :1]) * np.ones_like(np.swapaxes(k[:1, :1, :, :1], -1, -2))
    return np.cumsum(ones, axis=-1) - k.shape[2] <= np.cumsum(ones, axis=-2) - q.shape[2]


def attention_forward_oracle(q, k, v, D, SCALE, CAUSAL):
    scores = A.matmul(A.exact(q), A.exact(k).T) * SCALE
    if CAUSAL:
        scores = A.select(_seen(q, k), scores, float("-inf"))
    peak = A.maximum(scores, axis=-1)
    base = A.select(peak.value == float("-inf"), 0.0, peak)
    weight = A.exp(scores - base)
    total = A.total(weight, axis=-1)
    product = A.matmul(weight.to("f16").to("f32"), A.exact(v))
    return {"out": product / A.select(total.value > 0, total, 1.0), "lse": (base + A.log(total))[:, :, :, 0]}


def attention_backward_oracle(q, k, v, dout, D, SCALE):
    forward = attention_forward_oracle(q, k, v, D, SCALE, True)
    q, k, v, dout = map(A.exact, (q, k, v, dout))
    delta = A.total(forward["out"].to("f16").to("f32") * dout, axis=-1)
    lse = forward["lse"][:, :, :, None]
    weight = A.select(_seen(q.value, k.value), A.exp(A.matmul(q, k.T) * SCALE - lse), 0.0)
    change = weight * (A.matmul(dout, v.T) - delta)
    weight, change = (x.to("f16").to("f32") for x in (weight, change))
    return {"dq": A.matmul(change, k) * SCALE, "dk": A.matmul(change.T, q) * SCALE, "dv": A.matmul(weight.T, dout)}


_SIZES = sizes("B H Q K", "0 2 3 3, 1 2 0 5, 1 1 4 0, 1 1 1 1, 2 3 17 17, 1 2 64 64, 1 1 65 200, 1 2 150 33")


def _case(name, kernel, oracle, products, tensors, D=64, visible=1.0, **constants):
    """A case with head size D: so many products of queries and keys, of whose scores the mask keeps a share, and
    tensors of queries and of keys."""
    return Case(
        name=name,
        kernel=kernel,
        oracle=oracle,
        small=_SIZES,
        constexprs={**constants, "D": D, "SCALE": D**-0.5},
        # non-finite values under a mask are unspecified, so every kind here is finite
        values=("normal", "integers", "negative"),
        bytes=lambda e: 2 * e["B"] * e["H"] * D * (tensors[0] * e["Q"] + tensors[1] * e["K"]),
        flops=lambda e: int(2 * products * visible * e["B"] * e["H"] * e["Q"] * e["K"] * D),
    )


CASES = (
    _case("attention_forward", attention_forward, attention_forward_oracle, 2, (2, 2), CAUSAL=False),
    _case("attention_forward_causal", attention_forward, attention_forward_oracle, 2, (2, 2), visible=0.5, CAUSAL=True),
    _case("attention_backward", attention_backward, attention_backward_oracle, 5, (3, 4), visible=0.5),
)
