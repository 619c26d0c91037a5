"""Executes `grouped` programs: an instance for each point of a group's workset, whole axes inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ...terms.grouped import Group, GroupedProgram, Last
from ...terms.normal import Axis, Part
from ..arrays.arguments import bind
from ..arrays.counters import Counters
from ..arrays.memory import Memory
from ..arrays.schedule import BUDGET, temporaries
from ..arrays.versions import performed
from ..reference.coordinates import Binding, Coordinates, closure
from ..reference.iterations import Iterations
from .launch import last_of, launched, memory_of


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
    values = Instances(memory, {a: d for d, a in enumerate(axes)}, group.effects, cuts)
    whole = {a: values.whole(a) for a in workset}
    extents = _extents(values, inside, whole)

    def bytes_of(sizes: Sequence[int]) -> int:
        return temporaries(terms, extents | dict(zip(workset, sizes, strict=True)))

    counts = [whole[a].members.size for a in workset]
    for piece in launched(memory, counts, len(axes), bytes_of, order, budget, first):
        points = {a: Binding(whole[a].members[line]) for a, line in zip(workset, piece, strict=True)}
        with values.within(points):
            values.perform_all(group.effects)
        values.forget(points.values())
        memory.snapshots.clear()
        memory.found.clear()
    return prod(counts)


class Instances(Iterations):
    """The effects of the instances in hand."""

    def perform_other(self, effect: Any) -> None:
        if not isinstance(effect, Last):
            return super().perform_other(effect)
        outer = self.running
        last = last_of(self.memory, effect, self.position(effect.along), self.rank)
        if last.any():
            self.running = last
            self.perform_all(effect.effects)
        self.running = outer


EMPTY = Binding(np.arange(0))
"""Stands for an axis until the axes that its bounds vary along are bound."""


def _extents(values: Coordinates, inside: list[Any], whole: Mapping[Any, Binding]) -> dict[Any, int]:
    """Extents of the axes inside one instance; of a ragged one the longest."""
    extents: dict[Any, int] = dict.fromkeys(whole, 1)
    with values.within(dict(whole) | dict.fromkeys(inside, EMPTY)):
        for a in inside:
            if a.needs:  # as long as an iteration makes it
                extents[a] = 1
                continue
            values.bound[a] = values.whole(a.axis if isinstance(a, Part) else a)
            extents[a] = values.bound[a].members.size
    return extents
