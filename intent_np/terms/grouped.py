"""grouped: the complete slow program.  A program space of instances, one a point of the workset; whole axes inside.

Every workset point is one program instance and performs the group's effects in order; axes that are not in the
workset are whole inside the instance.  Extents of the space are launch expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import NO_AXES, Term, find, term
from .index import Extent, Param, Physical
from .normal import (
    NORMAL,
    Axis,
    Begin,
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
    """One launch: disjoint execution groups."""

    name: str
    parameters: tuple[Term, ...]
    groups: tuple[Group, ...]
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    syntax = "grouped @{name}({parameters}){ permits |permissions|}{ for |target|} {{{groups:block}}}"

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
    """A store's address varies along every workset axis, else instances conflict; an update is performed over each."""
    for g in program.groups:
        for u in find(g.effects, Update):
            for a in g.workset:
                if a not in u.over:
                    yield f"instances along {a} would all perform: {u}"
        for e in find(g.effects, Store):
            for a in g.workset:
                if not any(a in varying(i) for i in e.index):
                    yield f"instances along {a} would write the same element: {e}"


GROUPED = NORMAL.extend(
    "grouped", root=GroupedProgram, add=(Sync, Group, GroupedProgram), remove=(Program, Begin), about=__doc__ or "",
    rules=(closed_regions, addressed, states_in_loops, launch_visible, covered, synced),
)  # fmt: skip

__all__ = ["GROUPED", "Extent", "Group", "GroupedProgram", "Param", "Physical", "Sync"]
