"""What a mask leaves out is not iterated over: loops of masked kernels are as long as their masks are wide."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.program import Counters
from intent_np.compiler import CompileOptions
from intent_np.testing import arguments
from intent_np.testing.validation import CLASSES, stages
from kernels.attention import attention, attention_causal, attention_window

BLOCK = 16
SIZE = 16 * BLOCK
HEADS = {"B": 1, "H": 1, "Q": SIZE, "K": SIZE, "D": 16}


@intent.kernel
def lower_triangle(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])
    seen = I.indices(columns)[None, :] <= I.indices(rows)[:, None]
    y[rows] = I.reduce.sum(I.select(seen, x[rows, columns], 0.0), axis=1)


@intent.kernel
def counted_triangle(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    """Members that are masked count as well, so that no block may be left out."""
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])
    seen = I.indices(columns)[None, :] <= I.indices(rows)[:, None]
    y[rows] = I.reduce.sum(I.select(seen, x[rows, columns], 1.0), axis=1)


@cache
def iterations(kernel: Any, sizes: tuple[tuple[str, int], ...], constexprs: tuple[tuple[str, Any], ...] = ()) -> int:
    """Iterations of all loops of the kernel's gpu program, in blocks of 16."""
    options = CompileOptions(
        numerics="relaxed_normalization",  # the caller promises that what a mask removes is finite
        passes={"choose_plan": {"policy": "directed"}},  # loops by rule: a plan would hold such short rows
    )
    made = stages(kernel, CLASSES["small blocks"], dict(constexprs), options)
    last = list(made.programs)[-1]
    counters = Counters()
    given = arguments(kernel, {**dict(sizes), **dict(constexprs)}, values="integers")
    with np.errstate(all="ignore"):
        made.launch(last, counters=counters)(*given.values())
    return counters.iterations


def attending(kernel: Any, **constexprs: Any) -> int:
    return iterations(kernel, tuple(HEADS.items()), tuple({"D": 16, **constexprs}.items()))


def test_causal_attention_iterates_half_as_much() -> None:
    full = attending(attention)
    blocks = SIZE // BLOCK
    assert full % blocks**2 == 0
    assert attending(attention_causal) == full * (blocks + 1) // (2 * blocks)


@pytest.mark.parametrize("window", [BLOCK, 2 * BLOCK, 4 * BLOCK])
def test_windows_iterate_in_proportion_to_their_width(window: int) -> None:
    """A block of queries meets the blocks of the window's keys, and one more, since it begins anywhere in one."""
    each = attending(attention) // SIZE * BLOCK // (SIZE // BLOCK)  # iterations of one block of queries and keys
    found, blocks = attending(attention_window, WINDOW=window), SIZE // BLOCK
    met = sum(min(i, window // BLOCK) + 1 for i in range(blocks))
    assert found == met * each


def test_a_triangle_is_half_a_square_unless_what_is_masked_counts() -> None:
    sizes, blocks = (("N", SIZE),), SIZE // BLOCK
    assert iterations(counted_triangle, sizes) == blocks**2
    assert iterations(lower_triangle, sizes) == blocks * (blocks + 1) // 2


@intent.kernel
def block_diagonal(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])
    seen = I.indices(columns)[None, :] // 64 == I.indices(rows)[:, None] // 64
    y[rows] = I.reduce.sum(I.select(seen, x[rows, columns], 0.0), axis=1)


@intent.kernel
def shifted_diagonal(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[1])
    seen = I.indices(rows)[:, None] // 24 == (I.indices(columns)[None, :] + 5) // 24
    y[rows] = I.reduce.sum(I.select(seen, x[rows, columns], 0.0), axis=1)


def test_a_block_diagonal_is_as_long_as_its_blocks() -> None:
    assert iterations(block_diagonal, (("N", SIZE),)) == SIZE // BLOCK * 64 // BLOCK


@pytest.mark.parametrize(("m", "n"), [(100, 150), (150, 100), (7, 0), (97, 97)])
def test_blocks_on_a_diagonal_that_no_loop_divides(m: int, n: int) -> None:
    x, y = np.arange(m * n, dtype=np.float32).reshape(m, n) % 7 - 3, np.full(m, 9, np.float32)
    sizes = {"block_axes": {"sizes": {"columns": 16, "rows": 32}}}
    intent.compile(shifted_diagonal, target="cpu", options=CompileOptions(passes=sizes))(x, y)
    seen = np.arange(m)[:, None] // 24 == (np.arange(n)[None, :] + 5) // 24
    np.testing.assert_array_equal(y, (x * seen).sum(1))
