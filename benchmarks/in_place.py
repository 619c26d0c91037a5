"""Kernels that store where they have loaded, against NumPy, many times: `python -m benchmarks.in_place`.

First what the compiler makes: each kernel in place, through one array for input and output, and through arrays that
overlap, with every number of warps.  Then three permutations inside an instance, written by hand in Triton with and
without a barrier between loads and stores.  Those without are allowed to go wrong: how often they do says what the
barriers are for.  Writes the counts to `$OUT/in_place.json`; the exit status is 1 where anything else differs.
"""

# ruff: noqa: F821, UP037  (extents are names in quotes)

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I

ROUNDS, ROWS = 50, 512
WARPS = (1, 4, 8, 16)


@intent.kernel
def exchange(x: I.InOut[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    rows, columns = I.domain(0, M), I.domain(0, N)
    old = x[rows, columns]
    x[rows, columns] = y[rows, columns]
    y[rows, columns] = old


@intent.kernel
def clear(x: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    rows, columns = I.domain(0, M), I.domain(0, N)
    old = x[rows, columns]
    x[rows, columns] = 0.0
    y[rows, columns] = old


@intent.kernel
def center(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        y[row, :] = value - I.reduce.max(value, axis=0)


@intent.kernel
def transpose(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    y[:, :] = I.transpose(x[:, :])


Case = tuple[str, Any, Callable[[Any], tuple[Any, ...]], Callable[[np.ndarray], np.ndarray]]


def cases() -> list[Case]:
    """Name, kernel, the arguments as parts of one matrix, and what the matrix holds afterwards."""
    half = ROWS // 2
    return [
        ("exchange", exchange, lambda m: (m[:half], m[half:]), lambda m: np.vstack((m[half:], m[:half]))),
        ("clear", clear, lambda m: (m[:half], m[half:]), lambda m: np.vstack((m[:half] * 0, m[:half]))),
        ("center, one array", center, lambda m: (m, m), lambda m: m - m.max(1, keepdims=True)),
        (
            "center, a row further", center, lambda m: (m[:-1], m[1:]),
            lambda m: np.vstack((m[:1], m[:-1] - m[:-1].max(1, keepdims=True))),
        ),
        ("transpose, one array", transpose, lambda m: (m, m), lambda m: m.T),
        ("transpose of the transpose", transpose, lambda m: (m.T, m), lambda m: m),
    ]  # fmt: skip


def compiled() -> dict[str, int]:
    """Rounds that differ, by case and number of warps."""
    import cupy

    found = {}
    for warps in WARPS:
        options = intent.CompileOptions(passes={"choose_launch": {"num_warps": warps}})
        for name, kernel, part, expected in cases():
            artifact = intent.compile(kernel, options=options)
            wrong = 0
            for seed in range(ROUNDS):
                matrix = np.random.default_rng(seed).standard_normal((ROWS, ROWS), np.float32)
                device = cupy.asarray(matrix)
                artifact(*part(device))
                wrong += not np.array_equal(device.get(), expected(matrix))
            found[f"{name}, {warps} warps"] = wrong
    return found


HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef permute(x, N: tl.constexpr):\n"
PERMUTATIONS = {
    "a row shifted": (
        "    i = tl.arange(0, N)\n    p = x + tl.program_id(0) * N\n    v = tl.load(p + i)\n",
        "    tl.store(p + (i + 33) % N, v)\n",
        lambda m: np.roll(m, 33, axis=1),
    ),
    "a row reversed": (
        "    i = tl.arange(0, N)\n    p = x + tl.program_id(0) * N\n    v = tl.load(p + i)\n",
        "    tl.store(p + (N - 1 - i), v)\n",
        lambda m: m[:, ::-1],
    ),
    "a tile transposed": (
        "    i = tl.arange(0, N)\n    p = x + tl.program_id(0) * N * N\n"
        "    v = tl.load(p + i[:, None] * N + i[None, :])\n",
        "    tl.store(p + i[:, None] + i[None, :] * N, v)\n",
        lambda m: m.reshape(-1, 64, 64).swapaxes(1, 2).reshape(m.shape),
    ),
}


def by_hand() -> dict[str, int]:
    """Rounds that differ, by permutation, number of warps, and whether there is a barrier."""
    import cupy

    from intent_np.backends.triton.compiler import compile_source
    from intent_np.target import resolve

    found = {}
    for name, (load, store, expected) in PERMUTATIONS.items():
        extent = 64 if "tile" in name else 4096
        for warps in WARPS:
            for barrier in ("", "    tl.debug_barrier()\n"):
                source = HEAD + load + barrier + store
                with tempfile.TemporaryDirectory() as folder:
                    made = compile_source(
                        source, "permute", [("x", "*fp32")], {"N": extent}, {"x": 16}, resolve("auto"), warps, 1, folder
                    )
                module = cupy.cuda.function.Module()
                module.load(made.cubin)
                function, nothing = module.get_function(made.entry), np.uint64(0)
                wrong = 0
                for seed in range(ROUNDS):
                    matrix = np.random.default_rng(seed).standard_normal((1024, 4096), np.float32)
                    device = cupy.asarray(matrix)
                    grid = (matrix.size // (extent * extent if "tile" in name else extent),)
                    function(grid, (32 * made.num_warps,), (device, nothing, nothing), shared_mem=made.shared_bytes)
                    wrong += not np.array_equal(device.get(), expected(matrix))
                found[f"{name}, {warps} warps, {'with' if barrier else 'without'} a barrier"] = wrong
    return found


def main() -> int:
    from intent_np.target import resolve

    if not resolve("auto").is_gpu:
        print("no GPU on this machine, or no CuPy: nothing to measure", file=sys.stderr)
        return 3
    found = compiled() | by_hand()
    width = max(map(len, found))
    for name, wrong in found.items():
        print(f"{name:<{width}}  {wrong:3} of {ROUNDS} differ")
    out = Path(os.environ.get("OUT", "out"))
    out.mkdir(parents=True, exist_ok=True)
    (out / "in_place.json").write_text(json.dumps(found, indent=1) + "\n")
    return int(any(wrong for name, wrong in found.items() if "without" not in name))


if __name__ == "__main__":
    sys.exit(main())
