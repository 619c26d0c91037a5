"""Values in memory of the kernel's own: stored at the coordinates that they vary along, and loaded at the same.

    … reduce sum over b of v(b) …         store kept[b] = v(b)
                                          … reduce sum over b of (load kept[b] after that store) …

Used by passes that perform what a value asks for in statements of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..rules.bounds import end
from ..rules.facts import at_most
from ..rules.simplify import node
from ..terms.core import arena, find, inherit, named, replace
from ..terms.index import Value, add, const, sub
from ..terms.normal import (
    Axis,
    Begin,
    Contract,
    Coord,
    Load,
    Part,
    Program,
    Recur,
    Reduce,
    Region,
    Scan,
    Store,
    Turn,
    Update,
    View,
    varying,
)
from ..terms.ordered import Rewritten, evaluated, loops
from ..terms.updates import Found
from .lower_buffers import extent, visible, workspace

Key = tuple[str, int]
"""A statement: the view that it changes, and which of the changes of that view it is."""


def key(e: Any) -> Key:
    """What a store or an update is known by, whatever becomes of its parts."""
    return e.view.name, e.again


def rebuilt(root: Any, done: Rewritten) -> Any:
    """`root` with the terms that are `done` in their places."""
    for t in evaluated(root):
        if t not in done:
            new = t.rebuild(done)
            done[t] = t if new is t else inherit(t, node(new))
    return done[root]


def statements(effects: Iterable[Any]) -> Iterable[Any]:
    """The effects and those inside of loops, in order."""
    for e in effects:
        yield e
        if isinstance(e, Recur):
            yield from statements(e.effects)


class Memory:
    """Makes the workspaces of a program."""

    def __init__(self, program: Program) -> None:
        self.taken = {t.name for t in program.parameters} | {v.name for v in find(program, View)}  # type: ignore[attr-defined]
        self.turns = {r.turn.name for r in loops(program.effects)}
        self.made: list[View] = []
        self.uses = max((a.use for a in find(program, Axis)), default=0)
        self.spans = spans(*certain(program.effects))

    def aside(self, t: Any, hint: str, apart: Any = None, along: Iterable[Any] = ()) -> tuple[Store, Load] | None:
        """A store of the value `t` at its coordinates, and the load that gives it back; None where the host can't know
        how much memory that takes.  What is computed along a part of an axis is stored along the whole; `apart` is
        an axis of which it is stored along another occurrence.  It has members `along` these axes, too."""
        lanes = sorted(
            varying(t).union(along), key=lambda a: (isinstance(a, Part), a.use if isinstance(a, Axis) else 0, a.digest)
        )
        parts = [a for a in lanes if isinstance(a, Part)]
        if any(b.axis in parts for b in evaluated(t) if isinstance(b, (Reduce, Contract, Scan, Region))):
            return None
        fresh = {a: self._fresh(a.axis if isinstance(a, Part) else a) for a in lanes if a is apart or a in parts}  # type: ignore[attr-defined]
        shape, at = [], []
        known = spans(t) | self.spans
        for a in lanes:
            spread = span(a.axis if isinstance(a, Part) else a, known)
            if spread is None:
                return None
            lo, hi = spread
            shape.append(extent(lo, hi))
            at.append(node(sub(Coord(a), lo)))
        view = workspace(hint, t.type, shape, self.taken)
        self.made.append(view)
        turns = {x: x for x in find(t, Turn)}  # a loop stays over its axis, even if that has another occurrence here
        own = Rewritten(fresh | turns)
        index = tuple(rebuilt(i, own) for i in at)
        store = inherit(t, Store(view, index, rebuilt(t, own)))
        return store, inherit(t, Load(view, tuple(at), after=store))  # type: ignore[return-value]

    def _fresh(self, a: Axis) -> Axis:
        """Another occurrence of the domain of an axis."""
        self.uses += 1
        return named(inherit(a, replace(a, use=self.uses)), arena().names.get(a, "i"))  # type: ignore[no-any-return]

    def turn(self, hint: str) -> str:
        """A name for a loop that no other one has."""
        name, number = hint, 1
        while name in self.turns:
            number += 1
            name = f"{hint}_{number}"
        self.turns.add(name)
        return name


class Ahead:
    """A program whose statements find some of what they ask for in memory, where others in front of them left it."""

    def __init__(self, program: Program) -> None:
        self.before, self.memory, self.done = program, Memory(program), Rewritten()

    def ahead(self, name: Any, root: Any, front: list[Any]) -> Any:
        """`root` of the statement or the loop called `name`, over what the stores added to `front` leave."""
        raise NotImplementedError

    def program(self) -> Program:
        """The program with what is put aside in front of what asks for it; the same one where nothing is."""
        effects = self.effects(self.before.effects, None)
        if effects == self.before.effects:
            return self.before
        parameters = (*self.before.parameters, *self.memory.made)
        return replace(self.before, parameters=parameters, effects=effects)  # type: ignore[no-any-return]

    def effects(self, effects: Iterable[Any], turn: Turn | None) -> tuple[Any, ...]:
        """These effects of the loop `turn`, or of the program, each behind what is put aside for it."""
        out: list[Any] = []
        for e in effects:
            made = self.loop(e, turn) if isinstance(e, Recur) else self.statement(e, turn)
            self.done[e] = made[-1]
            if isinstance(e, Update) and isinstance(made[-1], Update):
                self.done[Found(e)] = inherit(Found(e), Found(made[-1]))
            out += made
        return tuple(out)

    def statement(self, e: Any, turn: Turn | None) -> list[Any]:
        """The statements that a store or an update becomes, inside of the loop over `turn`."""
        front: list[Any] = []
        new = self.ahead(key(e), rebuilt(e, self.done), front)
        return [*front, new]

    def loop(self, e: Recur, around: Turn | None) -> list[Any]:
        """The statements that a loop becomes: what its states become is found behind all that an iteration does."""
        front: list[Any] = []
        behind: list[Any] = []
        turn = self.done[e.turn] = rebuilt(e.turn, self.done)
        self.done[Begin(e.turn)] = Begin(turn)
        inits = tuple(self.ahead(e.turn.name, rebuilt(v, self.done), front) for v in e.inits)
        states: Any = tuple(rebuilt(s, self.done) for s in e.states)
        effects = self.effects(e.effects, turn)
        yields = tuple(self.ahead(e.turn.name, rebuilt(v, self.done), behind) for v in e.yields)
        condition = None if e.condition is None else rebuilt(e.condition, self.done)
        return [*front, inherit(e, Recur(turn, states, inits, yields, (*effects, *behind), condition))]


Spans = dict[Any, tuple[Value, Value]]
"""Bounds that the host knows, of axes whose own ones it does not."""


def spans(*roots: Any) -> Spans:
    """Those of the axes along which these access a view at every member: what the view has."""
    found: Spans = {}
    for t in evaluated(*roots):
        for i, e in zip(t.index, t.view.shape, strict=True) if isinstance(t, (Load, Store)) else ():
            if t.valid is None and isinstance(i, Coord) and isinstance(i.axis, Axis) and visible(e):
                found.setdefault(i.axis, (const(0), e))
    return found


def certain(effects: Iterable[Any]) -> Iterable[Any]:
    """What a program performs whatever it finds: of a loop that may have no iteration, what it begins with."""
    for e in effects:
        if not isinstance(e, Recur):
            yield e
            continue
        yield from e.inits
        axis = e.turn.axis
        if e.condition is None and axis is not None and at_most(node(add(axis.lo, const(1))), axis.hi):
            yield from (*certain(e.effects), *e.yields)


def span(a: Any, known: Spans) -> tuple[Value, Value] | None:
    """Bounds of an axis that the host knows: its own, others outside of those, or `known` ones."""
    lo, hi = (b if visible(b) else end(b, last) for b, last in ((a.lo, False), (a.hi, True)))
    return (lo, hi) if visible(lo) and visible(hi) else known.get(a)
