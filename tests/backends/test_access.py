"""Gathers and scatters by slices agree with NumPy's, an element at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.backends.arrays.access import gather, scatter

RANK = 4


@st.composite
def accesses(draw: st.DrawFn) -> tuple[Any, list[Any], Any]:
    """An array, index arrays of rank 4 that often vary along dimensions of their own, and a mask or None."""
    frame = draw(st.tuples(*(st.integers(1, 3) for _ in range(RANK))))
    extents = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    indices = []
    for n in extents:
        shape = [size if draw(st.booleans()) else 1 for size in frame]
        count = int(np.prod(shape))
        start, step = draw(st.integers(0, n - 1)), draw(st.integers(-2, 2))
        line = (start + step * np.arange(count)) % n  # runs, broken runs, repetitions
        indices.append(line.reshape(shape))
    source = np.arange(np.prod(extents), dtype=np.int32).reshape(extents)
    mask = draw(st.none() | st.integers(0, 2**16))
    shape = np.broadcast_shapes(*(i.shape for i in indices))
    valid = None if mask is None else np.random.default_rng(mask).random(shape) < 0.7
    return source, indices, valid


@given(accesses())
def test_a_gather_is_advanced_indexing(access: tuple[Any, list[Any], Any]) -> None:
    source, indices, _ = access
    found = gather(source, indices)
    np.testing.assert_array_equal(found, source[tuple(np.broadcast_arrays(*indices))])
    assert not np.shares_memory(found, source), "a later store would change a value"


@given(accesses())
def test_a_scatter_writes_the_valid_lanes_and_no_other(access: tuple[Any, list[Any], Any]) -> None:
    source, indices, valid = access
    at = tuple(np.broadcast_arrays(*indices))
    value = (source[at] + 1000).astype(np.int32)  # one value for each element, so that the order does not matter
    expected, found = source.copy(), source.copy()
    chosen = np.ones(value.shape, bool) if valid is None else valid
    expected[tuple(i[chosen] for i in at)] = value[chosen]
    scatter(found, indices, value, valid)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("layout", ["transposed", "reversed", "every second", "inside a larger one"])
def test_any_strides_will_do(layout: str) -> None:
    memory = np.full((12, 14), -1.0, np.float32)
    target = {
        "transposed": memory.T[:6, :7],
        "reversed": memory[5::-1, 6::-1],
        "every second": memory[::2, ::2],
        "inside a larger one": memory[3:9, 4:11],
    }[layout]
    i, j = np.arange(6).reshape(3, 2, 1), np.arange(7).reshape(1, 1, 7)
    value = np.arange(42, dtype=np.float32).reshape(3, 2, 7)
    scatter(target, [i, j], value, None)
    np.testing.assert_array_equal(target, value.reshape(6, 7))
    np.testing.assert_array_equal(gather(target, [i, j]), value)
    assert np.count_nonzero(memory == -1) == memory.size - 42


def test_a_view_of_rank_0_is_one_element() -> None:
    x = np.array(5.0)
    assert gather(x, []) == 5
    scatter(x, [], np.full((1, 1), 7.0), None)
    assert x == 7
