"""Where what loops keep is stored among the statements of a group, and the syncs of all, numbered anew.

store a …                    kept = …
sync 1                       sync 1               for what reads `kept`
recur i { … }        ->      store a …
                             sync 2
                             recur i { … }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..terms.core import find
from ..terms.grouped import Group, Sync
from ..terms.normal import Recur, Turn
from ..terms.plan import Behind, Kept, Plan, Stored, Walk, loops_around


class Layout:
    """The effects of a planned group in their order.

    numbers:  of the group's own syncs, and of those behind which it is read what loops of a turn keep, as (loop around
              them, turn); turn 0 is in front of all that an iteration keeps, where earlier ones have read it
    own:      the largest number of the group's own syncs, which the new ones are above: none is taken for one of those
    now:      the new number of each of these
    """

    def __init__(self, plan: Plan, group: Group) -> None:
        self.stored: dict[Any, Stored] = {(s.statement, s.part): s for s in plan.statements}
        self.walks = {w.axis: w for w in find(plan, Walk) if isinstance(w.axis, Turn)}
        self.turns = [e.turn for e in find(group.effects, Recur)]
        self.keeping: dict[Any, list[int]] = {}
        for around, turn in sorted({(t.place.around, t.place.turn) for t in find(plan, Kept)}, key=lambda k: k[1]):
            self.keeping.setdefault(around, []).append(turn)
        self.numbers: dict[Sync | tuple[Walk | None, int], int] = {}
        self.own = max((s.number for s in find(group.effects, Sync)), default=0)
        self._number(group.effects, None)
        self.now = {key.number: n for key, n in self.numbers.items() if isinstance(key, Sync)}

    def _number(self, effects: tuple[Any, ...], around: Walk | None) -> None:
        for item in self.items(effects, around):
            if isinstance(item, Recur):
                self._number(item.effects, self.walks.get(item.turn))
            elif isinstance(item, (int, Sync)):
                self.numbers[(around, item) if isinstance(item, int) else item] = self.own + len(self.numbers) + 1

    def items(self, effects: tuple[Any, ...], around: Walk | None) -> Iterator[Any]:
        """Effects, and the turns whose loops keep what is read behind them: in front of all that reads it."""
        waiting = list(self.keeping.get(around, ()))
        if waiting and around is not None:
            yield 0  # an iteration overwrites what the one before has read
        run: list[Any] = []
        for e in (*effects, None):
            if e is not None and not isinstance(e, (Sync, Recur)):
                run.append(e)
                continue
            ends = [self._turn(x, around) for x in run]
            if isinstance(e, Recur) and e.turn in self.walks:
                ends.append(self.walks[e.turn].turn)
            ready = [turn for turn in waiting if e is None or any(turn < end for end in ends)]
            waiting = [turn for turn in waiting if turn not in ready]
            yield from (*ready, *run, *(() if e is None else (e,)))
            run = []

    def _turn(self, e: Any, around: Walk | None) -> float:
        """The turn that a statement has in a body."""
        place: Any = self.stored[e, ""].place
        inner = loops_around(place)[len(loops_around(around)) :]
        if inner:
            return inner[0].turn
        return place.turn if isinstance(place, Behind) else float("inf")
