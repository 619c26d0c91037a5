"""What updates do to elements: lanes at one element one after the other, lanes at different ones together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...numerics import Array, apply
from ...terms.operators import OPERATORS
from ...terms.updates import Update

Combining = Callable[..., Array]
"""The combine of an update, on elements, on what is brought to them, and on each operand that it uses."""

OPERATOR = {"add": "add", "max": "maximum", "min": "minimum", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}


def in_turn(t: Update, flat: Array, at: Array, values: Sequence[Array], combining: Combining) -> Array:
    """Update the elements `at` of `flat`, in the order of the lanes; what each lane found."""
    old = np.zeros(at.shape, flat.dtype)
    order = np.argsort(at, kind="stable")
    begins = np.flatnonzero(np.diff(at[order], prepend=-1))
    turn = np.empty_like(order)
    turn[order] = np.arange(at.size) - np.repeat(begins, np.diff(begins, append=at.size))
    by_turn = np.argsort(turn, kind="stable")
    for lanes in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if at.size else ():
        old[lanes] = now = flat[at[lanes]]
        flat[at[lanes]] = _changed(t, now, [v[lanes] for v in values], combining)
    return old


def _changed(t: Update, now: Array, values: Sequence[Array], combining: Combining) -> Array:
    """What elements become."""
    match t.operation:
        case "load":
            return now
        case "store" | "exchange":
            return values[0]
        case "combine":
            return combining(now, *values)
        case "compare_exchange":
            return np.where(_bits(now) == _bits(values[0]), values[1], now)
    return apply(OPERATORS[OPERATOR[t.operation]], now, values[0], dtype=t.view.dtype)


def _bits(x: Array) -> Array:
    return np.ascontiguousarray(x).view(f"u{x.itemsize}")
