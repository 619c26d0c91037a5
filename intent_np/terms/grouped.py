"""grouped: the complete slow program.  A program space of instances, one a point of the workset; whole axes inside.

Every workset point is one program instance and performs the group's effects in order; axes that are not in the
workset are whole inside the instance.  Extents of the space are launch expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import Term, find, term
from .index import Extent, Param, Physical
from .normal import (
    NORMAL,
    Axis,
    Effect,
    Load,
    Program,
    Store,
    Target,
    Update,
    addressed,
    check_parameters,
    closed_regions,
    varying,
)


@term
class Sync(Effect):
    """Everything stored before is seen by loads that read after it.  It orders what one instance does; instances do
    not wait for each other."""

    number: int
    syntax = "sync {number}"


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
    for g in program.groups:
        before: set[Any] = {None}
        for e in g.effects:
            before.add(e)
            for t in find(e, Load):
                if t.after not in before or not isinstance(t.after, (Sync, type(None))):
                    yield f"{t} reads after what is no sync before it"


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
    "grouped", root=GroupedProgram, add=(Sync, Group, GroupedProgram), remove=(Program,), about=__doc__ or "",
    rules=(closed_regions, addressed, launch_visible, covered, synced),
)  # fmt: skip

__all__ = ["GROUPED", "Extent", "Group", "GroupedProgram", "Param", "Physical", "Sync"]
