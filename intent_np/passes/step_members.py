"""normal -> normal: members of an axis that no instance owns are gone through one by one, where each has bounds of
another axis, or a number of iterations, of its own.

    store y[p] = reduce sum over i of x[i]              recur turn p over 0..N {
      where i runs over offsets[p]..offsets[p + 1]        store y[p] = reduce sum over i of x[i]
                                                        }

Where the axis is no axis of the statement, but one of a reduction or of a state, what its members have of their own is
computed into memory of the kernel's own first, in such a loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..rules.simplify import node, substitute
from ..terms.core import arena, inherit, named, replace
from ..terms.index import Value
from ..terms.normal import (
    NORMAL,
    Axis,
    Begin,
    Carry,
    Contract,
    Coord,
    Effect,
    Final,
    Load,
    Program,
    Proj,
    Recur,
    Reduce,
    Region,
    Store,
    Turn,
    Update,
    varying,
)
from ..terms.ordered import Rewritten, evaluated, loads
from ..terms.updates import Found
from .base import nanopass
from .dependences import apart_now, changing
from .groups import groups
from .put_aside import Ahead, key, rebuilt, statements
from .roles import STRUCTURED, axes, in_index_order
from .syncs import laid_out

RENAMED = (Effect, Turn, Carry, Final, Found)
"""What one statement speaks of and another one performs."""

ROUNDS = 8
"""Axes within each other whose bounds vary."""


@nanopass(NORMAL, NORMAL, needed="makes bounds of axes scalars of an instance")
def step_members(program: Program) -> Program:
    """Go through members one by one where each has bounds or a number of iterations of its own, and instances do not.

    Behind `keep_states`, whose memory is ordered as any other is; before stores are staged, since what a later member
    reads is as it was, too.
    Preserves each stored element: members of one axis do not depend on each other.
    """
    for _ in range(ROUNDS):
        needs = _needs(program)
        new = _Stepping(program, needs).program() if needs else program
        if new is program:
            break
        program = new
    return program


def _owners(*roots: Any) -> set[Any]:
    """The axes along which bounds of the axes below vary."""
    return {b for a in axes(roots) for b in a.lo.lanes | a.hi.lanes}


def _ends(r: Recur) -> frozenset[Any]:
    """The axes whose members have numbers of iterations of their own."""
    return r.turn.lanes | (r.condition.lanes if r.condition is not None else frozenset())


def _name(e: Any) -> Any:
    return e.turn.name if isinstance(e, Recur) else key(e)


class _Needs(NamedTuple):
    """Of a statement or a loop: the axes that would have to be instances and are not; and the instances, where a
    reduction decides on the bounds of an axis."""

    apart: frozenset[Any] = frozenset()
    decided: tuple[Any, ...] | None = None


def _parts(e: Any) -> tuple[Any, ...]:
    """What a statement or a loop asks for itself."""
    return (e.turn, *e.inits, *e.yields) if isinstance(e, Recur) else (e,)


def _needs(program: Program) -> dict[Any, _Needs]:
    """What has to be done about each statement and loop, by name."""
    wanted: dict[Any, tuple[frozenset[Any], bool]] = {}
    for e in statements(program.effects):
        own = _parts(e)
        apart = frozenset(_owners(*own)) | (_ends(e) if isinstance(e, Recur) else frozenset())
        decided = any(_decided(a) for a in axes(own))
        if apart or decided:
            wanted[_name(e)] = apart, decided
    found: dict[Any, _Needs] = {}
    for g in groups(program.effects) if wanted else ():
        for e in statements(g.effects):
            if isinstance(e, (Recur, Store, Update)) and (name := _name(e)) in wanted:
                apart, decided = wanted[name]
                missing = found.get(name, _Needs()).apart | (apart - set(g.workset))
                if missing or decided:
                    found[name] = _Needs(missing, g.workset if decided else None)
    return found


def _decided(a: Axis) -> list[Any]:
    """The outermost reductions, and what is like them, in the bounds of an axis."""
    found: dict[Any, None] = {}
    stack: list[Any] = [a.lo, a.hi]
    while stack:
        t = stack.pop()
        if isinstance(t.value if isinstance(t, Proj) else t, STRUCTURED):
            found[t] = None
        else:
            stack.extend(c for c in t.children() if isinstance(c, Value))
    return list(found)


class _Stepping(Ahead):
    """The program with a loop over the members of one axis around each statement or loop that is apart."""

    def __init__(self, program: Program, needs: dict[Any, _Needs]) -> None:
        super().__init__(program)
        self.needs = needs
        _, self.place = laid_out(program.effects)
        terms = evaluated(*program.effects)
        self.asked = {t.update for t in terms if isinstance(t, Found)}
        self.results = {t for t in terms if isinstance(t, Final)}

    def statement(self, e: Any, turn: Turn | None) -> list[Any]:
        needs = self.needs.get(key(e), _Needs())
        b = _outermost(needs.apart)
        if b in in_index_order(e) and needs.decided is None and e not in self.asked:
            made = self._read_first(e) if _overtakes(e, b) else self._stepped(e, b, turn)
            if made is not None:
                return made
        return super().statement(e, turn)

    def loop(self, e: Recur, around: Turn | None) -> list[Any]:
        b = _outermost(self.needs.get(e.turn.name, _Needs()).apart & _ends(e))
        made = None if b is None else self._stepped(e, b, around)
        return super().loop(e, around) if made is None else made

    def ahead(self, name: Any, root: Any, front: list[Any]) -> Any:
        """The smallest values in which a bound varies along the outermost axis are computed in front, and those that
        decide on bounds."""
        needs = self.needs.get(name)
        if needs is None:
            return root
        b, done = _outermost(needs.apart), Rewritten()
        decided = [] if needs.decided is None else [t for a in axes((root,)) for t in _decided(a)]
        for t in decided or evaluated(root):
            binder = t.value if isinstance(t, Proj) else t
            within = isinstance(binder, (Reduce, Contract, Region)) and b in binder.axis.lanes and b in t.lanes
            if not isinstance(t.type, tuple) and (within or t in decided) and t not in done:
                if (kept := self.memory.aside(t, "found", along=needs.decided or ())) is not None:
                    front.append(kept[0])
                    done[t] = kept[1]
        return rebuilt(root, done) if done else root

    def _read_first(self, e: Any) -> list[Any] | None:
        """A store whose members read what others replace, in two: they are all computed before any is stored."""
        new = rebuilt(e, self.done)
        decided = [*e.index, *((e.valid,) if e.valid is not None else ())]  # where it is stored is no value
        if not isinstance(e, Store) or any(
            isinstance(t, Load) and t.view.names & e.view.names for t in evaluated(*decided)
        ):
            return None
        kept = self.memory.aside(new.value, "ahead")
        return None if kept is None else [kept[0], inherit(e, replace(new, value=kept[1]))]

    # ---- one member after the other

    def _stepped(self, e: Any, b: Axis, around: Turn | None) -> list[Any] | None:
        """The loop over the members of `b` that performs `e` for each, behind what that asks others for; None where one
        member needs what another one is about to compute, or memory whose extent the host can't know."""
        front: list[Any] = []
        views = len(self.memory.made)
        member = _Member(self, e, b, around, front)
        if member.stuck:
            del self.memory.made[views:]
            return None
        inside = [member(e)]
        turn, back = member.turn, []
        if isinstance(e, Recur):
            for i in range(len(e.states)):
                if e.final(i) in self.results:
                    if (kept := self.memory.aside(e.final(i), "left")) is None:
                        del self.memory.made[views:]
                        return None
                    inside.append(member(kept[0]))
                    back.append((e.final(i), kept[1]))
        made = inherit(e, Recur(turn, (), (), (), tuple(inside)))
        for t, load in back:
            self.done[t] = replace(load, after=made)
        return [*front, made]


class _Member:
    """What is performed for a member of an axis, which is that of an iteration."""

    def __init__(self, of: _Stepping, e: Any, b: Axis, around: Turn | None, front: list[Any]) -> None:
        label = arena().names.get(b, "i")
        self.axis = b
        self.turn: Turn = named(Turn(of.memory.turn(label), rebuilt(b, of.done), around), label)
        self.around = around
        self.done = Rewritten({t: new for t, new in of.done.items() if isinstance(t, RENAMED)})
        self.inside = {x for t in statements((e,)) for x in ((t, Begin(t.turn)) if isinstance(t, Recur) else (t,))}
        self.changed = {name for s in changing(e) for name in s.view.names}
        self.own = {t.turn for t in self.inside if isinstance(t, Recur)}
        self.standing: list[tuple[Any, int]] = []  # where the statement and the loops around it are, from inside
        at = e
        while at is not None:
            self.standing.append(of.place[at])
            at = self.standing[-1][0].loop
        self.place = of.place
        self.stuck = False
        for t in evaluated(
            e
        ):  # what others carry, leave or find for the member, and prefixes of them all, are in memory
            binder = t.value if isinstance(t, Proj) else t
            across = isinstance(binder, STRUCTURED) and binder.axis is b
            self.stuck |= across and any(b in varying(x) and self._is_own(x) for x in evaluated(t))
            at_member = across and b in t.lanes and not isinstance(t.type, tuple)
            asked = at_member or self._is_of_others(t) and b in varying(t)
            if asked and not isinstance(self.done.get(t), Load):  # renamed, it is found where it was
                kept = of.memory.aside(t, "found")
                if kept is not None:
                    front.append(rebuilt(kept[0], of.done))
                    self.done[t] = replace(kept[1], after=front[-1])
                self.stuck |= kept is None and at_member

    def _is_own(self, t: Any) -> bool:
        """Whether what is performed for the member carries, leaves or finds this."""
        if isinstance(t, Found):
            return t.update in self.inside
        return isinstance(t, Final) and t.turn in self.own or isinstance(t, Carry) and t.slice in self.own

    def _is_of_others(self, t: Any) -> bool:
        return isinstance(t, (Found, Final, Carry)) and not self._is_own(t)

    def _is_current(self, t: Load) -> bool:
        """Whether what a load reads is there still in front of the statement."""
        body_read, read = self.standing[-1][0], -1
        if t.after is not None:
            body_read, read = self.place[t.after]
        for body, i in self.standing:
            # of a loop that is in between, earlier iterations come in front as well
            stores = body.stores[read + 1 : i] if body is body_read else body.stores
            changed = [s for each in stores for s in each if s.view.names & t.view.names]
            if not all(s.view is t.view and apart_now(s, t, body.turns) for s in changed):
                return False
            if body is body_read:
                break
        return True

    def __call__(self, e: Any) -> Any:
        new = self._loop(e) if isinstance(e, Recur) else self._statement(e)
        self.done[e] = inherit(e, new)
        return new

    def _value(self, root: Any) -> Any:
        for t in evaluated(root):
            if t not in self.done:
                new = t.rebuild(self.done)
                if isinstance(t, Load) and t.view.names & self.changed and t.after not in self.inside:
                    # no member changes what another one reads
                    own = self.axis in varying(t) and self._is_current(t)
                    new = replace(new, after=Begin(self.turn)) if own else new
                self.done[t] = t if new is t else inherit(t, node(new))
        return substitute(self.done[root], {Coord(self.axis): Coord(self.turn)})

    def _statement(self, e: Any) -> Any:
        if not isinstance(e, Update):
            return self._value(e)
        over = tuple(a for a in e.over if a is not self.axis)
        turn = self.turn if e.turn is self.around else self.done[e.turn]
        new = self._value(replace(e, over=over, within=(), turn=turn))
        self.done[Found(e)] = inherit(Found(e), Found(new))
        return new

    def _loop(self, e: Recur) -> Recur:
        axis = None if e.turn.axis is None else self._value(e.turn.axis)
        within = self.turn if e.turn.within is self.around else self.done[e.turn.within]
        turn = self.done[e.turn] = inherit(e.turn, Turn(e.turn.name, axis, within))
        self.done[Begin(e.turn)] = Begin(turn)
        inits = tuple(self._value(v) for v in e.inits)
        for i, s in enumerate(e.states):
            # what is of the member in hand is of what its bounds are of
            kept = {self._value(a) for a in s.varies if a is not self.axis}
            of_member = self.turn.lanes if self.axis in s.varies else ()
            varies = tuple(sorted(kept.union(of_member), key=lambda a: a.digest))  # type: ignore[arg-type]
            self.done[s] = new = inherit(s, replace(s, slice=turn, varies=varies))
            self.done[e.final(i)] = inherit(e.final(i), Final(turn, i, s.dtype, varies))
            named(new, arena().names.get(s, "state"))
        effects = tuple(self(x) for x in e.effects)
        yields = tuple(self._value(v) for v in e.yields)
        condition = None if e.condition is None else self._value(e.condition)
        return Recur(turn, tuple(self.done[s] for s in e.states), inits, yields, effects, condition)


def _outermost(apart: Iterable[Any]) -> Any:
    """The axis whose own bounds do not vary along others of these."""
    found = sorted((b for b in apart if not varying(b) & set(apart)), key=lambda b: (isinstance(b, Axis), b.digest))
    return next(iter(found), None)


def _overtakes(e: Any, b: Axis) -> bool:
    """Whether a member may change what a later one reads in the same statement."""
    own = (t for t in loads(e) if t.view.names & e.view.names and b in varying(t))
    return any(t.index != e.index and not apart_now(e, t, ()) for t in own)
