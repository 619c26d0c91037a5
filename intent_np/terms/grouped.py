"""grouped: the complete slow program.  A program space of instances, one a point of the workset; whole axes inside.

Every workset point is one program instance and performs the group's effects in order; axes that are not in the
workset are whole inside the instance.  Extents of the space are launch expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import NO_AXES, Term, find, term
from .index import AxisLike, Extent, Param, Physical
from .normal import (
    NORMAL,
    Axis,
    Begin,
    Coord,
    Effect,
    Load,
    Program,
    Recur,
    Store,
    Target,
    Turn,
    Update,
    addressed,
    check_parameters,
    closed_regions,
    ends_behind_loops,
    states_in_loops,
    varying,
)


@term
class Sync(Effect):
    """Everything stored before is seen by loads that read after it.  It orders what one instance does; instances do
    not wait for each other."""

    number: int
    turn: Turn | None = None
    syntax = "sync {number}{ in |turn|}"

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES if self.turn is None else frozenset((self.turn,))


@term
class Last(Effect):
    """What the last of the instances along an axis does, when all of them have done what stands before.  It sees what
    they stored; which one it is, is open, what it does is not."""

    along: AxisLike
    effects: tuple[Effect, ...]
    syntax = "last along {along} {{{effects:block}}}"


@term
class Group(Term):
    """An execution group: the axes whose points are its instances, and what each instance does.  In a `serial` one,
    statements need what points of others wrote, so that one instance performs them all."""

    workset: tuple[Axis, ...]
    effects: tuple[Effect, ...]
    serial: bool = False
    syntax = "group over ({workset}){ serial|serial|} {{{effects:block}}}"
    binds = False


@term
class GroupedProgram(Term):
    """One launch: disjoint execution groups.  `warps` of an instance and `registers` of a thread, at most, are what the
    plan was priced with; 0 where later passes decide."""

    name: str
    parameters: tuple[Term, ...]
    groups: tuple[Group, ...]
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    warps: int = 0
    registers: int = 0
    syntax = (
        "grouped @{name}({parameters}){ permits |permissions|}{ for |target|}{ warps |warps|}{ registers |registers|} "
        "{{{groups:block}}}"
    )

    def infer(self) -> None:
        check_parameters(self.parameters)


def launch_visible(program: GroupedProgram) -> Iterator[str]:
    """Grid extents read no device memory."""
    for g in program.groups:
        for a in g.workset:
            if any(True for _ in find((a.lo, a.hi), Load)):
                yield f"the bounds of workset axis {a} read device memory"


def synced(program: GroupedProgram) -> Iterator[str]:
    """A load reads after a sync that stands before it in its group, or what the launch found."""

    def block(effects: tuple[Any, ...], before: frozenset[Any], behind: tuple[Any, ...] = ()) -> Iterator[str]:
        own = before
        for e in effects:
            own |= {e}
            if isinstance(e, Recur):
                # a condition is asked behind the last sync of an iteration
                yield from block(e.effects, own, e.yields)
                yield from loads((*e.inits, e.turn), own)
                yield from loads((e.condition,) if e.condition is not None else (), own | set(e.effects))
            elif isinstance(e, Last):
                yield from block(e.effects, own)
            else:
                yield from loads((e,), own)
        yield from loads(behind, own)

    def loads(roots: tuple[Any, ...], before: frozenset[Any]) -> Iterator[str]:
        for t in find(roots, Load):
            if t.after not in before or not isinstance(t.after, (Sync, type(None))):
                yield f"{t} reads after what is no sync before it"

    for g in program.groups:
        yield from block(g.effects, frozenset((None,)))


def covered(program: GroupedProgram) -> Iterator[str]:
    """A store's address varies along every workset axis, else instances conflict; an update is performed over each.
    What the last along one of them does, one does for all."""

    def each(effects: tuple[Any, ...], workset: tuple[Any, ...]) -> Iterator[str]:
        alone = [e for e in effects if isinstance(e, Last)]
        for e in alone:
            yield from each(e.effects, tuple(a for a in workset if a is not e.along))
        rest = tuple(e for e in effects if not isinstance(e, Last))
        for u in find(rest, Update):
            for a in workset:
                if a not in u.over:
                    yield f"instances along {a} would all perform: {u}"
        for s in find(rest, Store):
            for a in workset:
                if not any(a in varying(i) for i in s.index):
                    yield f"instances along {a} would write the same element: {s}"

    for g in program.groups:
        yield from each(g.effects, g.workset)


def settled(program: Any) -> Iterator[str]:
    """What the last of some instances does stands behind all else, and is the same whichever of them it is."""
    for g in program.groups:
        inside = g.effects[-1:] if g.effects and isinstance(g.effects[-1], Last) else ()
        for e in find(g.effects, Last):
            if e not in inside:
                yield f"something stands behind what the last of some instances does: {e}"
        for e in inside:
            space = g.workset if isinstance(g, Group) else g.space
            if e.along not in space:
                yield f"{e.along} is no axis of instances: {e}"
            for t in find(e.effects, Coord):
                if t.axis is e.along:
                    yield f"{t}, which differs between those that may be the last: {e}"


GROUPED = NORMAL.extend(
    "grouped", root=GroupedProgram, add=(Sync, Last, Group, GroupedProgram), remove=(Program, Begin),
    about=__doc__ or "", rules=(
        closed_regions, addressed, states_in_loops, ends_behind_loops, launch_visible, covered, settled, synced,
    ),
)  # fmt: skip

__all__ = ["GROUPED", "Extent", "Group", "GroupedProgram", "Last", "Param", "Physical", "Sync"]
