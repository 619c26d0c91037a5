"""Sums, largest elements and variances of f32 matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl

Candidates = list[Callable[[], Any]]


@triton.jit
def row_sum_kernel(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for begin in range(0, N, BLOCK):
        total += tl.load(x + row * N + begin + column, mask=begin + column < N, other=0.0)
    tl.store(y + row, tl.sum(total, axis=0))


@triton.jit
def col_sum_kernel(x, y, M, N, PART, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Each instance sums a part of the rows of some columns; y holds zeros before."""
    blocks = tl.cdiv(N, COLUMNS)
    pid = tl.program_id(0)
    column = pid % blocks * COLUMNS + tl.arange(0, COLUMNS)
    begin = pid // blocks * PART
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(begin, min(begin + PART, M), ROWS):
        row = first + tl.arange(0, ROWS)
        inside = (row[:, None] < M) & (column[None, :] < N)
        total += tl.load(x + row[:, None].to(tl.int64) * N + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(y + column, tl.sum(total, axis=0), mask=column < N, sem="relaxed")


@triton.jit
def sum_all_kernel(x, y, parts, ticket, N, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """Each instance sums every PARTS-th block; the last one to be done sums the parts."""
    pid = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for begin in range(pid * BLOCK, N, PARTS * BLOCK):
        total += tl.load(x + begin + lane, mask=begin + lane < N, other=0.0)
    tl.store(parts + pid, tl.sum(total, axis=0))
    tl.debug_barrier()
    if tl.atomic_add(ticket, 1, sem="acq_rel") == PARTS - 1:
        all_parts = tl.load(parts + tl.arange(0, PARTS), volatile=True)
        tl.store(y, tl.sum(all_parts, axis=0))
        tl.store(ticket, 0)


@triton.jit
def max_argmax_kernel(x, value, index, N, BLOCK: tl.constexpr):
    """Every lane keeps its largest element and the block it stood in; NaN is not looked for."""
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    largest = tl.full([BLOCK], float("-inf"), tl.float32)
    place = lane
    for begin in range(0, N, BLOCK):
        found = tl.load(x + row * N + begin + lane, mask=begin + lane < N, other=float("-inf"))
        larger = found > largest
        largest = tl.where(larger, found, largest)
        place = tl.where(larger, begin + lane, place)
    peak = tl.max(largest, axis=0)
    first = tl.min(tl.where(largest == peak, place, 2147483647), axis=0)
    tl.store(value + row, peak)
    tl.store(index + row, first.to(tl.int64))


@triton.jit
def variance_kernel(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < N
    value = tl.load(x + row * N + column, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / N
    centered = tl.where(inside, value - mean, 0.0)
    tl.store(y + row, tl.sum(centered * centered, axis=0) / N)


def row_sum(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    M, N = x.shape

    def run(block: int, warps: int) -> Any:
        row_sum_kernel[(M,)](x, y, N, block, num_warps=warps)
        return y

    return [lambda b=b, w=w: run(b, w) for b, w in ((1024, 4), (2048, 4), (4096, 8), (8192, 8))]


def col_sum(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    M, N = x.shape

    def run(parts: int, rows: int, columns: int, warps: int) -> Any:
        y.zero_()
        grid = parts * triton.cdiv(N, columns)
        col_sum_kernel[(grid,)](x, y, M, N, triton.cdiv(M, parts), rows, columns, num_warps=warps)
        return y

    choices = ((16, 16, 256, 4), (32, 16, 256, 4), (32, 32, 128, 4), (16, 8, 512, 4))
    return [lambda c=c: run(*c) for c in choices]


def sum_all(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    parts = torch.empty(4096, dtype=torch.float32, device=x.device)
    ticket = torch.zeros(1, dtype=torch.int32, device=x.device)

    def run(count: int, block: int, warps: int) -> Any:
        sum_all_kernel[(count,)](x, y, parts, ticket, x.numel(), count, block, num_warps=warps)
        return y

    return [lambda c=c: run(*c) for c in ((1024, 2048, 4), (2048, 2048, 4), (1024, 4096, 8), (4096, 4096, 8))]


def max_argmax(t: Mapping[str, Any]) -> Candidates:
    x, value, index = t["x"], torch.empty_like(t["value"]), torch.empty_like(t["index"])
    M, N = x.shape

    def run(block: int, warps: int) -> Any:
        max_argmax_kernel[(M,)](x, value, index, N, block, num_warps=warps)
        return value, index

    return [lambda b=b, w=w: run(b, w) for b, w in ((1024, 4), (2048, 4), (4096, 8), (8192, 8))]


def variance(t: Mapping[str, Any]) -> Candidates:
    x, y = t["x"], torch.empty_like(t["y"])
    M, N = x.shape

    def run(warps: int) -> Any:
        variance_kernel[(M,)](x, y, N, triton.next_power_of_2(N), num_warps=warps)
        return y

    return [lambda w=w: run(w) for w in (8, 16, 32)]
