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
from ..terms.combines import Arg
from ..terms.core import find, walk
from ..terms.index import Apply, Const
from ..terms.normal import Contract, Load, Part, Reduce, Region
from .machine import (
    AGAIN,
    ARRIVALS,
    BARRIERS,
    BRANCHES,
    ISSUE,
    L2,
    MEMORY,
    NEAR,
    PHASED,
    SPECIAL,
    STREAMED,
    TENSOR,
    UNITS,
    WAITS,
    Launch,
    Work,
    costs,
)
from .places import Frame
from .problem import summarized
from .saturate import Saturated

SECTOR = 32
"""Bytes that memory hands out at once."""


class Item(NamedTuple):
    """An execution that is paid once: a node without what it is made of.  `touch` items stand for the first visit of
    what several loads read, `weights` for what the sums of one maximum share."""

    op: str
    literals: tuple[Any, ...]


class Point:
    """A frame at block extents: prices its items.  `warps` are those that `choose_launch` will choose, unless given."""

    def __init__(self, s: Saturated, frame: Frame, blocks: tuple[int, ...], processors: int, warps: int = 0) -> None:
        self.s, self.frame, self.blocks, self.processors = s, frame, blocks, processors
        self.costs = costs()
        self.extents = s.problem.extents
        self.trips = [-(-e // b) for e, b in zip(self.extents, (*blocks, *(1 for _ in s.problem.turns)), strict=True)]
        self.paths = {p.number: p.path for p in frame.places}
        roles = (*frame.roles, *("ordered" for _ in s.problem.turns))
        self.instances = math.prod(t for t, r in zip(self.trips, roles, strict=True) if r == "space")
        self.tensor = bool(s.problem.contracts)
        self.loops = bool(frame.looped)
        self.warps = warps or self._warps()
        self.threads = 32 * self.warps
        self.space = sum(1 << i for i, r in enumerate(roles) if r == "space")
        self.shared = self._shared()
        self.guarded = sum(1 << i for i, r in enumerate(frame.roles) if r == "whole" and not s.problem.is_filled(i))

    # ---- how the frame is spread

    def launch(self, registers: float) -> Launch:
        """The launch, with so many registers a thread."""
        return Launch(self.instances, self.warps, registers, self.shared, self.tensor, self.loops)

    def _warps(self) -> int:
        """The same choice that `choose_launch` will make."""
        wide = [b for b in self.blocks if b > 1]
        if self.tensor:
            return 8
        return warps(
            Facts(0, 0, 0, 0, self.largest(), len(wide), True, self.loops, False, bool(self.s.problem.scanned))
        )

    def largest(self) -> int:
        """Elements of the largest fragment."""
        return max((self.fragment(d) for d in self.s.problem.together), default=1)

    def fits(self) -> bool:
        """Whether every fragment is one that an instance can hold."""
        return all(self.fragment(d) * registers <= LARGEST for d, registers in self.s.problem.together.items())

    def registers(self) -> float:
        """Registers of a thread for a pick that is not known yet: one fragment is live, or carried by a loop."""
        c, elements = self.costs["thread"], self.largest() / self.threads
        if self.tensor:
            return float(c["tensor"])
        if self.loops:
            return float(c["loop"] + (c["carried"] + c["worked on"] + c["loaded"]) * elements)
        return float(c["straight"] + (1 + c["arrived"]) * elements)

    def _shared(self) -> float:
        """Bytes that all instances read."""
        found: dict[Any, float] = {}
        for t, d in zip(self.s.leaves, self.s.lanes, strict=True):
            if isinstance(t, Load) and not d & self.space:
                found[t.view.name, d] = self.once(d) * t.type.bytes  # type: ignore[union-attr]
        return sum(found.values())

    # ---- counts

    def fragment(self, d: int) -> int:
        """Elements of the fragment of a value that varies along `d`."""
        return math.prod(b for i, b in enumerate(self.blocks) if d >> i & 1)

    def runs(self, d: int, place: int) -> int:
        """How often a value that varies along `d` is computed at a place."""
        path = self.paths[place]
        deep = max((j for j, (a, _) in enumerate(path) if d >> a & 1), default=-1)
        return self.instances * math.prod(self.trips[a] for a, _ in path[: deep + 1])

    def is_wide(self, d: int) -> bool:
        """Whether the axes of a product are wide enough for tensor cores."""
        return sum(d >> i & 1 and b >= 16 for i, b in enumerate(self.blocks)) >= 3

    def lanes(self, d: int, place: int) -> int:
        """Lanes that work for it: all threads do, whatever there is to do."""
        return self.runs(d, place) * max(self.fragment(d), self.threads)

    def once(self, d: int) -> int:
        """Elements of a value that varies along `d`, each once."""
        return math.prod(e for i, e in enumerate(self.extents) if d >> i & 1)

    def iterations(self, place: int) -> int:
        """How often a place is reached, by all instances."""
        return self.instances * math.prod(self.trips[a] for a, _ in self.paths[place])

    # ---- prices

    def price(self, item: Item) -> Work:
        """The work of an item, unit by unit."""
        work = [0.0] * len(UNITS)
        KINDS[item.op](self, work, *item.literals)
        work[PHASED] = max(work[ISSUE], work[SPECIAL] * self.costs["lanes"] / self.costs["specials"])
        return work

    def issue(self, op: str) -> float:
        """Instructions of an operator for one lane."""
        table = self.costs["issue"]
        return float(table.get(op, table["other"]))

    def batched(self, d: int) -> bool:
        """Whether the loads of several iterations of the first visit are under way at once: a loop is unrolled that
        loads few elements and has neither branches nor a combination of several instructions; no load passes a
        meeting of the warps."""
        views = {
            t.view.name for t, e in zip(self.s.leaves, self.s.lanes, strict=True) if isinstance(t, Load) and e == d
        }
        few = len(views) * self.fragment(d) <= UNROLLED * self.threads
        return few and not any(
            isinstance(t, Reduce)
            and (len(t.values) > 1 or self.meets(t, d))
            or isinstance(t, Apply)
            and t.op.name in self.costs["branches"]
            for t in walk(*self.s.problem.stores, *self.s.problem.values)
        )

    def meets(self, t: Reduce, d: int) -> bool:
        """Whether a reduction of what varies along `d` is one across the lanes of every block of a loop."""
        varies, looped = self.s.problem.bits(t.values[0]), self.frame.looped
        sliced = isinstance(t.axis, Part)
        return bool(d & varies & looped) and (sliced or not looped >> self.s.problem.bit[t.axis] & 1)  # type: ignore[index]

    def combining(self, combine: str, axis: int, whole: bool = False) -> float:
        """Instructions of a lane to combine two members; of `whole` blocks, whose members are all there, what follows
        from constant components (how many there are) is computed when it is compiled."""
        if combine in self.costs["issue"]:
            return self.issue(combine)
        known, key = self.s.problem.combining, (combine, axis, whole)
        if key not in known:  # the same at every point
            known[key] = self._combining(self.s.combines[combine, axis], whole)
        return known[key]

    def _combining(self, by: Any, whole: bool) -> float:
        bodies = by.combine.bodies
        known = {i for i, t in enumerate(by.values) if isinstance(t, Const)} if whole else set()
        while lost := {i for i in known if not _follows(bodies[i], known)}:
            known -= lost
        done = (x for x in walk(*bodies) if isinstance(x, Apply) and not _follows(x, known))
        return sum(self.issue(x.op.name) * _halves(x) for x in done)


def _halves(t: Apply) -> int:
    """Registers of what an operator compares, chooses from or computes: places are numbers of 64 bits."""
    return 2 if any(getattr(a.type, "bytes", 4) == 8 for a in (t, *t.args)) else 1


def _follows(t: Any, known: set[int]) -> bool:
    """Whether a value is made of components that are known alone."""
    return all(a.position in known for a in find(t, Arg))


def _leaf(p: Point, w: Work, leaf: int, place: int) -> None:
    t, d = p.s.leaves[leaf], p.s.lanes[leaf]
    if isinstance(t, Load):
        _load(p, w, t, d, place)
    elif isinstance(t, Region):
        _summary(p, w, t, place)
    elif d:
        steps = sum(isinstance(x, (Apply, Load)) for x in walk(t))
        w[ISSUE] = p.lanes(d, place) * p.issue("coordinate") * steps


def _load(p: Point, w: Work, t: Load, d: int, place: int) -> None:
    size = t.type.bytes  # type: ignore[union-attr]
    w[NEAR] = p.runs(d, place) * max(p.fragment(d) * size, SECTOR)
    w[AGAIN] = p.once(d) * size if d & p.space else 0  # what all read stays in the cache
    w[ISSUE] = p.lanes(d, place) * (p.issue("load") + (p.issue("guard") if d & p.guarded else 0))


def _summary(p: Point, w: Work, t: Region, place: int) -> None:
    """What a fold of slices computes for a block; combining summaries is a few operations for each row."""
    for x in summarized(t):
        if isinstance(x, Apply):
            _pointwise(p, w, x.op.name, p.s.problem.bits(x), place)
        elif isinstance(x, Reduce):
            d = p.s.problem.bits(x.values[0])
            w[ISSUE] += p.lanes(d, place)
            _across(p, w, p.runs(d, place))


def _touch(p: Point, w: Work, view: str, d: int, size: int) -> None:
    """The first visit: no longer one of those that read again."""
    n = p.once(d) * size
    w[MEMORY], w[L2], w[NEAR] = n, n, -n
    if d & p.space:
        w[AGAIN], w[STREAMED] = -n, n if d & p.frame.looped else 0


def _arrival(p: Point, w: Work, d: int) -> None:
    """The iterations of the first visit: what varies alike arrives together."""
    if d & p.space and d & p.frame.looped:
        n = p.instances * math.prod(t for i, t in enumerate(p.trips) if (d & p.frame.looped) >> i & 1)
        w[ARRIVALS] = n / (BATCH if p.batched(d) else 1)


def _pointwise(p: Point, w: Work, op: str, d: int, place: int) -> None:
    if op.startswith("load "):
        _load(p, w, p.s.gathers[int(op.removeprefix("load "))], d, place)
        return
    name, n = op.partition(" ")[0], p.lanes(d, place)
    w[ISSUE] += n * p.issue(name)
    w[SPECIAL] += n * p.costs["special"].get(name, 0)
    w[BRANCHES] += n * p.costs["branches"].get(name, 0)


def _hold(p: Point, w: Work, combine: str, axis: int, d: int, place: int) -> None:
    if _product(p, w, combine, axis, d, place):
        return
    each = p.combining(combine, axis)
    w[ISSUE] = p.lanes(d, place) * each
    _across(p, w, p.runs(d & ~(1 << axis), place), each)


def _scan(p: Point, w: Work, combine: str, axis: int, d: int, place: int) -> None:
    """Steps of doubling distance between lanes, and the prefix before the block, which a loop carries."""
    w[ISSUE] = p.lanes(d, place) * p.issue("scan") * max(1.0, p.combining(combine, axis))
    _across(p, w, p.runs(d, place))


def _fold(p: Point, w: Work, combine: str, axis: int, d: int, body: int) -> None:
    """Lane by lane in the loop, once across lanes behind it; what has several components, in each iteration."""
    if _product(p, w, combine, axis, d, body):
        return
    each = p.combining(combine, axis)
    w[ISSUE] = p.lanes(d, body) * p.combining(combine, axis, whole=True)
    around = p.paths[body][:-1]
    alone = len(p.s.combines[combine, axis].values) == 1  # what has several components is combined in each iteration
    _across(p, w, p.instances * math.prod(p.trips[a] for a, _ in around) if alone else p.iterations(body), each)


BATCH = 4
"""Iterations of a short loop that are unrolled together."""

UNROLLED = 16
"""Elements of each thread that such a loop loads in an iteration at most."""

STEPS = 10
"""Of a reduction across lanes: in a warp, and among warps."""


def _across(p: Point, w: Work, times: int, each: float = 1) -> None:
    """Reductions across lanes: shuffles in each warp, and a meeting of the warps, with `each` instructions to combine
    two; those of a product's rows need none, for each warp has rows of its own."""
    if not p.tensor:
        w[ISSUE] += times * (p.issue("reduction") + STEPS * max(0.0, each - 1)) * p.threads
        w[BARRIERS] += times


def _product(p: Point, w: Work, combine: str, axis: int, d: int, place: int) -> bool:
    """A contraction: on tensor cores where three axes are wide enough, else lane by lane."""
    by = p.s.combines[combine, axis]
    if not isinstance(by, Contract):
        return False
    wide = by.acc.name == "f32" and by.left.type.bytes <= 2 and p.is_wide(d)  # type: ignore[union-attr]
    w[TENSOR if wide else ISSUE] = 2 * p.runs(d, place) * p.fragment(d)
    return True


def _top(p: Point, w: Work, axis: int, d: int, body: int) -> None:
    if p.batched(d):  # the warps meet in each iteration, so that it is not
        w[ARRIVALS] = p.iterations(body) * (1 - 1 / BATCH)
    w[ISSUE] = p.lanes(d, body) * p.issue("top")
    _across(p, w, p.iterations(body))


def _weights(p: Point, w: Work, axis: int, d: int, body: int) -> None:
    """What the sums of one maximum share: an exponential for each score, and two for each row, to rescale them by."""
    rows = 2 * p.runs(d, body) * p.fragment(d & ~(1 << axis))
    n = p.lanes(d, body)
    w[ISSUE] = n * p.issue("weight") + rows * p.issue("exp")
    w[SPECIAL] = n * p.costs["special"]["weight"] + rows * p.costs["special"]["exp"]


def _weighed(p: Point, w: Work, what: str, d: int, body: int) -> None:
    if what == "sum":
        w[ISSUE] = p.lanes(d, body) * p.issue("sum")
        _across(p, w, p.iterations(body))
        return
    axis = p.paths[body][-1][0]
    _product(p, w, what.partition(" cast ")[0], axis, d, body)
    w[ISSUE] += p.runs(d, body) * p.fragment(d & ~(1 << axis)) * p.issue("mul")  # the accumulator is rescaled


def _read(p: Point, w: Work, value: int, d: int, place: int, body: int) -> None:
    n = p.runs(d, place) * p.fragment(d) * p.s.candidates[value].type.bytes  # type: ignore[union-attr]
    w[NEAR], w[AGAIN], w[ISSUE] = n, n, p.lanes(d, place) * p.issue("kept")


def _write(p: Point, w: Work, value: int, d: int, body: int) -> None:
    n = p.runs(d, body) * p.fragment(d) * p.s.candidates[value].type.bytes  # type: ignore[union-attr]
    w[L2], w[MEMORY], w[STREAMED], w[ISSUE] = n, n, n, p.lanes(d, body) * p.issue("kept")
    w[BARRIERS] = p.instances


def _loop(p: Point, w: Work, body: int) -> None:
    if p.paths[body] and not p.s.problem.ordered >> p.paths[body][-1][0] & 1:  # ordered ones are, whatever is chosen
        n = p.iterations(body)
        w[WAITS], w[ISSUE] = n, n * p.issue("iteration") * p.threads


def _pipelined(p: Point, w: Work, body: int) -> None:
    """The loads of a loop around a product are under way before they are waited for."""
    if p.paths[body]:
        w[WAITS] = -p.iterations(body)


def _store(p: Point, w: Work, statement: int, place: int) -> None:
    s = p.s.problem.statements[statement]
    if s.part:
        return  # a name
    d = p.s.problem.bits(s.effect) | sum(1 << a for a, _ in p.paths[place] if p.s.problem.ordered >> a & 1)
    n = p.once(d) * s.effect.view.dtype.bytes
    w[MEMORY], w[L2], w[ISSUE] = n, n, p.lanes(d, place) * p.issue("store")


def _free(p: Point, w: Work, *_: Any) -> None:
    """Nothing: a result of a loop is at hand behind it."""


KINDS: dict[str, Callable[..., None]] = {
    "XLeaf": _leaf, "touch": _touch, "arrival": _arrival, "XUn": _pointwise, "XBin": _pointwise, "XTri": _pointwise,
    "XHold": _hold, "XScan": _scan, "XFold": _fold, "XTop": _top, "weights": _weights, "XWeighed": _weighed,
    "Get": _free, "XRead": _read, "XWrite": _write, "Loop": _loop, "pipelined": _pipelined,
    "XStore": _store, "Seq": _free,
}  # fmt: skip


def blocks_of(problem: Any, frame: Frame, chosen: dict[Any, int]) -> tuple[int, ...]:
    """The extent of each axis' fragment: all of a held one, else what is chosen."""
    return tuple(
        power_of_two(problem.bound(i)) if r == "whole" else 1 if a in problem.owners else chosen.get(a, 1)
        for i, (a, r) in enumerate(zip(problem.axes, frame.roles, strict=True))
    )
