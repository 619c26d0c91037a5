"""Views with awkward layouts inside guarded memory.

Every view lies in a buffer of its own whose other bytes hold a pattern that poisons whatever reads them (NaN in each
float format) and shows whatever writes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .formats import FORMATS, element_type

LAYOUTS: Final = ("contiguous", "offset", "strided", "transposed", "negative", "zero", "random")
"""`offset` starts one element off every alignment; `strided` has gaps on each axis; `transposed` has the axes in
reverse order in memory; `negative` runs backwards on each axis; `zero` repeats along one axis (read-only views; others
are strided); `random` draws order, gaps, direction, repetition and offset."""

_GUARD: Final = 64  # elements before and after each view: farther than a vector access that strays by one reaches


def guarded(
    shape: Sequence[int], dtype: np.dtype[Any], layout: str, rng: np.random.Generator, writable: bool = True
) -> np.ndarray[Any, Any]:
    """A view of `shape` with `layout` over a fresh buffer that holds the guard pattern everywhere, the view included.

    The buffer, a 1-D array of bytes, is the view's `.base`.  Only a view that is not `writable` may overlap itself.
    """
    strides, first, span = _place(tuple(shape), layout, rng, writable)
    size = dtype.itemsize
    buffer = np.full((span + 2 * _GUARD) * size, guard_byte(dtype), np.uint8)
    return np.ndarray(shape, dtype, buffer, (_GUARD + first) * size, tuple(s * size for s in strides))


def guard_byte(dtype: np.dtype[Any]) -> int:
    """The pattern: 0xFF... is NaN in every float format; 0xCD is the customary mark of memory that nobody wrote."""
    return 0xFF if element_type(np.empty(0, dtype)) in FORMATS else 0xCD


def memory(view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The whole buffer, as bytes, that a `guarded` view lies in."""
    assert isinstance(view.base, np.ndarray), "not a guarded view"
    return view.base


def twin(view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of the elements in memory of the same layout: strides, overlaps, and the address modulo 16."""
    low, high = np.lib.array_utils.byte_bounds(view) if view.size else (view.ctypes.data, view.ctypes.data)
    buffer = np.empty(high - low + 16, np.uint8)
    first = (low - buffer.ctypes.data) % 16
    made = np.ndarray(view.shape, view.dtype, buffer, first + view.ctypes.data - low, view.strides)
    made[...] = view
    return made


def guards_intact(*views: np.ndarray[Any, Any]) -> bool:
    """Whether every byte around these `guarded` views still holds the pattern."""
    for view in views:
        buffer, size = memory(view), view.dtype.itemsize
        first = view.ctypes.data - buffer.ctypes.data
        inside = np.zeros(buffer.size // size, bool)
        np.ndarray(view.shape, bool, inside, first // size, tuple(s // size for s in view.strides))[...] = True
        whole = (buffer.reshape(-1, size) == guard_byte(view.dtype)).all(axis=1)
        if not bool((whole | inside).all()):
            return False
    return True


def _place(shape: tuple[int, ...], layout: str, rng: np.random.Generator, writable: bool) -> tuple[list[int], int, int]:
    """Strides, the place of element (0, ..., 0), and the length of the memory that they span, all in elements."""
    rank = len(shape)
    order = list(range(rank))  # slowest in memory first
    step, sign, repeated, offset = [1] * rank, [1] * rank, [False] * rank, 0
    match layout:
        case "contiguous":
            pass
        case "offset":
            offset = 1
        case "strided":
            step = [2 + axis % 2 for axis in range(rank)]
        case "transposed":
            order.reverse()
        case "negative":
            sign = [-1] * rank
        case "zero" if writable or not rank:
            return _place(shape, "strided", rng, writable)
        case "zero":
            repeated[int(rng.integers(rank))] = True
        case "random":
            order = [int(axis) for axis in rng.permutation(rank)]
            step = [int(s) for s in rng.choice([1, 1, 2, 3], rank)]
            sign = [int(s) for s in rng.choice([1, 1, -1], rank)]
            repeated = [not writable and bool(r) for r in rng.random(rank) < 0.15]
            offset = int(rng.choice([0, 1, 8]))
        case _:
            raise ValueError(f"no layout is called {layout!r}; there are {', '.join(LAYOUTS)}")
    strides, run = [0] * rank, 1
    for axis in reversed(order):
        if not repeated[axis]:
            strides[axis] = sign[axis] * step[axis] * run
            run *= step[axis] * max(shape[axis], 1)
    backwards = (-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0 < extent)
    return strides, offset + sum(backwards), offset + max(run, math.prod(shape))
