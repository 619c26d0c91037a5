"""normal -> grouped: the program space appears.

store y[row, columns] = …              group over (row) { store y[row, columns] = … }
"""

from __future__ import annotations

from typing import Any

from ..errors import Remark, error
from ..terms.core import Term, arena, find, replace, rewrite
from ..terms.grouped import GROUPED, Group, GroupedProgram
from ..terms.normal import NORMAL, Load, Program, Recur, Store, Update, View
from ..terms.ordered import evaluated
from .base import nanopass
from .groups import groups
from .roles import program_axes


@nanopass(NORMAL, GROUPED, allowed={"serial": ("remark", "error")})
def form_groups(program: Program, *, serial: str = "remark") -> GroupedProgram:
    """Execution groups whose instances are the points of the axes that the stores of each can be spread over.

    From here on a program says which instance does what; the rest of each store happens inside an instance.  With
    `serial="error"`, statements that only one instance could perform in order are refused.
    Preserves the stored elements: instances write disjoint elements, effects keep their order inside each.
    """
    formed = groups(program.effects)
    if serial == "error":
        for g in formed:
            if g.serial and _changes(g.effects):
                first, *others = _places(g)
                found = "statements that one instance would have to perform in order"
                related = [("depends on", first)] if others else []
                name, is_kept = _exchanged(g)
                fix = _SPREAD if is_kept else ""
                raise error("E707", span=(others or [first])[-1], name=name, found=found, fix=fix, related=related)
            for remark in lone_loop_remarks(g):
                raise error("E707", span=remark.span, name=_exchanged(g)[0], found=remark.text)
    formed, parameters = separated(formed, program.parameters)
    return GroupedProgram(program.name, parameters, formed, program.permissions, program.target)


def separated(formed: tuple[Group, ...], parameters: tuple[Term, ...]) -> tuple[tuple[Group, ...], tuple[Term, ...]]:
    """The groups, where views that different ones access are never one array: groups do not wait for each other."""
    users: dict[str, set[int]] = {}
    for i, g in enumerate(formed):
        for t in find(g, (Load, Store, Update)):
            users.setdefault(t.view.name, set()).add(i)
    apart = {
        v: replace(v, same=())
        for v in parameters
        if isinstance(v, View) and v.same and len(set().union(*(users.get(name, set()) for name in v.names))) > 1
    }
    new: Any = rewrite((*formed, *parameters), lambda t: apart.get(t, t)) if apart else (*formed, *parameters)
    return new[: len(formed)], new[len(formed) :]


def serial_remarks(group: Group) -> list[Remark]:
    """P001 for a serial group: where its statements stand, and what to do about it; not for one that only reports."""
    if not _changes(group.effects):
        return []
    first, *others = _places(group)
    lines = ", ".join(str(span.line) for span in (first, *others) if span)
    who = f"lines {lines} depend on what other points of each other write" if others else ""
    text = f"{who or f'points of line {lines} depend on what others write'}; split the kernel where one ends"
    name, is_kept = _exchanged(group)
    if is_kept:
        points = f"points of lines {lines}" if lines else "points"
        text = f"'{name}' stands in memory, where {points} read what others left there; {_SPREAD}"
    return [Remark("P001", text, (others or [first])[-1])]


def _changes(effects: tuple[Any, ...]) -> list[Any]:
    """The stores and updates, but for those by which debug statements report."""
    return [t for t in evaluated(*effects) if isinstance(t, (Store, Update)) and t.view.mode != "report"]


_SPREAD = "give what is independent an instance of its own, with I.parallel around it"


def _exchanged(group: Group) -> tuple[str, bool]:
    """The view by which the statements depend on each other, and whether it is memory of the kernel's own: a buffer, or
    what a loop carries, which no other kernel could go on with."""
    read = {t.view for t in find(group.effects, Load)}
    stored = dict.fromkeys(t.view for t in find(group.effects, (Store, Update)))  # type: ignore[arg-type]
    shared = [v for v in stored if v in read] or list(stored)
    chosen = min(shared, key=lambda v: (v.mode == "workspace", v.name))
    return chosen.name, chosen.mode == "workspace"


def lone_loop_remarks(group: Group) -> list[Remark]:
    """P001 for a loop that one instance performs, since its statements, each of which has axes to be spread over, have
    none in common."""
    if group.serial or group.workset:
        return []
    found = []
    for loop in (e for e in group.effects if isinstance(e, Recur)):
        inner = _changes((loop,))
        if len(inner) > 1 and all(program_axes((e,)) for e in inner) and not program_axes((loop,)):
            spans = [s for e in inner for s in arena().spans.get(e, ())[:1]]
            lines = ", ".join(map(str, dict.fromkeys(s.line for s in spans)))
            text = f"the statements of a loop, lines {lines}, have no axis in common; write them over the same domains"
            found.append(Remark("P001", text, next(iter(arena().spans.get(loop, ())), None)))
    return found


def _places(group: Group) -> list[Any]:
    spans = arena().spans
    return list(dict.fromkeys(spans[e][0] for e in group.effects if spans.get(e))) or [None]
