"""Dropout: one Philox block of four words for four elements."""

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
