"""Dropout, with one Philox block of four words for four elements; rotations in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl

Candidates = list[Callable[[], Any]]


@triton.jit
def dropout_kernel(x, y, N, seed, keep, BLOCK: tl.constexpr):
    """Lane i of the instance draws the words for elements 4 i to 4 i + 3."""
    block = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    a, b, c, d = tl.rand4x(seed, block)
    uniform = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), [BLOCK])
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < N, other=0.0).to(tl.float32)
    tl.store(y + at, tl.where(uniform < keep, value / keep, 0.0).to(tl.float16), mask=at < N)


def dropout(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    N = x.numel()

    def run(block: int, warps: int) -> Any:
        dropout_kernel[(triton.cdiv(N, block),)](x, y, N, t["seed"] & 0x7FFFFFFF, t["keep"], block, num_warps=warps)
        return y

    return [lambda b=b, w=w: run(b, w) for b, w in ((1024, 4), (2048, 4), (2048, 8), (4096, 8))]


@triton.jit
def rope_kernel(x, cosine, sine, S, ROWS: tl.constexpr, HALF: tl.constexpr):
    """ROWS positions of a head; the heads of all sequences are one axis in front of the positions."""
    blocks = tl.cdiv(S, ROWS)
    position = tl.program_id(0) % blocks * ROWS + tl.arange(0, ROWS)[:, None]
    lane = tl.arange(0, HALF)[None, :]
    inside = position < S
    at = (tl.program_id(0) // blocks * S + position) * (2 * HALF) + lane
    first = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(x + at + HALF, mask=inside, other=0.0).to(tl.float32)
    c = tl.load(cosine + position * HALF + lane, mask=inside, other=0.0)
    s = tl.load(sine + position * HALF + lane, mask=inside, other=0.0)
    tl.store(x + at, (first * c - second * s).to(tl.bfloat16), mask=inside)
    tl.store(x + at + HALF, (second * c + first * s).to(tl.bfloat16), mask=inside)


def rope(t: Mapping[str, Any]) -> Candidates:
    x = t["x"]
    B, H, S, D = x.shape

    def run(rows: int, warps: int) -> Any:
        grid = B * H * triton.cdiv(S, rows)
        rope_kernel[(grid,)](x, t["cosine"], t["sine"], S, rows, D // 2, num_warps=warps)
        return x

    return [lambda r=r, w=w: run(r, w) for r, w in ((16, 4), (32, 4), (64, 4), (64, 8))]
