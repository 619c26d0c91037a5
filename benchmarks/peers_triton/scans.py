"""Running sums: of the rows of a matrix, and of one long vector in three launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl

from .reductions import row_sum_kernel

Candidates = list[Callable[[], Any]]


@triton.jit
def cumsum_kernel(x, before, y, N, BEFORE: tl.constexpr, EXCLUSIVE: tl.constexpr, BLOCK: tl.constexpr):
    """A row an instance, block after block; what is before the row comes from memory if there is any."""
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    carry = tl.load(before + row) if BEFORE else 0.0
    for begin in range(0, N, BLOCK):
        inside = begin + lane < N
        value = tl.load(x + row * N + begin + lane, mask=inside, other=0.0)
        running = tl.cumsum(value, axis=0) + carry
        tl.store(y + row * N + begin + lane, running - value if EXCLUSIVE else running, mask=inside)
        carry += tl.sum(value, axis=0)


def cumsum(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    M, N = x.shape

    def run(block: int, warps: int) -> Any:
        cumsum_kernel[(M,)](x, x, y, N, False, False, block, num_warps=warps)
        return y

    return [lambda b=b, w=w: run(b, w) for b, w in ((1024, 4), (2048, 4), (2048, 8), (4096, 8), (8192, 16))]


def cumsum_long(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    total, before = (torch.empty(x.numel() // 1024, dtype=x.dtype, device=x.device) for _ in range(2))

    def run(length: int, warps: int) -> Any:
        count = x.numel() // length
        row_sum_kernel[(count,)](x, total, length, length, num_warps=warps)
        cumsum_kernel[(1,)](total, total, before, count, False, True, 8192, num_warps=16)
        cumsum_kernel[(count,)](x, before, y, length, True, False, length, num_warps=warps)
        return y

    return [lambda n=n, w=w: run(n, w) for n, w in ((4096, 4), (8192, 8), (8192, 16), (16384, 16))]
