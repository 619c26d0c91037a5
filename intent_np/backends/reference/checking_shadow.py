"""The accesses of a checked run: what is unwritten, what stores poison, and which unordered points meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ...numerics import Array
from ...terms.logical import Accumulate, Atomic, Buffer, Parallel, Write
from ...terms.normal import View
from ..arrays.arguments import Arguments
from .checking_memory import Found, Window, code, shared, stored, windows
from .checking_report import Findings, point
from .scope import Scope, lift
from .tensors import called, lanes_of

SAID = {
    "twice": "two lanes of one point write it",
    "written": "{other} writes it too",
    "read": "{other} reads it",
    "combined": "{other} combines into it, or accesses it atomically",
}


class Shadow:
    """Shadow memory for the arrays of a run.  Elements of an `Out` are poison until they are written."""

    def __init__(self, arguments: Arguments, views: Iterable[View], findings: Findings, changing: set[str]) -> None:
        self.findings = findings
        self.views = {v.name: v for v in views}
        self.windows: dict[str, Window] = windows(arguments.arrays)
        self.near = {id(a): self.windows[n] for n, a in arguments.arrays.items()}  # by the arrays themselves
        self.buffers: dict[Buffer, Array] = {}
        moving = {self.windows[n].block for n in changing if n in self.windows}
        self.still = {w.block for w in self.windows.values()} - moving  # where no read can meet a write
        self._epoch = self._number = 0
        # of each level: the batch dimensions up to it, and the codes of its points
        self._levels: list[tuple[int, Array]] = []
        self._points: list[tuple[int, int, Scope, tuple[int, ...]]] = []
        for name, view in self.views.items():
            if view.mode == "out":
                self._unwritten(name, view)
        for name, view in self.views.items():
            poison = self.windows[name].poison
            if view.mode in ("in", "inout"):
                poison[...] = 0
            self.findings.poison.follow(arguments.arrays[name], poison)

    def _unwritten(self, name: str, view: View) -> None:
        poison = self.windows[name].poison

        def found(k: int) -> str:
            return f"element {[int(i) for i in np.unravel_index(k, poison.shape)]}" if poison.shape else "its element"

        poison[...] = self.findings.poison.arises("E504", view, np.ones(poison.shape, np.bool_), name, found)

    # ---- points

    def epoch(self) -> int:
        """A statement of `parallel` is entered."""
        self._epoch += 1
        return self._epoch

    @contextmanager
    def points(self, e: Parallel, epoch: int, inner: Scope) -> Iterator[None]:
        """The points of a batch are in hand."""
        last, first = inner.depth, inner.depth - len(e.points)
        dims = inner.sizes[first:last]
        count = int(np.prod(dims, dtype=np.int64))
        numbers = np.arange(self._number, self._number + count).reshape((1,) * first + dims)
        self._points.append((self._number, count, inner, (1,) * first + dims))
        self._number += count
        self._levels.append((last, code(epoch, numbers)))
        try:
            yield
        finally:
            self._levels.pop()

    def _path(self, s: Scope, shape: tuple[int, ...], lanes: Array | None) -> list[Array]:
        """The codes of each lane of an access in scope `s`."""
        path = []
        for last, codes in self._levels:
            if last <= s.depth:
                wide = np.broadcast_to(lift(codes, last, len(shape)), shape)
                path.append(wide.reshape(-1) if lanes is None else wide[np.broadcast_to(lanes, shape)])
        return path

    def _other(self, number: int) -> str:
        """The point of a code, in words."""
        wanted = number & ((1 << 32) - 1)
        for first, count, scope, dims in self._points:
            if first <= wanted < first + count:
                return f"the point {point(scope, wanted - first, dims)}"
        return "another point"

    # ---- accesses

    def allocated(self, buffer: Buffer, array: Array) -> None:
        """The memory of a buffer, new each time; an element of it belongs to the lane that made it."""
        self.near.pop(id(self.buffers.get(buffer)), None)  # an identity is used again
        self.buffers[buffer] = array
        window = windows({buffer.name: array})[buffer.name]
        self.near[id(array)] = replace(window, lanes=array.ndim - len(buffer.shape))

    def loaded(
        self, name: str, array: Array, where: Sequence[Array], s: Scope, rank: int, valid: Array | None = None
    ) -> None:
        """The elements at `where` are read in the lanes that are in hand and `valid`."""
        window = self.near.get(id(array))
        if window is None or window.block in self.still or not self._levels:
            return
        lanes = lanes_of(s, rank, valid)
        shape = self._shape(where, s, rank)
        path = self._path(s, shape, lanes)
        cells = window.cells(where, lanes, shape)
        if path and cells.size:
            for lane, other, kind in shared(window, "read", cells, path):
                self._race(name, window, lane, other, kind, cells, lanes, shape, s)

    def combined(
        self, e: Accumulate | Atomic, array: Array, where: Sequence[Array], valid: Array | None, mask: Array | None,
        overwrites: bool, s: Scope, shape: tuple[int, ...],
    ) -> None:  # fmt: skip
        """Elements at `where` take part in an atomic or combining access, which meets its like in any order."""
        met = lambda window, cells, path: shared(window, "combined", cells, path)  # noqa: E731
        self._changed(e, array, where, valid, mask, overwrites, s, shape, met)

    def stored(
        self, e: Write, array: Array, where: Sequence[Array], valid: Array | None, mask: Array | None, s: Scope,
        shape: tuple[int, ...],
    ) -> None:  # fmt: skip
        """Elements at `where` get a value with a mask of poison, in the lanes that are `valid`."""
        self._changed(e, array, where, valid, mask, True, s, shape, stored)

    def _changed(
        self, e: Accumulate | Atomic | Write, array: Array, where: Sequence[Array], valid: Array | None,
        mask: Array | None, overwrites: bool, s: Scope, shape: tuple[int, ...],
        met: Callable[[Window, Array, Sequence[Array]], Found],
    ) -> None:  # fmt: skip
        window, name = self.near[id(array)], called(e.view)  # type: ignore[attr-defined]
        cells = window.cells(where, valid, shape)
        if not cells.size:
            return
        for lane, other, kind in met(window, cells, self._path(s, shape, valid)):
            self._race(name, window, lane, other, kind, cells, valid, shape, s)
        if isinstance(e.view, View):
            self._poisoned(window, name, cells, where, valid, mask, shape, s, overwrites)

    def _poisoned(
        self, window: Window, name: str, cells: Array, where: Sequence[Array], valid: Array | None, mask: Array | None,
        shape: tuple[int, ...], s: Scope, overwrites: bool,
    ) -> None:  # fmt: skip
        """Elements take the poison of what is stored in them, which is a finding: it leaves the program."""
        poison = window.block.poison
        if overwrites:
            poison[cells] = 0
        if mask is None:
            return
        mask = np.broadcast_to(mask, shape)
        new = mask.reshape(-1) if valid is None else mask[np.broadcast_to(valid, shape)]
        poison[cells[new != 0]] = new[new != 0]
        live = mask if valid is None else np.where(np.broadcast_to(valid, shape), mask, 0)

        def element(k: int, at: tuple[int, ...]) -> list[int]:
            lane = np.unravel_index(k, at)
            return [int(np.broadcast_to(i, at)[lane]) for i in where]

        self.findings.reached(live, s, "element", name, element)

    def _shape(self, where: Sequence[Array], s: Scope, rank: int) -> tuple[int, ...]:
        """Every point in hand accesses, also where the index does not vary along it."""
        return np.broadcast_shapes(s.sizes + (1,) * rank, *(i.shape for i in where))

    def _race(
        self, name: str, window: Window, lane: int, other: int, kind: str, cells: Array, lanes: Array | None,
        shape: tuple[int, ...], s: Scope,
    ) -> None:  # fmt: skip
        flat = lane if lanes is None else int(np.flatnonzero(np.broadcast_to(lanes, shape))[lane])
        element = list(window.element(int(cells[lane])))
        said = SAID[kind].format(other=self._other(other))
        self.findings.add(
            "E505", self.findings.place, s, flat, shape, kind, name=name, found=f"element {element}: {said}"
        )

    def assume_written(self, views: Iterable[Any]) -> None:
        """A construct that does not say what it writes may have written all of these."""
        for v in views:
            if v.name in self.windows and v.mode != "in":
                self.windows[v.name].block.poison[...] = 0
