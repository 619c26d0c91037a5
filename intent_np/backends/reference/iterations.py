"""Effects over coordinates, in order, and the ordered loops among them: all members of free axes at once.

A loop goes on as long as any of them has an iteration; those that have none any more keep their states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from ...numerics import Array
from ...terms.core import Term
from ...terms.grouped import Sync
from ...terms.index import Value
from ...terms.normal import Carry, Coord, Final, Load, Recur, Store, Turn, Update
from ..arrays.arguments import overlapping
from ..arrays.memory import Memory
from ..arrays.values import malformed
from ..arrays.versions import planned
from .coordinates import Binding, Coordinates, closure


class Iterations(Coordinates):
    """Performs `roots`; `running` are the members that have the iteration in hand, None for all."""

    def __init__(self, memory: Memory, positions: Mapping[Any, int], roots: Iterable[Term], cuts: int = 1) -> None:
        super().__init__(memory, positions, roots, cuts)
        self.running: Array | None = None
        self.states: dict[Turn, Sequence[Array]] = {}
        self.finals: dict[Turn, Sequence[Array]] = {}
        overlap = overlapping(memory.arguments)
        self.plan = cache(lambda effects, behind: planned(effects, overlap, own=False, behind=behind))

    def recall(self, t: Value) -> Any:
        return self.finals[t.turn][t.position] if isinstance(t, Final) else super().recall(t)

    def operands(self, t: Value) -> Iterable[Value]:
        return () if isinstance(t, (Carry, Final)) else super().operands(t)

    def active(self, t: Load) -> Array | None:
        return _both(super().active(t), self.running)

    def compute(self, t: Value) -> Any:
        match t:
            case Coord(Turn() as turn):
                return self.bound[turn].members
            case Carry(turn, position):
                return self.states[turn][position]  # type: ignore[index]
        return super().compute(t)

    # ---- effects

    def perform_all(self, effects: tuple[Any, ...], behind: tuple[Value, ...] = ()) -> list[Array]:
        """Perform effects in order; the values `behind` them."""
        copies = dict(self.memory.snapshots)
        for effect, loads in zip(effects, self.plan(effects, behind), strict=True):
            self.memory.snapshot(loads)
            match effect:
                case Store() | Update():
                    self._change(effect)
                case Recur():
                    self._recur(effect)
                case Sync():
                    pass  # stores happen at once
                case _:
                    self.perform_other(effect)
        found = [self._spread(v) for v in behind]
        self.memory.snapshots = copies
        return found

    def perform_other(self, effect: Any) -> None:
        """Perform an effect that only some level has."""
        raise malformed(f"a {type(effect).__name__}, where statements are performed")

    @contextmanager
    def spanning(self, lanes: Iterable[Any]) -> Iterator[list[Any]]:
        """A scope in which these axes are bound to all of their members, unless they are bound; those that were not."""
        free = [a for a in closure(sorted(lanes, key=lambda a: a.digest)) if a not in self.bound]
        with self.within(dict.fromkeys(free, Binding(np.arange(0)))):
            for a in free:
                self.bound[a] = self.whole(a)
            yield free

    def _spread(self, v: Value) -> Array:
        with self.spanning(v.lanes):
            return self.value(v)  # type: ignore[no-any-return]

    def _change(self, t: Store | Update) -> None:
        if self.memory.shadow is not None:
            self.memory.shadow.next_effect()
        if isinstance(t, Update):
            self.memory.found.pop(t, None)  # of the iteration before
        with self.spanning(t.lanes):
            axes = closure(sorted(t.lanes, key=lambda a: a.digest))
            if all(self.bound[a].members.size for a in axes):
                self.perform(t, axes)

    def acting(self, axes: Iterable[Any]) -> Array | None:
        return _both(super().acting(axes), self.running)

    # ---- loops

    def _recur(self, e: Recur) -> None:
        lanes = frozenset().union(e.turn.lanes, *(s.lanes for s in e.states), e.condition.lanes if e.condition else ())
        with self.spanning(lanes):
            states, outer = [self.value(x) for x in e.inits], self.running
            for binding, running in self._members(e.turn, outer):
                self.states[e.turn], self.running = states, running
                with self.within({e.turn: binding}):
                    if e.condition is not None:
                        self.running = _both(self.running, _both(self.value(e.condition), self.members(lanes)))
                        if not self.running.any():  # type: ignore[union-attr]
                            break
                    self.memory.counters.iterations += 1
                    found = self.perform_all(e.effects, e.yields)
                states = _hold(self.running, found, states)
                self.forget([binding])
            self.running = outer
        self.finals[e.turn] = states

    def _members(self, turn: Turn, outer: Array | None) -> Iterator[tuple[Binding, Array | None]]:
        """The members in order, each with those that have it."""
        if turn.axis is None:
            for _ in count():
                yield Binding(np.arange(0)), outer
        else:
            lo, hi = self.value(turn.axis.lo), self.value(turn.axis.hi)
            for i in range(int((hi - lo).max(initial=0))):
                has = _both(lo + i < hi, outer)
                if has is None or has.any():
                    yield Binding(lo + i), None if has is None or has.all() else has


def _both(a: Array | None, b: Array | None) -> Array | None:
    return b if a is None else a if b is None else a & b


def _hold(running: Array | None, new: Sequence[Array], old: Sequence[Array]) -> list[Array]:
    """The next states: members without the iteration keep theirs."""
    if running is None:
        return list(new)
    return [np.where(running, n, o) for n, o in zip(new, old, strict=True)]
