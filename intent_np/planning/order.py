"""What a group performs, in its order: statements in slots between barriers, and what may be computed in which slot.

    store a …                                slot 0
    sync 1
    store b … load a after sync 1 …          slot 1, which the loop's states start in
    recur i { store c … }                    slot 2, inside of the loop, which they are computed anew in
    store d … final(i, 0) …                  slot 3

Slots are numbered in order.  What reads nothing that the group changes may be computed in any slot in front of its
use; a load of what the group changes where a statement asks for it, and in front of that as far back as nothing comes
between that changes it, nor the barrier that it reads after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..passes.dependences import apart_now, disjoint
from ..passes.roles import STRUCTURED
from ..terms.core import contains, find
from ..terms.grouped import Group, Sync
from ..terms.index import Value
from ..terms.normal import Final, Load, Recur, Region, Store, Turn, Update
from ..terms.ordered import evaluated


class Statement(NamedTuple):
    """What is performed of values: a store, an update, or the states of an ordered loop, which start (`from`) or become
    (`yielding`) these.  What of its address depends on reductions is one of the values, behind what is stored; the rest
    is taken as it is."""

    effect: Any
    part: str
    values: tuple[Value, ...]
    slot: int

    @property
    def address(self) -> tuple[Value, ...]:
        """What says where it stores, and whether, and depends on no reduction."""
        return () if self.part else tuple(v for v in _addressed(self.effect) if not contains(v, *STRUCTURED))


def _addressed(e: Any) -> list[Value]:
    return [*e.index, *([] if e.valid is None else [e.valid])]


class Body(NamedTuple):
    """The slots of a list of effects, and the loops between them as (number of the turn, body)."""

    parts: list[Any]


class Order:
    """The statements of a group; `within` has the numbers of the turns around each slot, the outermost first."""

    def __init__(self, group: Group) -> None:
        self.turns: list[Turn] = []
        self.conditions: list[Value] = []
        self.states: list[Any] = []
        self.statements: list[Statement] = []
        self.within: list[tuple[int, ...]] = []
        self.fronts: dict[int, int] = {}  # the slot in front of each loop
        self._behind: dict[Turn, int] = {}  # the last slot inside of a loop
        self._synced: dict[Sync, int] = {}  # the first slot behind a barrier
        self.body = self._body(group.effects, ())
        self.changed = frozenset[str]().union(*(s.effect.view.names for s in self.changing()))
        self._asked: dict[Load, set[int]] = {}
        for s in self.statements:
            for t in self._loads(s):
                if t.view.names & self.changed:
                    self._asked.setdefault(t, set()).update(self._back(t, s.slot))

    def _body(self, effects: tuple[Any, ...], within: tuple[int, ...], yields: Recur | None = None) -> Body:
        parts: list[Any] = []
        fresh = True

        def slot() -> int:
            nonlocal fresh
            if fresh:
                parts.append(len(self.within))
                self.within.append(within)
                fresh = False
            return len(self.within) - 1

        for e in effects:
            if isinstance(e, Recur):
                start = slot()  # for what does not change from iteration to iteration, too
                if e.states:
                    self.statements.append(Statement(e, "from", e.inits, start))
                number = len(self.turns)
                self.turns.append(e.turn)
                self.fronts[number] = start
                self.states += e.states
                self.conditions += [] if e.condition is None else [e.condition]
                parts.append((number, self._body(e.effects, (*within, number), e)))
                self._behind[e.turn] = len(self.within) - 1
                fresh = True
            elif isinstance(e, Sync):
                self._synced[e] = len(self.within)
                fresh = True
            else:
                values = e.operands if isinstance(e, Update) else (e.value,)
                found = (v for v in _addressed(e) if contains(v, *STRUCTURED))
                self.statements.append(Statement(e, "", (*values, *found), slot()))
        if yields is not None and yields.states:
            self.statements.append(Statement(yields, "yielding", yields.yields, slot()))
        return Body(parts)

    def changing(self, slot: int | None = None) -> list[Statement]:
        """The stores and updates, of one slot or of all."""
        return [s for s in self.statements if not s.part and slot in (None, s.slot)]

    @property
    def is_plain(self) -> bool:
        """Whether all statements stand in one slot, and store."""
        return len(self.within) <= 1 and all(isinstance(s.effect, Store) for s in self.statements)

    def _loads(self, s: Statement) -> Iterator[Load]:
        over = s.effect.over if isinstance(s.effect, Update) else ()
        return (t for t in evaluated(*s.values, *s.address, *over) if isinstance(t, Load))

    def _back(self, t: Load, used: int) -> Iterator[int]:
        """The slot that asks for a load, and those in front of it in which it finds the same."""
        changing = {s.slot for s in self.changing() if s.effect.view.names & t.view.names}
        first = self._synced.get(t.after, 0)  # type: ignore[call-overload]
        yield used
        for slot in range(used - 1, first - 1, -1):
            around, inner = self.within[slot], self.within[slot + 1]
            left = [turn for turn in inner if turn not in around]
            inside = {s for s, turns in enumerate(self.within) if any(turn in turns for turn in left)}
            if slot in changing or inside & changing:
                return
            yield slot

    def slots(self, t: Any) -> frozenset[int] | None:
        """The slots in which a value may be computed; None where that is any in which its coordinates are known."""
        found: frozenset[int] | None = None
        for x in evaluated(t):
            own: Any = None
            if isinstance(x, Load) and x in self._asked:
                own = self._asked[x]
            elif isinstance(x, Load) and x.view.names & self.changed:
                own = self._folding(x)
            elif isinstance(x, Final):
                own = range(self._behind[x.turn] + 1, len(self.within))
            if own is not None:
                found = frozenset(own) if found is None else found & frozenset(own)
        return found

    def _folding(self, t: Load) -> set[int]:
        """The slots whose statements fold slices of what a load reads: it is none of their own terms."""
        regions = {s.slot for s in self.statements if any(True for _ in find(s.values, Region))}
        return {s.slot for s in self.statements if s.slot in regions and any(t.view is x.view for x in self._loads(s))}

    def meet(self) -> bool:
        """Whether statements of one slot change what others of it read elsewhere, in one iteration."""
        for slot, within in enumerate(self.within):
            here = [self.turns[n] for n in within]
            loads = [t for s in self.statements if s.slot == slot for t in self._loads(s)]
            for s in self.changing(slot):
                e: Any = s.effect
                for t in loads:
                    if t.view is e.view and (isinstance(e, Update) or t.index != e.index):
                        if not disjoint(e, t) and not apart_now(e, t, here):
                            return True
        return False

    def is_late(self, s: Statement, read: bool) -> bool:
        """Whether a statement has to stand in the last loops of its slot: what it changes is `read`, or changed by
        others of its slot."""
        if s.part:
            return False
        return read or any(o is not s and o.effect.view.names & s.effect.view.names for o in self.changing(s.slot))


__all__ = ["Body", "Order", "Statement"]
