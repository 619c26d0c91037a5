"""What an execution asks of the machine, by kind: one row a kind of node.

A *point* is a frame with block extents.  An execution runs once for each instance and each iteration of the loops
around it, up to the innermost that it varies along: it is hoisted out of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..passes.blocks import LARGEST, power_of_two
from ..passes.choose_launch import Facts, warps
from ..terms.core import walk
from ..terms.index import Apply
from ..terms.normal import Contract, Load
from .machine import BARRIERS, ISSUE, ITERATIONS, L2, MEMORY, SPECIAL, TENSOR, UNITS, Launch, Work, costs
from .places import Frame
from .saturate import Saturated

SECTOR = 32
"""Bytes that memory hands out at once."""


class Item(NamedTuple):
    """An execution that is paid once: a node without what it is made of.  `touch` items stand for the first visit of
    what several loads read, `weights` for what the sums of one maximum share."""

    op: str
    literals: tuple[Any, ...]


class Point:
    """A frame at block extents: prices its items."""

    def __init__(self, s: Saturated, frame: Frame, blocks: tuple[int, ...], processors: int) -> None:
        self.s, self.frame, self.blocks, self.processors = s, frame, blocks, processors
        self.costs = costs()
        self.extents = s.problem.extents
        self.trips = [-(-e // b) for e, b in zip(self.extents, blocks, strict=True)]
        self.paths = {p.number: p.path for p in frame.places}
        roles = frame.roles
        self.instances = math.prod(t for t, r in zip(self.trips, roles, strict=True) if r == "space")
        self.tensor = bool(s.problem.contracts)
        self.loops = bool(frame.looped)
        self.warps = self._warps()
        self.threads = 32 * self.warps
        self.missed = self._missed()

    # ---- how the frame is spread

    def launch(self, live: float = 1.0) -> Launch:
        return Launch(self.instances, self.warps, self._largest() / self.threads, live, self.loops, self.tensor)

    def _warps(self) -> int:
        """The same choice that `choose_launch` will make."""
        wide = [b for b in self.blocks if b > 1]
        if self.tensor:
            return 8
        return warps(Facts(0, 0, 0, 0, self._largest(), len(wide), True, self.loops, False))

    def _largest(self) -> int:
        return max((self.fragment(d) for d in self.s.problem.together), default=1)

    def fits(self) -> bool:
        """Whether every fragment is one that an instance can hold."""
        return all(self.fragment(d) <= LARGEST for d in self.s.problem.together)

    def _missed(self) -> float:
        """The share of what a later loop reads again that the cache no longer holds: it streams past between."""
        streamed = 0.0
        for t in self.s.leaves:
            d = self.s.problem.bits(t)
            if isinstance(t, Load) and d & self.frame.looped:
                own = (b if r == "space" else e for i, (b, e, r) in enumerate(self._axes()) if d >> i & 1)
                shared = not any(d >> i & 1 for i, r in enumerate(self.frame.roles) if r == "space")
                streamed += t.type.bytes * math.prod(own) / (self.in_flight if shared else 1)  # type: ignore[union-attr]
        room = 0.6 * self.costs["l2_bytes"]
        return min(1.0, max(0.0, streamed * self.in_flight / room - 1))

    def _axes(self) -> list[tuple[int, int, str]]:
        return list(zip(self.blocks, self.extents, self.frame.roles, strict=True))

    @property
    def in_flight(self) -> int:
        """Instances at work at once; about two of a processor."""
        return max(1, min(self.instances, 2 * self.processors))

    # ---- counts

    def fragment(self, d: int) -> int:
        """Elements of the fragment of a value that varies along `d`."""
        return math.prod(b for i, b in enumerate(self.blocks) if d >> i & 1)

    def runs(self, d: int, place: int) -> int:
        """How often a value that varies along `d` is computed at a place."""
        path = self.paths[place]
        deep = max((j for j, (a, _) in enumerate(path) if d >> a & 1), default=-1)
        return self.instances * math.prod(self.trips[a] for a, _ in path[: deep + 1])

    def lanes(self, d: int, place: int) -> int:
        """Lanes that work for it: all threads do, whatever there is to do."""
        return self.runs(d, place) * max(self.fragment(d), self.threads)

    def once(self, d: int) -> int:
        return math.prod(e for i, e in enumerate(self.extents) if d >> i & 1)

    def iterations(self, place: int) -> int:
        return self.instances * math.prod(self.trips[a] for a, _ in self.paths[place])

    # ---- prices

    def price(self, item: Item) -> Work:
        work = [0.0] * len(UNITS)
        KINDS[item.op](self, work, *item.literals)
        return work

    def issue(self, op: str) -> float:
        table = self.costs["issue"]
        return float(table.get(op, table["other"]))


def _leaf(p: Point, w: Work, leaf: int, place: int) -> None:
    t = p.s.leaves[leaf]
    d = p.s.problem.bits(t)
    if isinstance(t, Load):
        size = t.type.bytes  # type: ignore[union-attr]
        w[L2] = p.runs(d, place) * max(p.fragment(d) * size, SECTOR)
        w[MEMORY] = p.missed * p.once(d) * size
        w[ISSUE] = p.lanes(d, place) * p.issue("load")
    elif d:
        steps = sum(isinstance(x, (Apply, Load)) for x in walk(t))
        w[ISSUE] = p.lanes(d, place) * p.issue("coordinate") * steps


def _touch(p: Point, w: Work, view: str, axes: int, size: int) -> None:
    w[MEMORY] = (1 - p.missed) * p.once(axes) * size


def _pointwise(p: Point, w: Work, op: str, d: int, place: int) -> None:
    name = "cast" if op.startswith("cast ") else op
    n = p.lanes(d, place)
    w[ISSUE] = n * (0 if op == "with" else p.issue(name))
    w[SPECIAL] = n * p.costs["special"].get(name, 0)


def _hold(p: Point, w: Work, combine: str, axis: int, d: int, place: int) -> None:
    if _product(p, w, combine, axis, d, place):
        return
    w[ISSUE] = p.lanes(d, place) * p.issue(combine)
    w[BARRIERS] = p.runs(d & ~(1 << axis), place)


def _fold(p: Point, w: Work, combine: str, axis: int, d: int, body: int) -> None:
    """Lane by lane in the loop; once across lanes behind it."""
    if _product(p, w, combine, axis, d, body):
        return
    w[ISSUE] = p.lanes(d, body) * p.issue(combine)
    around = p.paths[body][:-1]
    w[BARRIERS] = p.instances * math.prod(p.trips[a] for a, _ in around)


def _product(p: Point, w: Work, combine: str, axis: int, d: int, place: int) -> bool:
    """A contraction: on tensor cores where three axes are wide enough, else lane by lane."""
    by = p.s.combines[combine, axis]
    if not isinstance(by, Contract):
        return False
    n = p.runs(d, place) * p.fragment(d)
    wide = sum(1 for i, b in enumerate(p.blocks) if d >> i & 1 and b >= 16)
    w[TENSOR if wide >= 3 and by.acc.name == "f32" and by.left.type.bytes <= 2 else ISSUE] = 2 * n  # type: ignore[union-attr]
    return True


def _top(p: Point, w: Work, axis: int, d: int, body: int) -> None:
    w[ISSUE] = p.lanes(d, body) * p.issue("top")
    w[BARRIERS] = 0 if p.tensor else p.iterations(body)  # each warp has rows of a matrix of its own


def _weights(p: Point, w: Work, axis: int, d: int, body: int) -> None:
    """What the sums of one maximum share: an exponential for each score, and two for each row, to rescale them by."""
    rows = 2 * p.runs(d, body) * p.fragment(d & ~(1 << axis))
    n = p.lanes(d, body)
    w[ISSUE] = n * p.issue("weight") + rows * p.issue("exp")
    w[SPECIAL] = n * p.costs["special"]["weight"] + rows * p.costs["special"]["exp"]


def _weighed(p: Point, w: Work, what: str, d: int, body: int) -> None:
    if what == "sum":
        w[ISSUE] = p.lanes(d, body) * p.issue("sum")
        w[BARRIERS] = 0 if p.tensor else p.iterations(body)
        return
    axis = p.paths[body][-1][0]
    _product(p, w, what.partition(" cast ")[0], axis, d, body)
    w[ISSUE] += p.runs(d, body) * p.fragment(d & ~(1 << axis)) * p.issue("mul")  # the accumulator is rescaled


def _read(p: Point, w: Work, value: int, d: int, place: int, body: int) -> None:
    n = p.runs(d, place) * p.fragment(d) * p.s.candidates[value].type.bytes  # type: ignore[union-attr]
    w[L2], w[MEMORY], w[ISSUE] = n, p.missed * n, p.lanes(d, place) * p.issue("kept")


def _write(p: Point, w: Work, value: int, d: int, body: int) -> None:
    n = p.runs(d, body) * p.fragment(d) * p.s.candidates[value].type.bytes  # type: ignore[union-attr]
    w[L2], w[MEMORY], w[ISSUE] = n, n, p.lanes(d, body) * p.issue("kept")
    w[BARRIERS] = p.instances


def _loop(p: Point, w: Work, body: int) -> None:
    if p.paths[body]:
        n = p.iterations(body)
        w[ITERATIONS], w[ISSUE], w[BARRIERS] = n, n * p.issue("iteration") * p.threads, p.instances * 0.5


def _store(p: Point, w: Work, statement: int, place: int) -> None:
    e = p.s.problem.stores[statement]
    d = p.s.problem.bits(e)
    n = p.once(d) * e.view.dtype.bytes
    w[MEMORY], w[L2], w[ISSUE] = n, n, p.lanes(d, place) * p.issue("store")


def _free(p: Point, w: Work, *_: Any) -> None:
    """Nothing: a result of a loop is at hand behind it."""


KINDS: dict[str, Callable[..., None]] = {
    "XLeaf": _leaf, "touch": _touch, "XUn": _pointwise, "XBin": _pointwise, "XTri": _pointwise, "XHold": _hold,
    "XFold": _fold, "XTop": _top, "weights": _weights, "XWeighed": _weighed, "Get": _free, "XRead": _read,
    "XWrite": _write, "Loop": _loop, "XStore": _store, "Seq": _free,
}  # fmt: skip


def blocks_of(problem: Any, frame: Frame, chosen: dict[Any, int]) -> tuple[int, ...]:
    """The extent of each axis' fragment: all of a held one, else what is chosen."""
    return tuple(
        power_of_two(problem.bound(i)) if r == "whole" else chosen.get(a, 1)
        for i, (a, r) in enumerate(zip(problem.axes, frame.roles, strict=True))
    )
