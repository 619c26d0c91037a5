"""The program machine computes the same at every level, for any extents and in any order of the instances."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from intent_np.backends.program import Counters, run
from intent_np.numerics import storage
from intent_np.terms.blocked import BLOCKED, BlockedProgram
from intent_np.terms.core import Arena
from intent_np.terms.dtypes import DTYPES
from intent_np.terms.gpu import GPU, Kernel
from intent_np.terms.grouped import GROUPED, GroupedProgram
from intent_np.terms.normal import NORMAL, Program
from intent_np.terms.parse import parse

from . import machine_programs as programs

LANGUAGES = {Program: NORMAL, GroupedProgram: GROUPED, BlockedProgram: BLOCKED, Kernel: GPU}
ORDERS = ("forward", "reverse", "random")

SOFTMAX = {
    "normal": programs.softmax_normal,
    "grouped": programs.softmax_grouped,
    "rows whole": lambda: programs.softmax_resident(128),
    "tiles of rows, whole": lambda: programs.softmax_resident(128, 4),
    "traversals": lambda: programs.softmax_traversal(8),
    "gpu": lambda: programs.softmax_gpu(128),
}


def softmax_oracle(x: Any) -> Any:
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(3, 5), (0, 4), (4, 0), (1, 1), (13, 97), (16, 128)])
@pytest.mark.parametrize("level", SOFTMAX)
def test_softmax(level: str, shape: tuple[int, int], order: str) -> None:
    # negative rows, in memory full of NaN: a missing mask would show
    memory = np.full((shape[0] + 2, shape[1] + 3), np.nan, np.float32)
    x = memory[1:-1, 2:-1]
    x[:] = np.random.default_rng(0).normal(-20, 4, shape)
    y = np.full(shape, np.nan, np.float32)
    program = SOFTMAX[level]()
    assert not LANGUAGES[type(program)].check(program)
    run(program, {"x": x, "y": y}, strict=True, order=order, budget=4096)
    np.testing.assert_allclose(y, softmax_oracle(x), rtol=5e-6)  # x - max is rounded before exp


MATMUL = {
    "normal": lambda *d: programs.matmul_normal(*d),
    "grouped": lambda *d: programs.matmul_grouped(*d),
    "blocked": lambda *d: programs.matmul_blocked(8, 16, 4, *d),
    "gpu": lambda *d: programs.matmul_gpu(8, 16, 4, *d),
}


@pytest.mark.parametrize("dtypes", ["f16 f32", "bf16 f32", "f32 f32", "f64 f64", "i8 i32", "i32 i32"])
@pytest.mark.parametrize("extents", [(7, 13, 17), (0, 3, 5), (5, 0, 3), (5, 3, 0), (1, 1, 1), (16, 32, 8), (17, 5, 31)])
@pytest.mark.parametrize("level", MATMUL)
def test_matmul(level: str, extents: tuple[int, int, int], dtypes: str) -> None:
    element, accumulator = (DTYPES[n] for n in dtypes.split())
    m, n, k = extents
    draw = np.random.default_rng(1)
    a, b = (draw.integers(-9, 9, s).astype(storage(element)) for s in ((m, k), (k, n)))
    expected = a.astype(np.int64) @ b.astype(np.int64)  # small integers: exact in every type
    program = MATMUL[level](element, accumulator)
    assert not LANGUAGES[type(program)].check(program)
    for order in ORDERS:
        c = np.full((n, m), 77, storage(accumulator)).T  # column by column in memory
        run(program, {"A": a, "B": b, "C": c}, strict=True, order=order, budget=2048)
        np.testing.assert_array_equal(c, expected)


def test_the_listing_of_a_matmul_runs_as_it_is_written() -> None:
    with Arena():
        program = parse(LISTING, GPU)
        assert not GPU.check(program)
        a, b = np.random.default_rng(2).integers(-9, 9, (2, 45, 45)).astype(np.float16)
        c = np.zeros((45, 45), np.float32)
        run(program, {"A": a, "B": b, "C": c})
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


LISTING = """
BM = physical 16
BN = physical 32
BK = physical 8
M = extent
K = extent
N = extent
A_s0 = stride A 0
A_s1 = stride A 1
A = view in f16[M, K] strides [A_s0, A_s1]
B_s0 = stride B 0
B_s1 = stride B 1
B = view in f16[K, N] strides [B_s0, B_s1]
C_s0 = stride C 0
C_s1 = stride C 1
C = view out f32[M, N] strides [C_s0, C_s1]
kernel @gemm<BM, BN, BK>(A, B, C, M, N, K) {
  grid = (ceil_div(M, BM), ceil_div(N, BN))
  (pm, pn) = program_coord(grid)
  m = pm * BM + range(0, BM)
  n = pn * BN + range(0, BN)
  acc = full<fragment<f32, [BM, BN]>>(0)
  for k0 = 0 to K step BK iter_args(acc):
    k = k0 + range(0, BK)
    lhs = load A[m, k] valid (m < M && k < K) fill 0
    rhs = load B[k, n] valid (k < K && n < N) fill 0
    acc = contract lhs, rhs, acc
  store C[m, n] = acc valid (m < M && n < N)
}
"""


def test_counters_count_what_every_instance_does() -> None:
    m, n, k, (bm, bn, bk) = 32, 64, 24, (8, 16, 4)
    a, b, c = (np.zeros(s, np.float16) for s in ((m, k), (k, n), (m, n)))
    for program in (programs.matmul_blocked(bm, bn, bk), programs.matmul_gpu(bm, bn, bk)):
        counters = Counters()
        run(program, {"A": a, "B": b, "C": c.astype(np.float32)}, counters=counters)
        blocks = (m // bm) * (n // bn)
        assert counters.instances == blocks
        assert counters.loads == blocks * k * (bm + bn)
        assert counters.bytes_loaded == 2 * counters.loads
        assert counters.stores == m * n
        assert counters.flops == 2 * m * n * k
        assert counters.iterations == blocks * (k // bk)


def test_the_budget_changes_the_pieces_and_nothing_else() -> None:
    x = np.random.default_rng(3).normal(size=(37, 50)).astype(np.float32)
    for make in SOFTMAX.values():
        results = []
        for budget in (1, 1 << 14, 1 << 30):
            y = np.full_like(x, np.nan)
            run(make(), {"x": x, "y": y}, budget=budget)
            results.append(y)
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.slow
@pytest.mark.parametrize("level", ["normal", "grouped", "rows whole", "gpu"])
def test_softmax_is_fast(level: str) -> None:
    wide = {"rows whole": lambda: programs.softmax_resident(1024), "gpu": lambda: programs.softmax_gpu(1024)}
    x = np.random.default_rng(4).normal(size=(4096, 1024)).astype(np.float32)
    y = np.empty_like(x)
    program = wide.get(level, SOFTMAX[level])()
    start = time.perf_counter()
    run(program, {"x": x, "y": y})
    assert time.perf_counter() - start < 0.5
