"""What the lowering finds out too late to go on: it begins again, and does that in another way from the start on.

    carries that an iteration moves                       they stand in memory of the kernel's own
    a region whose summaries go together as wholes        an ordered loop over slices, which carries the summary so far
    a condition of a loop that takes a loop itself        computed in the body, which leaves a flag

Used by `lower_to_coordinates`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from ..terms import logical as L
from .asked_inside import asked_inside
from .keep_carries import in_memory

Wanted = dict[L.Ordered, dict[tuple[int, tuple[Any, ...]], frozenset[Any]]]
"""The states of each loop, by the carry and which of its elements, with the axes that each varies along."""


@dataclass
class Ways:
    """What earlier attempts at a program found out."""

    wanted: Wanted = field(default_factory=dict)
    scans: set[Any] = field(default_factory=set)  # those whose prefixes are kept in memory
    found: dict[Any, None] = field(default_factory=dict)  # what accesses found, where that is kept in memory
    in_order: set[L.Function] = field(default_factory=set)  # the combines of regions that are loops over slices
    stored: set[L.Function] = field(default_factory=set)  # what leads from slice to slice where states are in memory
    sweeps: dict[str, L.Function] = field(default_factory=dict)  # by the names of loops over slices

    def forget(self) -> None:
        """Of loops and scans as they are no longer."""
        self.wanted.clear()
        self.scans.clear()
        self.found.clear()


class Otherwise(Exception):
    """Something has to be done in another way."""

    @abstractmethod
    def applied(self, program: L.LogicalProgram, ways: Ways) -> L.LogicalProgram:
        """The program to begin again with."""


class Moved(Otherwise):
    """An iteration of the loop of this name asks for elements of a carry that no state could give."""

    def __init__(self, loop: str) -> None:
        self.loop = loop

    def applied(self, program: L.LogicalProgram, ways: Ways) -> L.LogicalProgram:
        if self.loop in ways.sweeps:
            ways.stored.add(ways.sweeps[self.loop])
            return program
        return in_memory(program, self.loop)


class InOrder(Otherwise):
    """Summaries that go together by this function can't be combined element by element."""

    def __init__(self, combine: L.Function) -> None:
        self.combine = combine

    def applied(self, program: L.LogicalProgram, ways: Ways) -> L.LogicalProgram:
        ways.in_order.add(self.combine)
        return program


class Inside(Otherwise):
    """The condition of the loop of this name asks for what takes a loop."""

    def __init__(self, loop: str) -> None:
        self.loop = loop

    def applied(self, program: L.LogicalProgram, ways: Ways) -> L.LogicalProgram:
        return asked_inside(program, self.loop)
