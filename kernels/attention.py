"""Attention as its formula reads: softmax(Q K' SCALE) V, head by head.

Queries are (B, H, Q, D) and keys and values (B, H, K, D), f16; scores, weights and sums are f32, and the weights are
rounded to f16 for the second product.  A query that sees no key gets NaN.
"""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A


@intent.fn
def attend(scores, values):
    """The mean of the rows of `values` (K, D), weighted by the softmax of each row of `scores` (Q, K)."""
    weight = I.exp(scores - I.reduce.max(scores, axis=1, keepdims=True))
    total = I.reduce.sum(weight, axis=1, keepdims=True)
    return I.cast(I.matmul(I.cast(weight, I.f16), values, acc_dtype=I.f32) / total, I.f16)


@intent.kernel
def attention(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    out: I.Out[I.f16, ("B", "H", "Q", "D")],
    D: I.Constexpr[int] = 128,
    SCALE: I.Constexpr[float] = 128**-0.5,
):
    """Every query sees every key."""
    B, H, _, _ = q.shape
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        scores = I.matmul(q[b, h, :, :], k[b, h, :, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        out[b, h, :, :] = attend(scores, v[b, h, :, :])


@intent.kernel
def attention_causal(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    out: I.Out[I.f16, ("B", "H", "Q", "D")],
    D: I.Constexpr[int] = 128,
    SCALE: I.Constexpr[float] = 128**-0.5,
):
    """Query i sees keys 0 to i."""
    B, H, Q, _ = q.shape
    queries, keys = I.domain(0, Q), I.domain(0, k.shape[2])
    valid = I.indices(keys)[None, :] <= I.indices(queries)[:, None]
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        scores = I.matmul(q[b, h, queries, :], k[b, h, keys, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        out[b, h, queries, :] = attend(I.select(valid, scores, float("-inf")), v[b, h, keys, :])


@intent.kernel
def attention_window(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D")],
    out: I.Out[I.f16, ("B", "H", "Q", "D")],
    WINDOW: I.Constexpr[int],
    D: I.Constexpr[int] = 128,
    SCALE: I.Constexpr[float] = 128**-0.5,
):
    """Query i sees the last WINDOW keys up to i."""
    B, H, Q, _ = q.shape
    queries, keys = I.domain(0, Q), I.domain(0, k.shape[2])
    query, key = I.indices(queries)[:, None], I.indices(keys)[None, :]
    valid = (key <= query) & (query < key + WINDOW)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        scores = I.matmul(q[b, h, queries, :], k[b, h, keys, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        out[b, h, queries, :] = attend(I.select(valid, scores, float("-inf")), v[b, h, keys, :])


@intent.kernel
def attention_grouped(
    q: I.In[I.f16, ("B", "GROUP * HK", "Q", "D")],
    k: I.In[I.f16, ("B", "HK", "K", "D")],
    v: I.In[I.f16, ("B", "HK", "K", "D")],
    out: I.Out[I.f16, ("B", "GROUP * HK", "Q", "D")],
    GROUP: I.Constexpr[int],
    D: I.Constexpr[int] = 128,
    SCALE: I.Constexpr[float] = 128**-0.5,
):
    """Causal, with one head of keys and values for each GROUP heads of queries."""
    B, H, Q, _ = q.shape
    queries, keys = I.domain(0, Q), I.domain(0, k.shape[2])
    valid = I.indices(keys)[None, :] <= I.indices(queries)[:, None]
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        shared = h // GROUP
        scores = I.matmul(q[b, h, queries, :], k[b, shared, keys, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        out[b, h, queries, :] = attend(I.select(valid, scores, float("-inf")), v[b, shared, keys, :])


@intent.kernel
def attention_sink(
    q: I.In[I.f16, ("B", "GROUP * HK", "Q", "D")],
    k: I.In[I.f16, ("B", "HK", "K", "D")],
    v: I.In[I.f16, ("B", "HK", "K", "D")],
    sink: I.In[I.f32, ("GROUP * HK",)],
    out: I.Out[I.f16, ("B", "GROUP * HK", "Q", "D")],
    WINDOW: I.Constexpr[int],
    GROUP: I.Constexpr[int],
    D: I.Constexpr[int] = 128,
    SCALE: I.Constexpr[float] = 128**-0.5,
):
    """Over the last WINDOW keys, grouped, and one more score a head that takes weight and gives nothing: its sink."""
    B, H, Q, _ = q.shape
    queries, keys = I.domain(0, Q), I.domain(0, k.shape[2])
    query, key = I.indices(queries)[:, None], I.indices(keys)[None, :]
    valid = (key <= query) & (query < key + WINDOW)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        shared = h // GROUP
        scores = I.matmul(q[b, h, queries, :], k[b, shared, keys, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        scores = I.select(valid, scores, float("-inf"))
        peak = I.maximum(I.reduce.max(scores, axis=1), sink[h])
        weight = I.exp(scores - peak[:, None])
        total = I.reduce.sum(weight, axis=1) + I.exp(sink[h] - peak)
        product = I.matmul(I.cast(weight, I.f16), v[b, shared, keys, :], acc_dtype=I.f32)
        out[b, h, queries, :] = I.cast(product / total[:, None], I.f16)


# Oracles
def _attention(q, k, v, scale, valid, relaxed):
    scores = A.matmul(A.exact(q), A.exact(k).T) * scale
    if valid is not None:
        scores = A.select(valid, scores, float("-inf"))
    if relaxed:
        weight = A.online(scores)
        stored = weight.rescaled("f16")
    else:
        weight = A.exp(scores - A.maximum(scores, axis=-1))
        stored = weight.to("f16").to("f32")
    return {"out": A.matmul(stored, A.exact(v)) / A.total(weight, axis=-1)}


def _mask(q, k, window=None):
    """Which keys each query sees, counted on the device that holds the arrays."""
    ones = np.ones_like(q[:1, :1, :, :1]) * np.ones_like(np.swapaxes(k[:1, :1, :, :1], -1, -2))
    query, key = np.cumsum(ones, axis=-2), np.cumsum(ones, axis=-1)
    return (key <= query) if window is None else (key <= query) & (query < key + window)


def attention_oracle(q, k, v, D, SCALE, relaxed=False):
    return _attention(q, k, v, SCALE, None, relaxed)


def attention_causal_oracle(q, k, v, D, SCALE, relaxed=False):
    return _attention(q, k, v, SCALE, _mask(q, k), relaxed)


def attention_window_oracle(q, k, v, D, SCALE, WINDOW, relaxed=False):
    return _attention(q, k, v, SCALE, _mask(q, k, WINDOW), relaxed)


def attention_grouped_oracle(q, k, v, D, SCALE, GROUP, relaxed=False):
    return _attention(q, k.repeat(GROUP, axis=1), v.repeat(GROUP, axis=1), SCALE, _mask(q, k), relaxed)


def attention_sink_oracle(q, k, v, sink, D, SCALE, WINDOW, GROUP):
    k, v = (A.exact(x.repeat(GROUP, axis=1)) for x in (k, v))
    scores = A.select(_mask(q, k.value, WINDOW), A.matmul(A.exact(q), k.T) * SCALE, float("-inf"))
    extra = A.exact(sink[:, None, None])
    peak = A.larger(A.maximum(scores, axis=-1), extra)
    weight = A.exp(scores - peak)
    product = A.matmul(weight.to("f16").to("f32"), v)
    return {"out": product / (A.total(weight, axis=-1) + A.exp(extra - peak))}


_SIZES = tuple(
    {"B": b, "H": h, "HK": h, "Q": q, "K": k}
    for b, h, q, k in (
        (0, 2, 3, 3), (1, 2, 0, 5), (1, 1, 4, 0), (1, 1, 1, 1), (2, 3, 17, 17), (1, 2, 64, 64), (1, 1, 65, 200),
        (1, 2, 150, 33), (2, 1, 129, 257),
    )
)  # fmt: skip
_LARGE = {"B": 4, "H": 16, "Q": 4096, "K": 4096}


def _case(name, kernel, oracle, D, relaxed=False, large=(), visible=1.0, **constants):
    """A case with head size D; `visible` is the share of the scores that the mask keeps on the scorecard."""
    group = constants.get("GROUP", 1)
    return Case(
        name=name + ("_relaxed" if relaxed else ""),
        kernel=kernel,
        oracle=(lambda **inputs: oracle(**inputs, relaxed=True)) if relaxed else oracle,
        small=_SIZES,
        large=large,
        constexprs={**constants, "D": D, "SCALE": D**-0.5},
        options={"numerics": "relaxed_normalization"} if relaxed else {},
        # non-finite values under a mask are unspecified, so every kind here is finite
        values=("normal", "integers", "negative"),
        bytes=lambda e: 4 * e["B"] * e["H"] * D * (group * e["Q"] + e["K"]),
        flops=lambda e: int(4 * visible * group * e["B"] * e["H"] * e["Q"] * e["K"] * D),
    )


CASES = (
    *(
        case
        for relaxed in (False, True)
        for case in (
            _case("attention", attention, attention_oracle, 128, relaxed, (_LARGE,)),
            _case("attention_d40", attention, attention_oracle, 40, relaxed),
            _case("attention_causal", attention_causal, attention_causal_oracle, 128, relaxed, (_LARGE,), visible=0.5),
            _case("attention_window", attention_window, attention_window_oracle, 64, relaxed, WINDOW=20),
            _case("attention_grouped", attention_grouped, attention_grouped_oracle, 64, relaxed, GROUP=3),
        )
    ),
    _case("attention_sink", attention_sink, attention_sink_oracle, 64, GROUP=2, WINDOW=20),
)
