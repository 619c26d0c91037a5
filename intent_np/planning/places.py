"""The loops in which an execution can stand, and their order, as facts for the e-graph.

A place of a frame is a path of loops, outermost first: `()`, `columns@1`, `rows@2/columns@1`.  `axis@turn` is the loop
over the axis in that turn; a loop comes before all of a later turn beside it, whatever axis they walk.

An ordered loop is an element of paths, too, with the turn that it has among what stands around it: `i@3/columns@1` is a
loop over the columns in each of its iterations.  Where there are barriers, each slot between them has turns of its own,
and a place behind them for what stands in no loop there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, reduce
from itertools import count
from operator import or_
from typing import Any, NamedTuple

from ..terms.core import find, walk
from ..terms.grouped import Group
from ..terms.normal import Effect, Load, View
from .order import Body
from .problem import STRUCTURED, Problem, operands

LAST = 1 << 20
"""The turn of what stands behind all loops."""

INNER = 3
"""Turns of loops inside of another loop at most."""

AGAIN = 2
"""Loops over one axis in each other at most: what needs all of it in each block of it is computed again there."""

Loop = tuple[int, int]
"""An axis and a turn."""

Fact = tuple[str, tuple[int, ...]]


class Place(NamedTuple):
    """A path of loops of a frame; places of all frames are numbered through.

    slot:   that of the statements between barriers which it belongs to
    last:   the turn of the last loop of that slot
    base:   of a place that is no loop's body, but stands behind the loops of its slot, the turn that it has there
    inner:  how many of the innermost loops of the path are not ordered ones
    late:   whether each of these is the last that there may be where it stands
    """

    number: int
    frame: int
    path: tuple[Loop, ...]
    slot: int = 0
    last: int = 0
    base: int = 0
    inner: int = 0
    late: bool = False

    @property
    def turn(self) -> int:
        return self.path[0][1] if len(self.path) == self.inner == 1 else LAST

    @property
    def around(self) -> tuple[Loop, ...]:
        """The ordered loops of the path."""
        return self.path[: len(self.path) - self.inner]


class Frame(NamedTuple):
    """One role for each axis; `looped` and `fixed` are the axes that are walked and those that are not.  `fronts` has
    for each ordered loop the last place in front of it."""

    number: int
    roles: tuple[str, ...]
    looped: int
    fixed: int
    places: tuple[Place, ...]
    fronts: dict[int, Place]


def frames(problem: Problem, numbers: Iterator[int]) -> list[Frame]:
    """The frames of a problem with their places, numbered through."""
    out = []
    for f, roles in enumerate(problem.frames()):
        looped = sum(1 << i for i, r in enumerate(roles) if r == "loop")
        fixed = (1 << len(roles)) - 1 & ~looped
        fronts: dict[int, Place] = {}
        places = tuple(_places(problem, problem.order.body, (), f, looped, numbers, fronts))
        out.append(Frame(f, roles, looped, fixed, places, fronts))
    return out


def _places(
    problem: Problem, body: Body, around: tuple[Loop, ...], frame: int, looped: int, numbers: Iterator[int],
    fronts: dict[int, Place],
) -> Iterator[Place]:  # fmt: skip
    """The places of a body, slot by slot."""
    now = 0
    front: Any = None
    for part in body.parts:
        if isinstance(part, int):
            most, walked = turns(problem, looped & problem.bounded(part), part)
            last = now + most
            base = LAST if problem.order.is_plain else last + 1
            front = Place(next(numbers), frame, around, part, last, base)
            yield front
            for path, late in _paths(problem, part, walked, now, most):
                yield Place(next(numbers), frame, (*around, *path), part, last, 0, len(path), late)
            now = last + 1
        else:
            number, inside = part
            now += 1
            bit = len(problem.axes) + number
            fronts[bit] = front
            yield from _places(problem, inside, (*around, (bit, now)), frame, looped, numbers, fronts)


def turns(problem: Problem, looped: int, slot: int) -> tuple[int, int]:
    """How many loops of a slot wait for each other at most, one a level of reductions and one to store; and the axes
    that they walk.  What stays in the iterations of the loop behind it may be computed there, too."""
    own = [s for s in problem.statements if s.slot == slot]
    values = [v for s in own for v in s.values]
    stay = _staying(problem, slot)
    level: dict[Any, int] = {}
    for t in walk(*values, *stay, below=operands):
        below = max((level[c] for c in operands(t)), default=0)
        level[t] = below + (isinstance(t, STRUCTURED) and _has_a_loop(problem, t, looped))
    stored = any(problem.bits(s.effect) & looped for s in own if not s.part) or any(
        problem.bits(v) & looped for v in stay
    )
    if problem.order.is_plain:
        return max(level[v] for v in values) + stored, looped
    walked = 0
    for t in walk(*values, *(s.effect for s in own if not s.part), *stay, below=_inside):
        walked |= problem.bits(t) | (1 << problem.bit[t.axis] if isinstance(t, STRUCTURED) else 0)  # type: ignore[index]
    return max((level[v] for v in (*values, *stay)), default=0) + stored, walked & looped


def _inside(t: Any) -> list[Any]:
    """What a value or a statement is made of."""
    return operands(t) if not isinstance(t, Effect) else []


def _staying(problem: Problem, slot: int) -> list[Any]:
    """The largest values in the ordered loop behind a slot that no iteration of it decides."""
    order = problem.order
    inside = [turn for turn, front in order.fronts.items() if front == slot]
    if not inside:
        return []
    bits = sum(1 << len(problem.axes) + turn for turn in inside)
    values = [v for s in order.statements if set(order.within[s.slot]) & set(inside) for v in s.values]
    found: list[Any] = []
    below = lambda t: operands(t) if problem.bits(t) & bits else ()  # noqa: E731
    for t in walk(*values, below=below):
        if not problem.bits(t) & bits and operands(t):
            found.append(t)
    return found


def _has_a_loop(problem: Problem, t: Any, looped: int) -> bool:
    return bool(looped >> problem.bit[t.axis] & 1) and not problem.bits(t) & looped


def _paths(problem: Problem, slot: int, walked: int, now: int, most: int) -> Iterator[tuple[tuple[Loop, ...], bool]]:
    """The paths of loops in a slot, the outermost loop in a turn behind `now`; and whether each loop is the last that
    there may be where it stands.  A statement stands in loops over its axes; a reduction of what varies along the loop
    in hand, and along no other axis that is not walked there, has a loop of its own in it."""
    nests = [problem.nest(s.effect, walked) for s in problem.statements if s.slot == slot and not s.part]
    folds = {(axis, d & walked) for axis, d in problem.folds if walked >> axis & 1}
    inner = cache(lambda last, around: min(INNER, _inner(problem, slot, last, around, walked)))
    paths: list[tuple[tuple[Loop, ...], bool]] = [((), True)]
    while paths:
        longer: list[tuple[tuple[Loop, ...], bool]] = []
        for path, late in paths:
            around, along = _axes(path), [a for a, _ in path]
            if path:
                last = along[-1]
                into = {n[len(path)] for n in nests if len(n) > len(path) and n[: len(path)] == along}
                for axis, d in folds:
                    if axis != last and along.count(axis) < AGAIN and d >> last & 1 and not d & ~(around | 1 << axis):
                        into.add(axis)
                first, end = 1, inner(last, around)
            else:
                into = {i for i in range(len(problem.axes)) if walked >> i & 1}
                first, end = now + 1, now + most
            longer += [((*path, (i, t)), late and t == end) for t in range(first, end + 1) for i in sorted(into)]
        yield from longer
        paths = longer


def _inner(problem: Problem, slot: int, last: int, around: int, walked: int) -> int:
    """How many loops wait for each other at most right inside of a loop over the axis `last` of those `around`: of what
    varies along it."""
    own = [s for s in problem.statements if s.slot == slot]
    values = [*(v for s in own for v in s.values), *_staying(problem, slot)]
    level: dict[Any, int] = {}
    for t in walk(*values, below=operands):
        below = max((level[c] for c in operands(t)), default=0)
        looped = isinstance(t, STRUCTURED) and walked & ~(1 << last) & 1 << problem.bit[t.axis]  # type: ignore[index]
        level[t] = below + bool(looped) if problem.bits(t) >> last & 1 else 0
    stored = any(around != d and around == d & around for d in (problem.bits(s.effect) & walked for s in own))
    return max(level.values(), default=0) + stored


def facts(problem: Problem, every: list[Frame], keep: bool) -> Iterator[Fact]:
    """What the rules of places ask for.  With `keep`, values may be kept in memory from loop to loop."""
    for looped in sorted({f.looped for f in every}):
        yield "loops", (looped,)
    for f in every:
        for p in f.places:
            yield "opens", (p.number, f.fixed | _axes(p.path))
            yield "turn", (p.number, f.looped, p.turn)
            yield "around", (p.number, _axes(p.path[-2:-1]))
            here = problem.bounded(p.slot)
            yield from (("holds", (i, p.number)) for i, r in enumerate(f.roles) if r == "whole" and here >> i & 1)
            yield from (("steps", (a, p.number, _axes(p.path[i + 1 :]))) for i, (a, _) in enumerate(p.path))
            if p.base and p.around:
                bit = p.around[-1][0]
                yield "outside", (p.number, f.fronts[bit].number, 1 << bit)
            for q in f.places:
                if _before(q, p):
                    axis = q.path[-1][0]
                    yield "slot", (axis, q.number, p.number)
                    if keep and p.inner == q.inner == 1 and p.path[-1][0] == axis:
                        yield "keeps", (axis, q.number, p.number)
        for i, s in enumerate(problem.statements):
            late = problem.order.is_late(s, not s.part and _read_too(problem.group, s.effect.view))
            nest = [] if s.part else problem.nest(s.effect, f.looped)
            for p in f.places:
                own = [a for a, _ in p.path[len(p.around) :]]
                if p.slot == s.slot and own == nest and not (late and p.inner and not p.late):
                    yield "stored", (i, f.number, p.number)


def _axes(path: tuple[Loop, ...]) -> int:
    return reduce(or_, (1 << a for a, _ in path), 0)  # some of them more than once


def _before(q: Place, p: Place) -> bool:
    """Whether the loop that `q` is the body of may come before what stands at `p`."""
    if q.base:
        return False
    around, (_, turn) = q.path[:-1], q.path[-1]
    rest = p.path[len(around) :]
    return p.path[: len(around)] == around and (rest[0][1] if rest else p.base or LAST) > turn


def _read_too(group: Group, view: View) -> bool:
    """Whether elements of the view are read: then it is stored in the last turn, behind all that read it."""
    return any(t.view.names & view.names for t in find(group.effects, Load))


def numbers() -> Iterator[int]:
    """The numbers that `frames` gives to places, from 0."""
    return count()
