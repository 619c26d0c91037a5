"""The loops in which an execution can stand, and their order, as facts for the e-graph.

A place of a frame is a path of loops, outermost first: `()`, `columns@1`, `rows@2/columns@1`.  `axis@turn` is the loop
over the axis in that turn; a loop comes before all of a later turn beside it, whatever axis they walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from ..terms.core import find, walk
from ..terms.grouped import Group
from ..terms.normal import Load, View
from .problem import STRUCTURED, Problem, operands

LAST = 1 << 20
"""The turn of what stands behind all loops."""

INNER = 2
"""Turns of loops inside of another loop."""

Loop = tuple[int, int]
"""An axis and a turn."""

Fact = tuple[str, tuple[int, ...]]


class Place(NamedTuple):
    """A path of loops of a frame; places of all frames are numbered through."""

    number: int
    frame: int
    path: tuple[Loop, ...]

    @property
    def turn(self) -> int:
        return self.path[0][1] if len(self.path) == 1 else LAST


class Frame(NamedTuple):
    """One role for each axis; `looped` and `fixed` are the axes that are walked and those that are not."""

    number: int
    roles: tuple[str, ...]
    looped: int
    fixed: int
    places: tuple[Place, ...]


def frames(problem: Problem, numbers: Iterator[int]) -> list[Frame]:
    """The frames of a problem with their places, numbered through."""
    out = []
    for f, roles in enumerate(problem.frames()):
        looped = sum(1 << i for i, r in enumerate(roles) if r == "loop")
        fixed = (1 << len(roles)) - 1 & ~looped
        paths = _paths([i for i, r in enumerate(roles) if r == "loop"], turns(problem, looped))
        out.append(Frame(f, roles, looped, fixed, tuple(Place(next(numbers), f, p) for p in paths)))
    return out


def turns(problem: Problem, looped: int) -> int:
    """How many loops wait for each other at most: one a level of reductions, and one to store."""
    level: dict[Any, int] = {}
    for t in walk(*(e.value for e in problem.stores), below=operands):
        below = max((level[c] for c in operands(t)), default=0)
        level[t] = below + (isinstance(t, STRUCTURED) and _has_a_loop(problem, t, looped))
    deepest = max(level[e.value] for e in problem.stores)
    return deepest + any(problem.bits(e) & looped for e in problem.stores)


def _has_a_loop(problem: Problem, t: Any, looped: int) -> bool:
    return bool(looped >> problem.bit[t.axis] & 1) and not problem.bits(t) & looped


def _paths(axes: list[int], most: int) -> list[tuple[Loop, ...]]:
    alone: list[tuple[Loop, ...]] = [((a, t),) for t in range(1, most + 1) for a in axes]
    nested = [(*p, (b, u)) for p in alone for b in axes if b != p[0][0] for u in range(1, INNER + 1)]
    return [(), *alone, *nested]


def facts(problem: Problem, every: list[Frame], keep: bool) -> Iterator[Fact]:
    """What the rules of places ask for.  With `keep`, values may be kept in memory from loop to loop."""
    for looped in sorted({f.looped for f in every}):
        yield "loops", (looped,)
    for f in every:
        for p in f.places:
            yield "opens", (p.number, f.fixed | _axes(p))
            yield "turn", (p.number, f.looped, p.turn)
            yield "around", (p.number, sum(1 << a for a, _ in p.path[:-1]))
            yield from (("holds", (i, p.number)) for i, r in enumerate(f.roles) if r == "whole")
            yield from (("steps", (a, p.number)) for a, _ in p.path[-1:])
            for q in f.places:
                if _before(q, p):
                    axis = q.path[-1][0]
                    yield "slot", (axis, q.number, p.number)
                    if keep and len(p.path) == len(q.path) == 1 and p.path[0][0] == axis:
                        yield "keeps", (axis, q.number, p.number)
        last = max((p.path[0][1] for p in f.places if p.path), default=0)
        for i, e in enumerate(problem.stores):
            late = _read_too(problem.group, e.view)
            for p in f.places:
                if _axes(p) == problem.bits(e) & f.looped and not (late and p.path and not _is_last(p, last)):
                    yield "stored", (i, f.number, p.number)


def _axes(p: Place) -> int:
    return sum(1 << a for a, _ in p.path)


def _before(q: Place, p: Place) -> bool:
    """Whether the loop that `q` is the body of may come before what stands at `p`."""
    if not q.path:
        return False
    around, (_, turn) = q.path[:-1], q.path[-1]
    rest = p.path[len(around) :]
    return p.path[: len(around)] == around and (not rest or rest[0][1] > turn)


def _is_last(p: Place, last: int) -> bool:
    return p.path[0][1] == last and all(u == INNER for _, u in p.path[1:])


def _read_too(group: Group, view: View) -> bool:
    """Whether elements of the view are read: then it is stored in the last turn, behind all that read it."""
    return any(t.view.names & view.names for t in find(group.effects, Load))


def numbers() -> Iterator[int]:
    """The numbers that `frames` gives to places, from 0."""
    return count()
