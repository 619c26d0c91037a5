"""Shadow memory: of each element its poison, and which unordered points wrote and read it.

Views that share memory share their shadow: it has a cell for each unit of bytes, and a view's shadow is a window with
the view's own strides.  Every statement of `parallel` that is entered is an epoch.  An access happens at a path, an
(epoch, point) for each enclosing loop of points; two accesses of one element are unordered, a race unless both only
read, where their paths part in different points of one epoch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics import Array

Path = Sequence[Array]
"""For each enclosing loop of points the code of the point that performs each lane, flat."""

BITS = 32
MANY = (1 << BITS) - 1  # more than one point of an epoch


def code(epoch: int, points: Array) -> Array:
    """Points of an epoch, one number each; 0 is nobody."""
    return (np.int64(epoch) << BITS) | points.astype(np.int64)


@dataclass(eq=False)
class _Block:
    """Memory that some views share."""

    low: int
    unit: int
    cells: int
    poison: Array
    kept: dict[str, list[Array]]  # of the plain writes, reads, and combining accesses: codes by level

    def level(self, kept: list[Array], number: int) -> Array:
        while len(kept) <= number:
            kept.append(np.zeros(self.cells, np.int64))
        return kept[number]


@dataclass(frozen=True, eq=False)
class Window:
    """The cells of one array in its block."""

    block: _Block
    first: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    lanes: int = 0  # how many dimensions come first that tell whose memory it is

    @property
    def poison(self) -> Array:
        """The poison of each element, in memory of the shadow."""
        strides = tuple(8 * s for s in self.strides)
        first = 8 * self.first if 0 not in self.shape else 0
        return np.ndarray(self.shape, np.int64, self.block.poison, first, strides)

    def cells(self, where: Sequence[Array], lanes: Array | None, shape: tuple[int, ...]) -> Array:
        """The cell that each lane touches, flat; only those of `lanes`."""
        at = np.full(shape, self.first, np.int64)
        for i, s in zip(where, self.strides, strict=True):
            at = at + i * s
        return at.reshape(-1) if lanes is None else at[np.broadcast_to(lanes, shape)]

    def element(self, cell: int) -> tuple[int, ...]:
        """The first index that has this cell, in the memory of its lane."""
        strides = tuple(8 * s for s in self.strides)
        cells = np.ndarray(self.shape, np.int64, np.arange(self.block.cells), 8 * self.first, strides)
        found = np.argwhere(cells == cell)
        return tuple(int(i) for i in found[0][self.lanes :]) if found.size else ()


def windows(arrays: Mapping[str, Array]) -> dict[str, Window]:
    """A window for each array; those whose memory may overlap look into one block."""
    spans = {n: np.lib.array_utils.byte_bounds(a) for n, a in arrays.items()}
    groups: list[list[str]] = []
    for name in sorted(arrays, key=lambda n: spans[n]):
        last = groups[-1] if groups else []
        if last and any(spans[m][1] > spans[name][0] for m in last) and arrays[name].size:
            last.append(name)
        else:
            groups.append([name])
    made: dict[str, Window] = {}
    for names in groups:
        low, high = min(spans[n][0] for n in names), max(spans[n][1] for n in names)
        steps = [arrays[n].itemsize for n in names]
        steps += [s for n in names for s, e in zip(arrays[n].strides, arrays[n].shape, strict=True) if e > 1]
        unit = math.gcd(*steps, *(_address(arrays[n]) - low for n in names))
        cells = max(1, (high - low) // unit)
        block = _Block(low, unit, cells, np.zeros(cells, np.int64), {"written": [], "read": [], "combined": []})
        for n in names:
            a = arrays[n]
            strides = tuple(s // unit if e > 1 else 0 for s, e in zip(a.strides, a.shape, strict=True))
            made[n] = Window(block, (_address(a) - low) // unit, strides, a.shape)
    return made


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


Found = list[tuple[int, int, str]]
"""The first lane of each kind of conflict, the code of the other point (0 for the same one), and the kind: `twice` for
two lanes of one point, `written`, `read` and `combined` for another point's earlier access."""


def stored(window: Window, cells: Array, path: Path) -> Found:
    """Record plain writes of `cells`, which must be alone."""
    block = window.block
    found: Found = []
    order = np.argsort(cells, kind="stable")
    same = np.flatnonzero(cells[order][1:] == cells[order][:-1])
    if same.size:
        one, two = order[same], order[same + 1]
        other, parted = np.zeros(same.size, np.int64), np.zeros(same.size, np.bool_)
        for codes in path:
            apart = (codes[one] != codes[two]) & ~parted
            other[apart], parted = codes[one][apart], parted | apart
        for kind, lanes in (("twice", ~parted), ("written", parted)):
            if lanes.any():
                k = int(np.argmax(lanes))
                found.append((int(two[k]), int(other[k]), kind))
    found += _conflicts(block, ("written", "read", "combined"), cells, path)
    kept = block.kept["written"]
    for number in range(max(len(path), len(kept))):
        block.level(kept, number)[cells] = path[number] if number < len(path) else 0
    return found


def shared(window: Window, kind: str, cells: Array, path: Path) -> Found:
    """Record accesses that may meet their like: reads (`read`), and atomic or combining ones (`combined`)."""
    block = window.block
    found = _conflicts(block, ("written", "combined" if kind == "read" else "read"), cells, path)
    together = np.ones(cells.size, np.bool_)
    for number, codes in enumerate(path):
        level = block.level(block.kept[kind], number)
        before = level[cells]
        now = np.where(_epoch(before) == _epoch(codes), np.where(before == codes, codes, codes | MANY), codes)
        level[cells[together]] = now[together]
        # lanes of one call that touch one cell
        first = np.zeros(block.cells, np.int64)
        first[cells] = codes
        differ = together & (first[cells] != codes)
        level[cells[differ]] = codes[differ] | MANY
        together &= level[cells] == codes
    return found


def _conflicts(block: _Block, kinds: Sequence[str], cells: Array, path: Path) -> Found:
    made = ((_conflict(block.kept[kind], cells, path), kind) for kind in kinds)
    return [(*conflict, kind) for conflict, kind in made if conflict is not None]


def _epoch(codes: Array) -> Array:
    return codes >> BITS


def _conflict(kept: list[Array], cells: Array, path: Path) -> tuple[int, int] | None:
    """The first lane whose path parts, in one epoch, from that of the access on record.

    An inner epoch is entered by all points of a batch together, so that those which part there may also have parted
    further out: it is looked at from the outside in.
    """
    for number, codes in enumerate(path[: len(kept)]):
        before = kept[number][cells]
        wrong = (before != codes) & (_epoch(before) == _epoch(codes))
        if wrong.any():
            k = int(np.argmax(wrong))
            return k, int(before[k])
    return None
