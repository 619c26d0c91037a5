"""Which outputs of a captured program may be one array of a call."""

from __future__ import annotations

from typing import TypeGuard

from ...terms.core import Term, children, find, walk
from ...terms.logical import LogicalProgram, Ordered, Parallel, TensorSort, Write
from ...terms.normal import View, same_arrays

Pairs = tuple[tuple[str, str], ...]


def one_array(program: LogicalProgram) -> Pairs:
    """Pairs of one alias group that are written at the same places, one statement after the other, and never read.

    The passes towards a GPU find the same pairs (`find_in_place`), from the coordinates of stores."""
    views = {v.name: v for v in program.parameters if isinstance(v, View)}
    inside = set(walk(*find(program, Ordered)))  # of which iterations would have to be compared
    found = []
    for name, other in same_arrays(program.parameters):
        mine, others = (_uses(program, views[n]) for n in (name, other))
        places = {(w.subscripts, _points(program, w)) if _in_place(w) else None for w in (*mine, *others)}
        if mine and others and len(places) == 1 and None not in places and not inside & {*mine, *others}:
            found.append((name, other))
    return tuple(found)


def _in_place(statement: Term) -> TypeGuard[Write]:
    """Whether elements are written by the points that have their coordinates.  What is put in order is not: a member
    goes to the place that it finds."""
    return isinstance(statement, Write) and not any(find(statement.value, TensorSort))


def _uses(program: LogicalProgram, view: View) -> set[Term]:
    """The terms that read, write or hand on a view."""
    return {t for t in walk(program) if t is not program and view in children(t)}


def _points(program: LogicalProgram, write: Term) -> tuple[Term, ...]:
    """The points of the loops around a statement."""
    return tuple(p for loop in find(program, Parallel) if write in walk(loop) for p in loop.points)
