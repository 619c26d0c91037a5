"""Poison: which elements of an array came out of something invalid, and out of what.

A mask of poison has the dimensions of its array (extents of 1 where it does not vary) and holds, for each element, 0 or
the number of an occurrence: one invalid lane of one operation.  So what poison reaches can be told where it came from,
with the operands of that very lane.  Masks are kept by the identity of the arrays that evaluation hands on: a clean
array costs nothing, and whatever binds a value to a name hands its poison on as well.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Span
from ...numerics import Array
from ...terms.core import arena
from .scope import Result, lift

Mask = Array | None  # None: clean


@dataclass(frozen=True, slots=True)
class Origin:
    """An operation that was invalid in some lanes: `found(k)` tells the k-th of them in words."""

    code: str
    span: Span | None
    name: str
    found: Callable[[int], str]


class Poison:
    """The masks of all arrays of an execution, and the origins that their numbers stand for."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._origins: list[Origin] = []
        self._next = 1
        # the arrays are held, so that an identity is not used again
        self._masks: dict[int, tuple[Any, Any]] = {}

    # ---- origins

    def arises(self, code: str, term: Any, wrong: Array, name: str, found: Callable[[int], str]) -> Array:
        """The mask of an operation that is invalid where `wrong`; `found` describes the k-th such lane."""
        count = int(wrong.sum())
        mask = np.zeros(wrong.shape, np.int64)
        mask[wrong] = np.arange(self._next, self._next + count)
        self._firsts.append(self._next)
        self._origins.append(Origin(code, span_of(term), name, found))
        self._next += count
        return mask

    def origin(self, number: int) -> tuple[Origin, str]:
        """Where an occurrence came from, and what was found there."""
        k = bisect_right(self._firsts, number) - 1
        return self._origins[k], self._origins[k].found(number - self._firsts[k])

    def came_from(self, mask: Array, code: str, name: str) -> Array:
        """Where a mask holds poison of this code and name."""
        found = np.zeros(mask.shape, np.bool_)
        ends = [*self._firsts, self._next][1:]
        for origin, first, end in zip(self._origins, self._firsts, ends, strict=True):
            if (origin.code, origin.name) == (code, name):
                found |= (mask >= first) & (mask < end)
        return found

    def first_of_each(self, numbers: Array) -> list[int]:
        """Positions in a flat array of numbers: the first of each origin, zeros left out."""
        if not self._firsts:
            return []
        which = np.searchsorted(np.asarray(self._firsts), numbers, side="right")
        kinds, first = np.unique(which, return_index=True)
        return [int(f) for kind, f in zip(kinds, first, strict=True) if kind]

    # ---- masks of arrays

    def mark(self, value: Result, mask: Any) -> None:
        """Give an array its mask; a tuple gets one for each component, or one for all."""
        if isinstance(value, tuple):
            for k, x in enumerate(value):
                self.mark(x, mask[k] if isinstance(mask, tuple) else mask)
        elif mask is not None and mask.any():
            self._masks[id(value)] = (value, mask)

    def follow(self, value: Array, mask: Array) -> None:
        """Give memory a mask that changes as it does."""
        self._masks[id(value)] = (value, mask)

    def of(self, value: Result) -> Any:
        """The mask of an array, or those of a tuple."""
        if isinstance(value, tuple):
            return tuple(self.of(x) for x in value)
        found = self._masks.get(id(value))
        return None if found is None else found[1]

    def lift(self, value: Result, lifted: Result, depth: int, to: int) -> None:
        """`lifted` is `value` with more batch dimensions."""
        if isinstance(value, tuple):
            for x, y in zip(value, lifted, strict=True):
                self.lift(x, y, depth, to)
        elif lifted is not value and (mask := self.of(value)) is not None:
            self.mark(lifted, lift(mask, depth, to))


def union(masks: Sequence[Mask]) -> Mask:
    """Poisoned where any is; masks of broadcast shapes."""
    found: Mask = None
    for m in masks:
        if m is not None:
            found = m if found is None else np.where(found != 0, found, m)
    return found


def along(mask: Mask, axis: int, keepdims: bool) -> Mask:
    """Poisoned where any member along `axis` is."""
    return None if mask is None else np.max(mask, axis=axis, keepdims=keepdims, initial=0)


def anywhere(mask: Mask, depth: int, rank: int) -> Mask:
    """What is known of a result of `rank` when only its operand's mask is: poison anywhere in a lane of the batch."""
    if mask is None:
        return None
    worst = mask.reshape((*mask.shape[:depth], -1)).max(axis=-1, initial=0)
    return np.asarray(worst).reshape(worst.shape + (1,) * rank)


def span_of(term: Any) -> Span | None:
    """Where the author wrote a term."""
    return next(iter(arena().spans.get(term, ())), None)
