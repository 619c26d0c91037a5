"""Sums at computed places: rows of a table, and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl

Candidates = list[Callable[[], Any]]


@triton.jit
def scatter_add_kernel(gradient, tokens, out, N, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    blocks = tl.cdiv(D, BLOCK)
    row = tl.program_id(0) // blocks * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = (row[:, None] < N) & (column[None, :] < D)
    token = tl.load(tokens + row, mask=row < N, other=0)
    value = tl.load(gradient + row[:, None] * D + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(out + token[:, None] * D + column[None, :], value, mask=inside, sem="relaxed")


def scatter_add(t: Mapping[str, Any]) -> Candidates:
    gradient, tokens, out = t["gradient"], t["tokens"], t["weight_gradient"]
    N, D = gradient.shape

    def run(rows: int, block: int, warps: int) -> Any:
        grid = triton.cdiv(N, rows) * triton.cdiv(D, block)
        scatter_add_kernel[(grid,)](gradient, tokens, out, N, D, rows, block, num_warps=warps)
        return out

    return [lambda c=c: run(*c) for c in ((1, 1024, 4), (1, 1024, 8), (2, 1024, 8), (4, 256, 4), (1, 512, 4))]


@triton.jit
def histogram_kernel(x, counts, N, PART, BLOCK: tl.constexpr):
    """Each instance counts a part of x, then adds its counts to those of all."""
    begin = tl.program_id(0).to(tl.int64) * PART
    lane = tl.arange(0, BLOCK)
    found = tl.zeros([256], tl.int32)
    for first in range(begin, min(begin + PART, N), BLOCK):
        value = tl.load(x + first + lane, mask=first + lane < N, other=0).to(tl.int32)
        found += tl.histogram(value, 256, mask=first + lane < N)
    tl.atomic_add(counts + tl.arange(0, 256), found, sem="relaxed")


def histogram(t: Mapping[str, Any]) -> Candidates:
    x, counts = t["x"], torch.empty_like(t["counts"])
    N = x.numel()

    def run(block: int, parts: int, warps: int) -> Any:
        counts.zero_()
        size = triton.cdiv(triton.cdiv(N, parts), block) * block
        histogram_kernel[(triton.cdiv(N, size),)](x, counts, N, size, block, num_warps=warps)
        return counts

    return [lambda c=c: run(*c) for c in ((2048, 1056, 4), (4096, 1056, 4), (4096, 528, 8), (8192, 528, 8))]
