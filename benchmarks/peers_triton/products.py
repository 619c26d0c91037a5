"""Matrix products: through descriptors by instances that stay, in parts of the sum, and with odd strides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

Candidates = list[Callable[[], Any]]


@triton.jit
def tile_of(tile, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Where a tile begins: tiles go down GROUP rows of tiles before they go to the next column."""
    columns = tl.cdiv(N, BN)
    first = tile // (GROUP * columns) * GROUP
    height = min(tl.cdiv(M, BM) - first, GROUP)
    return (first + tile % height) * BM, tile % (GROUP * columns) // height * BN


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def matmul_kernel(
    a, b, c, bias,
    M, N, K,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    INSTANCES: tl.constexpr,
):  # fmt: skip
    """a, b and c are descriptors; with BIAS the result is gelu(A B + bias)."""
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, INSTANCES, flatten=True):
        m, n = tile_of(tile, M, N, BM, BN, GROUP)
        acc = tl.zeros([BM, BN], tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
        if BIAS:
            column = n + tl.arange(0, BN)
            acc = gelu(acc + tl.load(bias + column, mask=column < N, other=0.0).to(tl.float32)[None, :])
        c.store([m, n], acc.to(c.dtype))


_TILES = ((128, 256, 64, 8, 3), (256, 128, 64, 8, 3), (128, 128, 64, 8, 4))


def _products(t: Mapping[str, Any], bias: Any) -> Candidates:
    a, b, c = t["a"], t["b"], torch.empty_like(t["c"])
    (M, K), N = a.shape, b.shape[1]
    processors = torch.cuda.get_device_properties(a.device).multi_processor_count

    def run(bm: int, bn: int, bk: int, warps: int, stages: int, stay: bool) -> Any:
        tiles = triton.cdiv(M, bm) * triton.cdiv(N, bn)
        grid = min(processors, tiles) if stay else tiles
        described = [
            TensorDescriptor.from_tensor(x, list(block)) for x, block in ((a, (bm, bk)), (b, (bk, bn)), (c, (bm, bn)))
        ]
        matmul_kernel[(grid,)](
            *described, a if bias is None else bias, M, N, K, bias is not None, bm, bn, bk, 8, grid,
            num_warps=warps, num_stages=stages,
        )  # fmt: skip
        return c

    # an epilogue takes seconds to compile, so that fewer are tried
    tried = [(x, True) for x in _TILES[:2]]
    if bias is None:
        tried = [(x, stay) for x in _TILES for stay in (True, False)]
    return [lambda x=x, stay=stay: run(*x, stay) for x, stay in tried]


def matmul(t: Mapping[str, Any]) -> Candidates:
    return _products(t, None)


def matmul_bias_gelu(t: Mapping[str, Any]) -> Candidates:
    return _products(t, t["bias"])


@triton.jit
def part_kernel(a, b, parts, M, N, K, PART, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """parts[s] = the products of the s-th PART of the sum; all rows are one tile."""
    blocks = tl.cdiv(N, BN)
    n = tl.program_id(0) % blocks * BN + tl.arange(0, BN)
    part = tl.program_id(0) // blocks
    m = tl.arange(0, BM)
    acc = tl.zeros([BM, BN], tl.float32)
    for begin in range(part * PART, min(part * PART + PART, K), BK):
        k = begin + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, w, acc)
    at = part * M * N + m[:, None] * N + n[None, :]
    tl.store(parts + at, acc.to(parts.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def sum_parts_kernel(parts, c, SIZE, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for part in range(PARTS):
        total += tl.load(parts + part * SIZE + at, mask=at < SIZE, other=0.0)
    tl.store(c + at, total.to(c.dtype.element_ty), mask=at < SIZE)


def split_k(t: Mapping[str, Any]) -> Candidates:
    a, b, c = t["a"], t["b"], torch.empty_like(t["c"])
    (M, K), N = a.shape, b.shape[1]
    parts = torch.empty((8, M, N), dtype=torch.float32, device=a.device)

    def run(count: int, bn: int, bk: int, warps: int, stages: int) -> Any:
        grid = count * triton.cdiv(N, bn)
        into = c if count == 1 else parts
        part_kernel[(grid,)](a, b, into, M, N, K, triton.cdiv(K, count), 16, bn, bk, num_warps=warps, num_stages=stages)
        if count > 1:
            sum_parts_kernel[(triton.cdiv(c.numel(), 512),)](parts, c, c.numel(), count, 512, num_warps=4)
        return c

    choices = ((1, 64, 128, 4, 5), (2, 128, 64, 4, 5), (4, 128, 64, 4, 4), (4, 128, 128, 4, 3), (2, 64, 128, 4, 4))
    return [lambda x=x: run(*x) for x in choices]


@triton.jit
def unaligned_kernel(
    a, b, c, M, N, K, DIVISOR: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """The strides are K and N; both are multiples of DIVISOR, which Triton only believes if it sees the product."""
    m0, n0 = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    m, n = m0 + tl.arange(0, BM), n0 + tl.arange(0, BN)
    a_stride, b_stride = K // DIVISOR * DIVISOR, N // DIVISOR * DIVISOR
    acc = tl.zeros([BM, BN], tl.float32)
    row, column = tl.where(m < M, m, 0), tl.where(n < N, n, 0)
    column = tl.max_contiguous(tl.multiple_of(column, DIVISOR), DIVISOR)
    for begin in range(0, a_stride, BK):
        k = begin + tl.arange(0, BK)
        x = tl.load(a + row[:, None] * a_stride + k[None, :], mask=k[None, :] < a_stride, other=0.0)
        w = tl.load(b + k[:, None] * b_stride + column[None, :], mask=k[:, None] < a_stride, other=0.0)
        acc = tl.dot(x, w, acc)
    inside = (m[:, None] < M) & (n[None, :] < b_stride)
    tl.store(c + m[:, None] * b_stride + n[None, :], acc.to(c.dtype.element_ty), mask=inside)


def unaligned(t: Mapping[str, Any]) -> Candidates:
    a, b, c = t["a"], t["b"], torch.empty_like(t["c"])
    (M, K), N = a.shape, b.shape[1]
    divisor = next(d for d in (16, 8, 4, 2, 1) if K % d == N % d == 0)

    def run(bm: int, bn: int, bk: int, warps: int, stages: int) -> Any:
        grid = triton.cdiv(M, bm) * triton.cdiv(N, bn)
        unaligned_kernel[(grid,)](a, b, c, M, N, K, divisor, bm, bn, bk, 8, num_warps=warps, num_stages=stages)
        return c

    choices = ((128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 4, 4), (256, 128, 64, 8, 3))
    return [lambda x=x: run(*x) for x in choices]
