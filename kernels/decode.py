"""Decoding: attention of one new query a sequence to what is cached, which is cut into parts, in pages, or compressed.

Heads of queries come in groups that share a head of keys: (B, HK, GROUP, D).
"""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, host_program, launch
from intent_np.testing import approx as A

from .extents import sizes


@intent.fn
def attend(scores, values, dtype):
    """(softmax(scores) values, log of the sum of weights); 0 and -inf of no keys.  Scores are (G, K), values (K, D)."""
    peak = I.reduce.max(scores, axis=1)
    base = I.select(peak == float("-inf"), 0.0, peak)
    weight = I.exp(scores - base[:, None])
    total = I.reduce.sum(weight, axis=1)
    product = I.matmul(I.cast(weight, dtype), values, acc_dtype=I.f32)
    return product / I.select(total > 0, total, 1.0)[:, None], base + I.log(total)


# In parts, and merged
@intent.kernel
def decode_parts(
    q: I.In[I.f16, ("B", "HK", "GROUP", "D")],
    k: I.In[I.f16, ("B", "HK", "K", "D")],
    v: I.In[I.f16, ("B", "HK", "K", "D")],
    part: I.Out[I.f32, ("B", "HK", "PARTS", "GROUP", "D")],
    lse: I.Out[I.f32, ("B", "HK", "PARTS", "GROUP")],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """Attention to each part of the keys alone, and the logarithms of its sums; the last parts may be empty."""
    B, HK, K, _ = k.shape
    PARTS = lse.shape[2]
    keys = I.domain(0, K)
    length = I.ceil_div(K, PARTS)
    for b, h, p in I.parallel((I.domain(0, B), I.domain(0, HK), I.domain(0, PARTS))):
        begin = I.minimum(p * length, K)
        mine = keys[begin : I.minimum(begin + length, K)]
        scores = I.matmul(q[b, h, :, :], k[b, h, mine, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        part[b, h, p, :, :], lse[b, h, p, :] = attend(scores, v[b, h, mine, :], I.f16)


@intent.kernel
def decode_merge(
    part: I.In[I.f32, ("B", "HK", "PARTS", "GROUP", "D")],
    lse: I.In[I.f32, ("B", "HK", "PARTS", "GROUP")],
    out: I.Out[I.f16, ("B", "HK", "GROUP", "D")],
):
    """The mean of the parts, weighted by exp(lse)."""
    B, HK, _, GROUP, _ = part.shape
    for b, h, g in I.parallel((I.domain(0, B), I.domain(0, HK), I.domain(0, GROUP))):
        sums = lse[b, h, :, g]
        peak = I.reduce.max(sums, axis=0)
        weight = I.exp(sums - I.select(peak == float("-inf"), 0.0, peak))
        total = I.reduce.sum(weight, axis=0)
        mean = I.vecmat(weight, part[b, h, :, g, :], acc_dtype=I.f32) / I.select(total > 0, total, 1.0)
        out[b, h, g, :] = I.cast(mean, I.f16)


@host_program
def decode_split(
    q: I.In[I.f16, ("B", "HK", "GROUP", "D")],
    k: I.In[I.f16, ("B", "HK", "K", "D")],
    v: I.In[I.f16, ("B", "HK", "K", "D")],
    out: I.Out[I.f16, ("B", "HK", "GROUP", "D")],
    PARTS: I.Constexpr[int],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """softmax(SCALE Q K') V, of which each of PARTS parts of the keys is computed by itself."""
    B, HK, GROUP, _ = q.shape
    part = np.empty_like(q, dtype=np.float32, shape=(B, HK, PARTS, GROUP, D))
    lse = np.empty_like(part, shape=part.shape[:-1])
    launch(decode_parts, q, k, v, part, lse, D=D, SCALE=SCALE)
    launch(decode_merge, part, lse, out)


# In pages
@intent.kernel
def paged_decode(
    q: I.In[I.f16, ("B", "HK", "GROUP", "D")],
    k: I.In[I.f16, ("PAGES", "PAGE", "HK", "D")],
    v: I.In[I.f16, ("PAGES", "PAGE", "HK", "D")],
    table: I.In[I.i32, ("B", "T")],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "HK", "GROUP", "D")],
    PAGE: I.Constexpr[int],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """softmax(SCALE Q K') V over the first lengths[b] keys of sequence b: key i is in page table[b, i // PAGE], at
    place i % PAGE."""
    B, HK, _, _ = q.shape
    longest = table.shape[1] * PAGE
    for b, h in I.parallel((I.domain(0, B), I.domain(0, HK))):
        key = I.indices(I.domain(0, I.clamp(I.cast(lengths[b], I.index), 0, longest)))
        page, place = I.assume_in_bounds(table[b, key // PAGE], k, axis=0), key % PAGE
        scores = I.matmul(q[b, h, :, :], k[page, place, h, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        mean, _ = attend(scores, v[page, place, h, :], I.f16)
        out[b, h, :, :] = I.cast(mean, I.f16)


# Compressed
@intent.kernel
def mla_decode(
    q: I.In[I.bf16, ("B", "H", "C")],
    q_rope: I.In[I.bf16, ("B", "H", "R")],
    latent: I.In[I.bf16, ("B", "K", "C")],
    k_rope: I.In[I.bf16, ("B", "K", "R")],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.bf16, ("B", "H", "C")],
    C: I.Constexpr[int],
    R: I.Constexpr[int],
    SCALE: I.Constexpr[float],
):
    """All heads share one latent vector a key, which is both key and value: softmax(SCALE (Q C' + Qr Kr')) C, over
    the first lengths[b] keys."""
    B, K, _ = latent.shape
    for b in I.parallel(I.domain(0, B)):
        keys = I.domain(0, I.clamp(I.cast(lengths[b], I.index), 0, K))
        values = latent[b, keys, :]
        nope = I.matmul(q[b, :, :], values, transpose_rhs=True, acc_dtype=I.f32)
        rope = I.matmul(q_rope[b, :, :], k_rope[b, keys, :], transpose_rhs=True, acc_dtype=I.f32)
        scores = (nope + rope) * SCALE
        mean, _ = attend(scores, values, I.bf16)
        out[b, :, :] = I.cast(mean, I.bf16)


# Oracles
def _attention(scores, values, stored):
    """The weighted mean by definition, with the rounding of the weights that the kernel states; 0 of no keys."""
    peak = A.maximum(scores, axis=-1)
    weight = A.exp(scores - A.select(peak.value == -np.inf, 0.0, peak))
    total = A.total(weight, axis=-1)
    return A.matmul(weight.to(stored).to("f32"), values) / A.select(total.value > 0, total, 1.0)


def _stacked(found, shape):
    """The results of all sequences, one after the other."""
    value, error = (np.reshape([getattr(r, part) for r in found], shape) for part in ("value", "error"))
    return A.Approx(value, error, A.FORMATS["f32"])


def decode_split_oracle(q, k, v, PARTS, D, SCALE):
    """Each part's weights are relative to a maximum of its own: that they are rounded happens at another scale."""
    scores = A.matmul(A.exact(q), A.exact(k).T) * SCALE
    peak = A.maximum(scores, axis=-1)
    weight = A.exp(scores - A.select(peak.value == -np.inf, 0.0, peak))
    total = A.total(weight, axis=-1)
    # the logarithm of each part's sum is about as large as the scores; it is rounded, and its exponential taken
    size = abs(scores.value).max(axis=-1, keepdims=True, initial=1.0)
    stored = weight.rescaled("f16").loosened(np.expm1((4 * size + 32) * scores.format.unit))
    return {"out": A.matmul(stored, A.exact(v)) / A.select(total.value > 0, total, 1.0)}


def paged_decode_oracle(q, k, v, table, lengths, PAGE, D, SCALE):
    def sequence(b):
        pages = table[b, : -(-lengths[b] // PAGE)]
        keys, values = (
            A.exact(x[pages].reshape(-1, *x.shape[2:])[: lengths[b]].swapaxes(0, 1)) for x in (k, v)
        )  # (HK, length, D)
        return _attention(A.matmul(A.exact(q[b]), keys.T) * SCALE, values, "f16")

    return {"out": _stacked([sequence(b) for b in range(len(q))], q.shape)}


def mla_decode_oracle(q, q_rope, latent, k_rope, lengths, C, R, SCALE):
    def sequence(b):
        values, rope = (A.exact(x[b, : lengths[b]]) for x in (latent, k_rope))
        scores = A.matmul(A.exact(q[b]), values.T) + A.matmul(A.exact(q_rope[b]), rope.T)
        return _attention(scores * SCALE, values, "bf16")

    return {"out": _stacked([sequence(b) for b in range(len(q))], q.shape)}


def _paged(extents, rng):
    """Lengths from 0 to all pages; a page belongs to one sequence where there are enough of them, and where no page is
    needed there is none."""
    B, T, PAGES = (extents[name] for name in ("B", "T", "PAGES"))
    lengths = rng.choice([0, T * _PAGE, *rng.integers(0, T * _PAGE + 1, B)], B)
    needed = np.arange(T)[None, :] * _PAGE < lengths[:, None]
    table = np.full((B, T), -1)
    table[needed] = rng.permutation(max(PAGES, needed.sum()))[: needed.sum()] % max(PAGES, 1)
    return {"table": table, "lengths": lengths}


def _lengths(extents, rng):
    B, K = extents["B"], extents["K"]
    return {"lengths": rng.choice([0, K, *rng.integers(0, K + 1, B)], B)}


_PAGE = 5


CASES = (
    Case(
        name="decode_split",
        kernel=decode_split,
        oracle=decode_split_oracle,
        small=sizes("B HK GROUP K", "0 2 3 4, 2 1 0 4, 2 1 3 0, 1 1 1 1, 2 3 4 3, 1 2 5 17, 2 1 8 300"),
        constexprs={"PARTS": 7, "D": 64, "SCALE": 64**-0.5},
        values=("normal", "integers", "negative"),
        bytes=lambda e: 4 * e["B"] * e["HK"] * 64 * (e["K"] + e["GROUP"]),
        flops=lambda e: 4 * e["B"] * e["HK"] * e["GROUP"] * e["K"] * 64,
    ),
    Case(
        name="paged_decode",
        kernel=paged_decode,
        oracle=paged_decode_oracle,
        small=sizes("B HK GROUP T PAGES", "0 1 1 2 1, 2 1 2 0 3, 1 1 1 1 1, 3 2 4 3 11, 2 1 8 40 90, 5 3 3 7 35"),
        constexprs={"PAGE": _PAGE, "D": 64, "SCALE": 64**-0.5},
        structured=_paged,
        values=("normal", "integers", "negative"),
        bytes=lambda e: 4 * e["B"] * e["HK"] * 64 * (e["T"] * _PAGE + e["GROUP"]),
        flops=lambda e: 4 * e["B"] * e["HK"] * e["GROUP"] * e["T"] * _PAGE * 64,
    ),
    Case(
        name="mla_decode",
        kernel=mla_decode,
        oracle=mla_decode_oracle,
        small=sizes("B H K", "0 2 3, 2 0 3, 2 1 0, 1 1 1, 3 5 17, 2 16 200"),
        constexprs={"C": 64, "R": 16, "SCALE": 0.125},
        structured=_lengths,
        values=("normal", "integers", "negative"),
        bytes=lambda e: 2 * e["B"] * (e["K"] * (64 + 16) + e["H"] * (2 * 64 + 16)),
        flops=lambda e: 2 * e["B"] * e["H"] * e["K"] * (2 * 64 + 16),
    ),
)
