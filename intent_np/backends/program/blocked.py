"""Executes `blocked` programs: fragments of blocks, loops over the blocks of slices.

A value lives in the loop that its `needs` name: the innermost open one of them, or outside of all.  There it is
computed once for each iteration, with the instances that are active there, exactly where an emitter would place it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ...numerics import Array
from ...terms.blocked import (
    Base,
    BlockedGroup,
    BlockedProgram,
    Fold,
    Loop,
    Perform,
    Point,
    Running,
    Slice,
    Tile,
    Traverse,
    Whole,
)
from ...terms.grouped import Last, Sync
from ...terms.index import Value
from ...terms.invariant import invariant_loops
from ...terms.normal import (
    Carry,
    Combine,
    Contract,
    Coord,
    Final,
    Load,
    Recur,
    Reduce,
    Scan,
    Store,
    Turn,
    Update,
)
from ...terms.text import brief
from ...terms.updates import Found
from ..arrays.arguments import bind, element, overlapping
from ..arrays.counters import Counters
from ..arrays.memory import Memory
from ..arrays.schedule import BUDGET, temporaries
from ..arrays.shadow import padded
from ..arrays.values import Values, malformed
from ..arrays.versions import performed, planned
from .launch import both, each, hold, last_of, launched, memory_of, trips, turns

Plan = Callable[[tuple[Any, ...], tuple[Any, ...]], list[list[Load]]]
"""For each of some effects, the loads that must not see what it stores: of later ones, and of values behind them."""


@dataclass(slots=True)
class Scope:
    """An iteration in hand, or the instance as a whole: what is computed once in it.  `number` counts blocks."""

    slice: Slice | Turn | None = None
    number: int = 0
    base: Array | None = None
    active: Array | None = None
    states: Sequence[Array] = ()
    running: Mapping[Any, Sequence[Array]] = field(default_factory=dict)
    known: dict[Value, Any] = field(default_factory=dict)


def run(
    program: BlockedProgram,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    order: str = "forward",
    counters: Counters | None = None,
    budget: int = BUDGET,
) -> None:
    """Execute `program` on `arrays`; see `machine.run`."""
    arguments = bind(program, arrays, scalars or {})
    memory = memory_of(program, arguments, counters, strict)
    first = 0
    for group in program.groups[:: -1 if order == "reverse" else 1]:
        first += _perform(group, memory, order, budget, first)


def _perform(group: BlockedGroup, memory: Memory, order: str, budget: int, first: int) -> int:
    """The instances of one group, numbered from `first`; how many they are."""
    arguments = memory.arguments
    terms = performed(group)
    fragments = [t for t in terms if isinstance(t, (Tile, Slice, Whole)) and t not in group.space]
    axes: list[Any] = [*group.space, *(t for t in group.space if isinstance(t, Tile)), *fragments]
    # a tile has two dimensions: its blocks are among the instances, its position is that of the lanes of a block
    positions = {a: d for d, a in enumerate(axes)}
    extents: list[int] = []
    for a in group.space:
        if not isinstance(a, (Tile, Point)):
            raise malformed(f"{brief(a)} in the program space", "blocked")
        span = int(arguments.scalar(a.axis.hi)) - int(arguments.scalar(a.axis.lo))
        extents.append(max(0, -(-span // (a.size.value if isinstance(a, Tile) else 1))))
    sizes = {a: a.size.value for a in axes if not isinstance(a, Point)}
    overlap = overlapping(arguments)
    plan = cache(lambda effects, behind: planned(effects, overlap, own=False, behind=behind))
    for piece in launched(memory, extents, len(axes), each(temporaries(terms, sizes)), order, budget, first):
        values = Blocks(memory, positions, len(axes), dict(zip(group.space, piece, strict=True)), plan)
        values.perform(group.effects)
    return prod(extents)


class Blocks(Values):
    """The values of the instances in hand; `blocks` numbers the block (or the member) that each of them owns."""

    def __init__(
        self, memory: Memory, positions: Mapping[Any, int], rank: int, blocks: Mapping[Any, Array], plan: Plan
    ) -> None:
        super().__init__(memory, positions, rank)
        self.blocks, self.plan = blocks, plan
        self.scopes = [Scope()]
        self.found: dict[Any, Array] = {}  # by updates and their blocks, which later traversals go through again
        self.dims = {a: d for d, a in enumerate(blocks)}

    # ---- where values live

    def home(self, t: Any) -> Scope:
        """The innermost open loop that `t` needs, or the instance."""
        if t.needs:
            for scope in reversed(self.scopes):
                if scope.slice in t.needs:
                    return scope
            raise malformed(f"{brief(t)} outside of a loop over {', '.join(map(brief, t.needs))}", "blocked")
        return self.scopes[0]

    def recall(self, t: Value) -> Any:
        return self.home(t).known.get(t)

    def keep(self, t: Value, value: Any) -> None:
        self.home(t).known[t] = value

    def operands(self, t: Value) -> Iterable[Value]:
        match t:
            case Fold() | Loop() | Coord() | Base() | Carry() | Final() | Running() | Found():
                return ()
            case Reduce(_, _, values) | Scan(_, _, values):
                return values
            case Contract(_, left, right):
                return (left, right)
        return super().operands(t)

    def active(self, t: Load) -> Array | None:
        return self.home(t).active

    # ---- evaluation

    def compute(self, t: Value) -> Any:
        match t:
            case Coord(axis):
                return self._coordinate(axis)
            case Base(axis):
                return self._base(axis)
            case Carry(slice, position):
                return self._iteration(slice).states[position]
            case Found(update):
                if (key := self._blocks_of(update)) not in self.found:
                    raise malformed(f"{brief(t)}, which is not performed here", "blocked")
                return self.found[key]
            case Running(slice, combine, values, identities, position):
                return self._iteration(slice).running[combine, values, identities][position]
            case Final():
                raise malformed(f"{brief(t)} before its loop", "blocked")
            case Reduce(axis, combine, values, identities):
                found = [self.value(v) for v in values]
                result = self.reduce(combine, found, identities, self.position(axis), self._size(axis))
                return result if len(result) > 1 else result[0]
            case Scan(axis, combine, values, identities, reverse):
                found, size = [self.value(v) for v in values], self._size(axis)
                result = self.scan(combine, found, identities, self.position(axis), size, reverse)
                return result if len(result) > 1 else result[0]
            case Contract(axis, left, right, acc):
                dim, size = self.position(axis), self._size(axis)
                sides = self.value(left), self.value(right)
                return self.contract(*sides, dim, size, element(left), acc, active=self.home(t).active)
            case Fold():
                result = self._fold(t)
                return result if len(result) > 1 else result[0]
            case Loop():
                return self._loop(t)
        return super().compute(t)

    def load(self, t: Load, indices: Sequence[Array], valid: Array | None) -> Array:
        if self.memory.shadow is not None:
            lanes = {a for i in t.index for a in i.lanes}
            members = [self._coordinate(a) < self.value(a.axis.hi) for a in lanes]
            padded(t, members, valid, self.active(t))
        return super().load(t, indices, valid)

    def _size(self, axis: Any) -> int:
        if not isinstance(axis, (Tile, Slice, Whole)):
            raise malformed(f"{brief(axis)} is no fragment axis", "blocked")
        return axis.size.value

    def _coordinate(self, axis: Any) -> Array:
        if isinstance(axis, Turn):
            return self._iteration(axis).base
        base = self._base(axis)
        return base if isinstance(axis, Point) else base + self.along(axis, np.arange(self._size(axis)))

    def _base(self, axis: Any) -> Array:
        """First coordinate of the block in hand, one for each instance."""
        if isinstance(axis, Slice):
            return self._iteration(axis).base
        lo = self.value(axis.axis.lo)
        if isinstance(axis, Whole):
            longest = int((self.value(axis.axis.hi) - lo).max(initial=0))
            if longest > axis.size.value:
                raise malformed(f"{brief(axis)} holds {axis.size.value} of {longest} members", "blocked")
            return lo
        if axis not in self.blocks:
            raise malformed(f"{brief(axis)} is not in the program space", "blocked")
        shape = [1] * self.rank
        shape[self.dims[axis]] = -1
        return lo + self.blocks[axis].reshape(shape) * (axis.size.value if isinstance(axis, Tile) else 1)

    def _iteration(self, slice: Any) -> Any:
        for scope in reversed(self.scopes):
            if scope.slice is slice:
                return scope
        raise malformed(f"a block of {brief(slice)} outside of its loop", "blocked")

    # ---- loops

    def _blocks(self, slice: Slice, lo: Value, hi: Value, outer: Array | None) -> Iterator[Scope]:
        """The iterations lo, lo + size, … below hi, each with the instances that are still in it."""
        first, end, size = self.value(lo), self.value(hi), slice.size.value
        final = first + ((end - first + size - 1) // size - 1) * size
        for i, active in trips(self.memory, first, end, size, outer):
            scope = Scope(slice, i, final - i * size if slice.descending else first + i * size, active)
            self.scopes.append(scope)
            try:
                yield scope
            finally:
                self.scopes.pop()

    def _fold(self, t: Fold) -> list[Array]:
        states = [self.scalar(i.value, i.dtype) for i in t.identities]
        axis, running = t.slice.axis, self._running(t.slice, t.values)
        for scope in self._blocks(t.slice, axis.lo, axis.hi, self.home(t).active):
            scope.running = running
            found = self.combine(t.combine, states, [self.value(v) for v in t.values])
            states = hold(scope.active, found, states)
            running = self._ran(running, scope.active)
        return states

    def _running(self, slice: Slice, roots: tuple[Any, ...]) -> dict[Any, list[Array]]:
        """The states of the scans of one loop, before its first block."""
        found: dict[Any, list[Array]] = {}
        seen, stack = set(), list(roots)
        while stack:
            t = stack.pop()
            if t in seen or isinstance(t, (Fold, Traverse)) and t.slice is slice:
                continue
            seen.add(t)
            stack.extend(t.children())
            if isinstance(t, Running) and t.slice is slice:
                found[t.combine, t.values, t.identities] = [self.scalar(i.value, i.dtype) for i in t.identities]
        return found

    def _ran(self, running: Mapping[Any, list[Array]], active: Array | None) -> dict[Any, list[Array]]:
        """The states of scans behind the block in hand."""
        return {
            key: hold(active, self.combine(key[0], states, [self.value(v) for v in key[1]]), states)
            for key, states in running.items()
        }

    def _loop(self, t: Loop) -> list[Array]:
        # a loop that this one only reads comes before it, as it is emitted: effects here may write what it reads
        for inside in invariant_loops(t):
            self.value(inside)
        states = [self.scalar(i.value, i.dtype) for i in t.identities]
        for segment in t.segments[:: -1 if t.slice.descending else 1]:
            for scope in self._blocks(t.slice, segment.lo, segment.hi, self.home(t).active):
                scope.states = states
                self._begin(segment.effects)
                found = [self.value(v) for v in segment.values]
                if not t.stepped:
                    found = self._combined(t.combines, states, found)
                self.perform(segment.effects)
                states = hold(scope.active, found, states)
        return states

    def _combined(self, combines: Sequence[Combine], states: Sequence[Array], found: Sequence[Array]) -> list[Array]:
        """Each combine on its share of the states and of the blocks' summaries."""
        result: list[Array] = []
        for c in combines:
            share = slice(len(result), len(result) + len(c.dtypes))
            result += self.combine(c, states[share], found[share])
        return result

    def _recur(self, e: Recur) -> None:
        """An ordered loop; its states behind it are known from here on, for as long as the iteration around it."""
        around = self.scopes[-1]
        states, running = [self.value(x) for x in e.inits], around.active
        axis = e.turn.axis
        bounds = None if axis is None else (self.value(axis.lo), self.value(axis.hi))
        for i, active in turns(self.memory, bounds, around.active):
            scope = Scope(e.turn, i, None if bounds is None else bounds[0] + i, active, states)
            self.scopes.append(scope)
            self._begin(e.effects)
            if e.condition is not None:
                scope.active = running = both(both(active, running), self.value(e.condition))
                if not running.any():  # type: ignore[union-attr]
                    self.scopes.pop()
                    break
            found = self.perform(e.effects, e.yields)
            states = hold(scope.active, found, states)
            self.scopes.pop()
        around.known |= {e.final(k): x for k, x in enumerate(states)}

    # ---- effects

    def _begin(self, effects: tuple[Any, ...]) -> None:
        """In an iteration that begins, loops are performed again, those too whose stores are the same in each."""
        for e in effects:
            if isinstance(e, Perform):
                self.home(e.loop).known.pop(e.loop, None)

    def perform(self, effects: tuple[Any, ...], behind: tuple[Value, ...] = ()) -> list[Any]:
        """Perform effects, in order, for the instances that are active in the innermost open loop; the values behind
        them."""
        copies = dict(self.memory.snapshots)
        for effect, loads in zip(effects, self.plan(effects, behind), strict=True):
            slices = {scope.slice for scope in self.scopes}
            for t in loads:
                if t.needs <= slices:
                    self.value(t)
                else:  # inside of a loop to come
                    self.memory.snapshot((t,))
            self._perform(effect)
        found = [self.value(v) for v in behind]
        self.memory.snapshots = copies
        return found

    def _update(self, t: Update) -> None:
        """An update, whose points are lanes of every instance in hand."""
        full = [*self.memory.instances, *[1] * (self.rank - len(self.memory.instances))]
        for a in t.over:
            if not isinstance(a, Point):
                full[self.position(a)] = self._size(a)
        lanes, active = None if t.valid is None else self.value(t.valid), self.scopes[-1].active
        lanes = active if lanes is None else lanes if active is None else lanes & active
        indices, values = [self.value(i) for i in t.index], [self.value(v) for v in t.operands]
        found = self.memory.update(t, indices, values, lanes, full, self.combining(t))
        self.found[self._blocks_of(t)] = found
        self.keep(Found(t), found)

    def _blocks_of(self, t: Update) -> tuple[Any, ...]:
        """An update with the numbers of the blocks in hand of what it goes over."""
        return (t, *(self._iteration(a).number for a in t.over if isinstance(a, Slice)))

    def _last(self, last: Array, effects: tuple[Any, ...]) -> None:
        """What those instances do that come last: nothing that others computed is theirs."""
        if last.any():
            outer, self.scopes = self.scopes, [Scope(active=last)]
            self.perform(effects)
            self.scopes = outer

    def _perform(self, effect: Any) -> None:
        match effect:
            case Store(_, indices, value, valid):
                at = [self.value(i) for i in indices]
                lanes = None if valid is None else self.value(valid)
                self.memory.store(effect, at, self.value(value), lanes, self.scopes[-1].active)
            case Update():
                self._update(effect)
            case Traverse(slice, inner):
                running = self._running(slice, (inner,))
                for scope in self._blocks(slice, slice.axis.lo, slice.axis.hi, self.scopes[-1].active):
                    scope.running = running
                    self.perform((inner,))
                    running = self._ran(running, scope.active)
            case Perform(loop):
                self.value(loop)
            case Recur():
                self._recur(effect)
            case Last(along, inner):
                self._last(last_of(self.memory, effect, self.dims[along], self.rank), inner)
            case Sync():
                pass  # stores happen at once
            case _:
                raise malformed(f"a {type(effect).__name__} among the effects", "blocked")
