"""Attention forward, full and causal: online softmax in base 2, operands through descriptors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

Candidates = list[Callable[[], Any]]


@triton.jit
def walk(
    acc, peak, total, query, k, v, base, row, begin, end, scale,
    MASKED: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """The keys from begin to end; scores are in units of log 2."""
    for first in tl.range(begin, end, BN):
        scores = tl.dot(query, k.load([base + first, 0]).T) * scale
        if MASKED:
            scores = tl.where(row[:, None] >= first + tl.arange(0, BN)[None, :], scores, float("-inf"))
        larger = tl.maximum(peak, tl.max(scores, axis=1))
        shrink = tl.exp2(peak - larger)
        weight = tl.exp2(scores - larger[:, None])
        total = total * shrink + tl.sum(weight, axis=1)
        acc = tl.dot(weight.to(tl.float16), v.load([base + first, 0]), acc * shrink[:, None])
        peak = larger
    return acc, peak, total


@triton.jit
def attention_kernel(
    q, k, v, out, HEADS, LENGTH, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """q, k, v and out are descriptors of (heads * length, D); the blocks with most keys come first."""
    block = tl.cdiv(LENGTH, BM) - 1 - tl.program_id(0) // HEADS
    base = tl.program_id(0) % HEADS * LENGTH
    row = block * BM + tl.arange(0, BM)
    query = q.load([base + block * BM, 0])
    acc = tl.zeros([BM, D], tl.float32)
    peak = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    whole = block * BM if CAUSAL else LENGTH
    acc, peak, total = walk(acc, peak, total, query, k, v, base, row, 0, whole, scale, False, BN)
    if CAUSAL:
        acc, peak, total = walk(acc, peak, total, query, k, v, base, row, whole, whole + BM, scale, True, BN)
    out.store([base + block * BM, 0], (acc / total[:, None]).to(tl.float16))


def _candidates(t: Mapping[str, Any], causal: bool) -> Candidates:
    q, out = t["q"], torch.empty_like(t["q"])
    B, H, length, D = q.shape
    scale = D**-0.5 * 1.4426950408889634

    def run(bm: int, bn: int, warps: int, stages: int) -> Any:
        rows = ((q, bm), (t["k"], bn), (t["v"], bn), (out, bm))
        described = [TensorDescriptor.from_tensor(x.view(-1, D), [block, D]) for x, block in rows]
        attention_kernel[(B * H * triton.cdiv(length, bm),)](
            *described, B * H, length, scale, causal, D, bm, bn, num_warps=warps, num_stages=stages
        )
        return out

    choices = ((128, 128, 8, 2), (128, 128, 8, 3), (128, 64, 8, 3), (128, 64, 4, 3), (64, 128, 4, 3), (128, 32, 4, 4))
    return [lambda c=c: run(*c) for c in choices]


def full(t: Mapping[str, Any]) -> Candidates:
    return _candidates(t, False)


def causal(t: Mapping[str, Any]) -> Candidates:
    return _candidates(t, True)
