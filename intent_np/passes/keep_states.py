"""normal -> normal: a state of a loop that no instance can hold stands in memory of the kernel's own.

recur t carrying s(k, v) from x yielding y {      store s[k, v] = x
}                                                 recur t {
store z[k, v] = final(t, 0)                         store s[k, v] = y     reading s after begin t
                                                  }
                                                  store z[k, v] = load s[k, v] after t

Several states of one loop are put together aside before any of them is replaced, since each may be made of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, NamedTuple

from ..rules.simplify import node
from ..terms.core import arena, find, inherit, named, replace
from ..terms.index import sub
from ..terms.normal import NORMAL, Axis, Begin, Carry, Coord, Load, Part, Program, Recur, Store, View
from ..terms.ordered import Rewritten, evaluated, loops
from .base import nanopass
from .blocks import LARGEST, block_extents
from .groups import groups
from .lower_buffers import extent, workspace
from .put_aside import certain, span, spans
from .roles import extent_bound


@nanopass(NORMAL, NORMAL, needed="keeps the states that no fragment holds")
def keep_states(program: Program) -> Program:
    """Keep carried tensors in memory where they are too long for a fragment, or may be.

    Behind `bind_class`, which knows how long they are; before the program is spread over instances, since what is
    stored and loaded orders them as anything else does.
    Preserves what each state is at the start of each iteration, and behind its loop.
    """
    while chosen := too_long(program):  # those that are left have other fragments around them
        program = _Kept(program, chosen).program()
    return program


Which = tuple[str, int]
"""A state: the name of its loop and its position."""


def _which(s: Carry) -> Which:
    return s.slice.name, s.position  # type: ignore[attr-defined]


class Memory(NamedTuple):
    """Where a state stands, the axes of its dimensions, those of them that no instance has one member of, and where
    they begin."""

    view: View
    axes: tuple[Axis, ...]
    inner: tuple[Axis, ...]
    begins: tuple[Any, ...]

    @property
    def place(self) -> tuple[Any, ...]:
        return tuple(node(sub(Coord(a), lo)) for a, lo in zip(self.axes, self.begins, strict=True))


def too_long(program: Program) -> dict[Which, Memory]:
    """The states that no instance can hold, or whose axis it goes through, as that of a region, each with memory that
    can; what one instance has of it is in one piece."""
    taken = {p.name for p in (*program.parameters, *find(program, View))}  # type: ignore[attr-defined]
    chosen: dict[Which, Memory] = {}
    known = spans(*certain(program.effects))
    for g in groups(program.effects):
        states = [s for r in loops(g.effects) for s in r.states]
        held = block_extents(g)[1] if any(a not in g.workset for s in states for a in s.varies) else set()
        for s in states:
            if any(isinstance(a, Part) for a in s.varies):
                continue  # along what a region has in hand, which is no longer than its blocks
            inner: Any = tuple(a for a in s.varies if a not in g.workset)
            if held.issuperset(inner) and prod(extent_bound(a) or LARGEST + 1 for a in inner) <= LARGEST:
                continue
            owners = (b for a in s.varies for b in a.lanes)  # along which bounds vary
            axes: Any = tuple(sorted({*s.varies, *owners}, key=lambda a: (a not in g.workset, a.digest)))
            ends = [span(a, known) for a in axes]
            if None not in ends:
                shape = tuple(extent(*e) for e in ends)  # type: ignore[misc]
                view = workspace(arena().names.get(s, "state"), s.dtype, shape, taken)
                chosen.setdefault(_which(s), Memory(view, axes, inner, tuple(e[0] for e in ends)))  # type: ignore[index]
    return chosen


class _Kept:
    def __init__(self, program: Program, chosen: dict[Which, Memory]) -> None:
        self.source, self.chosen = program, chosen
        self.done = Rewritten()
        self.count: dict[View, int] = {}
        self.parameters: list[View] = []

    def program(self) -> Program:
        effects = self.effects(self.source.effects)
        return replace(self.source, parameters=(*self.source.parameters, *self.parameters), effects=effects)  # type: ignore[no-any-return]

    def effects(self, effects: Iterable[Any]) -> tuple[Any, ...]:
        out: list[Any] = []
        for e in effects:
            if isinstance(e, Recur):
                out += self._recur(e)
            else:
                self.done[e] = self.value(e)
                out.append(self.done[e])
        return tuple(out)

    def value(self, root: Any) -> Any:
        """A value or an effect, over the states that are left."""
        for t in evaluated(root):
            if t not in self.done:
                self.done[t] = inherit(t, node(t.rebuild(self.done)))
        return self.done[root]

    def _store(self, s: Carry, memory: Memory, value: Any) -> Store:
        again = self.count.setdefault(memory.view, 0)
        self.count[memory.view] += 1
        return inherit(s, Store(memory.view, memory.place, value, None, again))  # type: ignore[return-value]

    def _recur(self, e: Recur) -> list[Any]:
        """A loop without the states that stand in memory, behind what they start as."""
        kept = {s: self.chosen[_which(s)] for s in e.states if _which(s) in self.chosen}
        rest = [i for i, s in enumerate(e.states) if s not in kept]
        turn = self.done[e.turn] = self.value(e.turn)
        begin = self.done[Begin(e.turn)] = Begin(turn)
        inits = {s: self.value(x) for s, x in zip(e.states, e.inits, strict=True)}
        before = [self._store(s, memory, inits[s]) for s, memory in kept.items()]
        for k, i in enumerate(rest):
            s = e.states[i]
            self.done[s] = named(replace(s, slice=turn, position=k), arena().names.get(s, "state"))
        self.done |= {s: inherit(s, Load(memory.view, memory.place, after=begin)) for s, memory in kept.items()}
        inside = list(self.effects(e.effects))
        yields = {s: self.value(y) for s, y in zip(e.states, e.yields, strict=True)}
        inside += self._replaced(kept, yields)
        condition = None if e.condition is None else self.value(e.condition)
        states: Any = tuple(self.done[e.states[i]] for i in rest)
        starts, ends = (tuple(of[e.states[i]] for i in rest) for of in (inits, yields))
        new = self.done[e] = inherit(e, Recur(turn, states, starts, ends, tuple(inside), condition))
        for i, s in enumerate(e.states):
            if s in kept:
                left: Any = Load(kept[s].view, kept[s].place, after=new)  # type: ignore[arg-type]
            else:
                left = new.final(rest.index(i))  # type: ignore[attr-defined]
            self.done[e.final(i)] = inherit(e.final(i), left)
        return [*before, new]

    def _replaced(self, kept: dict[Any, Memory], yields: dict[Any, Any]) -> list[Store]:
        """The stores of the next states at the end of an iteration."""
        self.parameters += [m.view for m in kept.values()]
        if len(kept) < 2:
            return [self._store(s, memory, yields[s]) for s, memory in kept.items()]
        aside = {s: m._replace(view=replace(m.view, name=f"{m.view.name}_next")) for s, m in kept.items()}
        self.parameters += [m.view for m in aside.values()]
        made = [self._store(s, memory, yields[s]) for s, memory in aside.items()]
        for (s, memory), store in zip(kept.items(), tuple(made), strict=True):
            made.append(self._store(s, memory, Load(store.view, memory.place, after=store)))
        return made
