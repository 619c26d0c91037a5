"""Softmax, norms and cross entropy: a row, or a few short ones, an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl

Candidates = list[Callable[[], Any]]


@triton.jit
def softmax_kernel(x, y, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    at = row[:, None] * N + column[None, :]
    inside = (row[:, None] < M) & (column[None, :] < N)
    value = tl.load(x + at, mask=inside, other=float("-inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=1)[:, None])
    result = weight / tl.sum(weight, axis=1)[:, None]
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def softmax(t: Mapping[str, Any]) -> Candidates:
    x = t["x"]
    y, (M, N) = torch.empty_like(x), x.shape
    block = triton.next_power_of_2(N)
    rows = [r for r in (1, 2, 4, 8) if r * block <= 8192] or [1]
    warps = [w for w in (2, 4, 8, 16) if 4 <= block // (32 * w) <= 128] or [16]

    def run(rows: int, warps: int) -> Any:
        softmax_kernel[(triton.cdiv(M, rows),)](x, y, M, N, rows, block, num_warps=warps)
        return y

    return [lambda r=r, w=w: run(r, w) for r in rows for w in warps]


@triton.jit
def layer_norm_kernel(x, weight, bias, y, N, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < N
    value = tl.load(x + row * N + column, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / N
    centered = tl.where(inside, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centered * centered, axis=0) / N + epsilon)
    w = tl.load(weight + column, mask=inside).to(tl.float32)
    b = tl.load(bias + column, mask=inside).to(tl.float32)
    tl.store(y + row * N + column, (centered * scale * w + b).to(y.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm_kernel(x, weight, y, N, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < N
    value = tl.load(x + row * N + column, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / N + epsilon)
    w = tl.load(weight + column, mask=inside).to(tl.float32)
    tl.store(y + row * N + column, (value * scale * w).to(y.dtype.element_ty), mask=inside)


def layer_norm(t: Mapping[str, Any]) -> Candidates:
    x = t["x"]
    y, (M, N) = torch.empty_like(x), x.shape
    block = triton.next_power_of_2(N)

    def run(warps: int) -> Any:
        layer_norm_kernel[(M,)](x, t["weight"], t["bias"], y, N, t["epsilon"], block, num_warps=warps)
        return y

    return [lambda w=w: run(w) for w in (4, 8, 16)]


def rms_norm(t: Mapping[str, Any]) -> Candidates:
    x = t["x"]
    y, (M, N) = torch.empty_like(x), x.shape
    block = triton.next_power_of_2(N)

    def run(warps: int) -> Any:
        rms_norm_kernel[(M,)](x, t["weight"], y, N, t["epsilon"], block, num_warps=warps)
        return y

    return [lambda w=w: run(w) for w in (4, 8, 16)]


@triton.jit
def cross_entropy_kernel(logits, target, loss, N, IGNORE: tl.constexpr, BLOCK: tl.constexpr):
    """One pass: the largest logit so far is shared by all lanes, the sums are each lane's own."""
    row = tl.program_id(0).to(tl.int64)
    start = logits + row * N
    column = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    peak = tl.full([], float("-inf"), tl.float32)
    for begin in range(0, N, BLOCK):
        value = tl.load(start + begin + column, mask=begin + column < N, other=float("-inf")).to(tl.float32)
        larger = tl.maximum(peak, tl.max(value, axis=0))
        total = total * tl.exp(peak - larger) + tl.exp(value - larger)
        peak = larger
    label = tl.load(target + row)
    chosen = tl.load(start + label, mask=(label >= 0) & (label < N), other=0.0).to(tl.float32)
    found = tl.log(tl.sum(total, axis=0)) + peak - chosen
    tl.store(loss + row, tl.where(label == IGNORE, 0.0, found))


def cross_entropy(t: Mapping[str, Any]) -> Candidates:
    logits, target = t["logits"], t["target"]
    M, N = logits.shape
    loss = torch.empty_like(t["loss"])

    def run(block: int, warps: int) -> Any:
        cross_entropy_kernel[(M,)](logits, target, loss, N, -100, block, num_warps=warps)
        return loss

    return [lambda b=b, w=w: run(b, w) for b, w in ((4096, 4), (4096, 8), (8192, 8), (8192, 16), (16384, 16))]
