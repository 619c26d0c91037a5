"""Executes `grouped` programs: an instance for each point of a group's workset, whole axes inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ...terms.grouped import Group, GroupedProgram, Sync
from ...terms.normal import Axis, Part, Store, Update
from ..arrays.arguments import bind, overlapping
from ..arrays.counters import Counters
from ..arrays.memory import Memory
from ..arrays.schedule import BUDGET, temporaries
from ..arrays.values import malformed
from ..arrays.versions import performed, planned
from ..reference.coordinates import Binding, Coordinates, closure
from .launch import launched, memory_of


def run(
    program: GroupedProgram,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    order: str = "forward",
    counters: Counters | None = None,
    budget: int = BUDGET,
    cuts: int = 1,
) -> None:
    """Execute `program` on `arrays`; see `machine.run`.  `cuts` is the number of parts of each region's axis."""
    arguments = bind(program, arrays, scalars or {})
    memory = memory_of(program, arguments, counters, strict)
    first = 0
    for group in program.groups[:: -1 if order == "reverse" else 1]:
        first += _perform(group, memory, order, budget, cuts, first)


def _perform(group: Group, memory: Memory, order: str, budget: int, cuts: int, first: int) -> int:
    """The instances of one group, numbered from `first`; how many they are."""
    terms = performed(group)
    workset = list(group.workset)
    inside = [a for a in closure(t for t in terms if isinstance(t, (Axis, Part))) if a not in workset]
    axes = workset + inside
    values = Coordinates(memory, {a: d for d, a in enumerate(axes)}, group.effects, cuts)
    whole = {a: values.whole(a) for a in workset}
    extents = _extents(values, inside, whole)
    plan = planned(group.effects, overlapping(memory.arguments), own=False)

    def bytes_of(sizes: Sequence[int]) -> int:
        return temporaries(terms, extents | dict(zip(workset, sizes, strict=True)))

    counts = [whole[a].members.size for a in workset]
    for piece in launched(memory, counts, len(axes), bytes_of, order, budget, first):
        points = {a: Binding(whole[a].members[line]) for a, line in zip(workset, piece, strict=True)}
        with values.within(points):
            for effect, before in zip(group.effects, plan, strict=True):
                memory.snapshot(before)
                if not isinstance(effect, Sync):  # stores happen at once
                    _store(values, effect, workset)
        values.forget(points.values())
        memory.snapshots.clear()
        memory.found.clear()
    return prod(counts)


def _store(values: Coordinates, effect: Any, workset: list[Any]) -> None:
    """One effect of the instances in hand, over the whole of its other axes."""
    if not isinstance(effect, (Store, Update)):
        raise malformed(f"a {type(effect).__name__}, where stores are performed", "grouped")
    free = [a for a in closure(sorted(effect.lanes, key=lambda a: a.digest)) if a not in workset]
    bindings: dict[Any, Binding] = {}
    with values.within(dict.fromkeys(free, EMPTY)):
        for a in free:
            bindings[a] = values.bound[a] = values.whole(a)
        if all(b.members.size for b in bindings.values()):
            values.perform(effect, [*workset, *free])


EMPTY = Binding(np.arange(0))
"""Stands for an axis until the axes that its bounds vary along are bound."""


def _extents(values: Coordinates, inside: list[Any], whole: Mapping[Any, Binding]) -> dict[Any, int]:
    """Extents of the axes inside one instance; of a ragged one the longest."""
    extents: dict[Any, int] = dict.fromkeys(whole, 1)
    with values.within(dict(whole) | dict.fromkeys(inside, EMPTY)):
        for a in inside:
            values.bound[a] = values.whole(a.axis if isinstance(a, Part) else a)
            extents[a] = values.bound[a].members.size
    return extents
