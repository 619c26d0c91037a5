"""grouped: the complete slow program.  A program space of instances, one a point of the workset; whole axes inside.

Every workset point is one program instance and performs the group's effects in order; axes that are not in the
workset are whole inside the instance.  Extents of the space are launch expressions.
"""

from __future__ import annotations

from collections.abc import Iterator

from .core import Term, find, term
from .index import Extent, Param, Physical
from .normal import NORMAL, Axis, Effect, Load, Program, Target, addressed, check_parameters, closed_regions


@term
class Group(Term):
    """An execution group: the axes whose points are its instances, and what each instance does."""

    workset: tuple[Axis, ...]
    effects: tuple[Effect, ...]
    syntax = "group over ({workset}) {{{effects:block}}}"
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


def covered(program: GroupedProgram) -> Iterator[str]:
    """A store's address varies along every workset axis, else instances conflict."""
    for g in program.groups:
        for e in g.effects:
            for a in g.workset:
                if not any(a in i.lanes for i in e.index):  # type: ignore[attr-defined]
                    yield f"instances along {a} would write the same element: {e}"


GROUPED = NORMAL.extend(
    "grouped", root=GroupedProgram, add=(Group, GroupedProgram), remove=(Program,), about=__doc__ or "",
    rules=(closed_regions, addressed, launch_visible, covered),
)  # fmt: skip

__all__ = ["GROUPED", "Extent", "Group", "GroupedProgram", "Param", "Physical"]
