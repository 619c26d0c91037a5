"""Ordered loops over coordinates: a carried tensor becomes one state for each place where its elements are asked for.

    for i over 0..N carrying s[8] yielding s * a          recur turn i carrying s(j) yielding carry(i, 0) * a(j) { … }

What a state becomes asks for states in its turn, at the same places or at others, until no new ones come up.  Along
which axes a state varies follows from what it becomes; where that was guessed too low, everything is lowered again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import IntentError
from ..rules.bounds import inside
from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import arena, find, inherit, named, replace, walk
from ..terms.index import Value, conjunction, conjuncts, const, le, lt
from ..terms.normal import (
    Axis,
    Carry,
    Contract,
    Coord,
    Effect,
    Final,
    Load,
    Part,
    Recur,
    Reduce,
    Region,
    Scan,
    Turn,
)  # fmt: skip
from ..terms.ordered import Rewritten, asked_for, evaluated
from ..terms.updates import Found
from .lower_regions import Positions
from .lower_updates import UpdateLowering
from .otherwise import Inside, Moved

Place = tuple[int, Positions]  # a carry, and which of its elements
MOST = 32
"""States of one loop; one that asks for more moves the elements of what it carries, which are kept in memory."""


class LoopLowering(UpdateLowering):
    """The part of the lowering that knows ordered loops; the rest gives it elements, effects and bounds."""

    effects: Callable[[tuple[Any, ...], tuple[Value, ...]], list[Any]]
    sweep_regions: Callable[[tuple[Any, ...], tuple[Value, ...]], list[Any]]
    swept: dict[Any, Any]
    bounds: Callable[[L.Domain], tuple[Value, Value]]
    uses: dict[L.LoopVar, int]

    def __init__(self) -> None:
        super().__init__()
        self.wanted = self.ways.wanted
        self.again = False  # whether more is wanted than what the loops were made with
        self.turns: dict[L.LoopVar, Turn] = {}  # of the loops in hand
        self.open: dict[str, tuple[L.Ordered, Turn]] = {}  # the loops in hand, by name
        self.around: dict[str, frozenset[Turn]] = {}  # the loops around each
        self.turn: Turn | None = None
        self.entered: tuple[tuple[Turn, Value | None], ...] = ()  # the loops in hand, and what holds in each iteration
        self.made: dict[L.Ordered, Recur] = {}
        self.never: set[L.Ordered] = set()  # loops that are never performed: nobody asks what they leave
        self.performed: dict[Any, Effect] = {}  # what a read that comes after a statement reads after

    # ---- states

    def carried(self, v: L.State, where: Positions) -> Value:
        """An element of a carry at the start of the iteration in hand."""
        loop, turn = self.open[v.loop]
        number, lanes = self._state(loop, turn, (loop.states.index(v), where))
        return named(_carry(turn, number, v, lanes), arena().names.get(v, "state"))  # type: ignore[no-any-return]

    def left(self, v: L.After, where: Positions) -> Value:
        """An element of a carry behind its loop."""
        number, _ = self._state(v.loop, None, (v.position, where))
        if v.loop in self.made and number < len(self.made[v.loop].states):
            return self.made[v.loop].final(number)
        self.again |= v.loop not in self.never
        return const(0, L.element(v.type))

    def _state(self, loop: L.Ordered, turn: Turn | None, place: Place) -> tuple[int, frozenset[Any]]:
        """The number of a state, and the axes that it varies along."""
        known = self.wanted.setdefault(loop, {})
        # a state is there for all coordinates, and so is what says which of its elements it is
        place = place[0], tuple(guarded(p, None, lost=True) for p in place[1])
        if place not in known:
            late = any(turn in p.needs or behind(p) or self._elsewhere(p, loop) for p in place[1])
            if late or len(known) >= MOST or any(isinstance(a, Part) for p in place[1] for a in p.lanes):
                raise Moved(loop.name)  # known inside of the loop alone, or moved, or read by a region
            known[place] = frozenset().union(*(p.lanes for p in place[1]))
        return list(known).index(place), known[place]

    def _elsewhere(self, p: Value, loop: L.Ordered) -> bool:
        """Whether the members of an index are those of an iteration of another loop, which is not around this one."""
        bounds = [b for a in p.lanes if isinstance(a, Axis) for b in (a.lo, a.hi)]
        turns = {t.axis for t in find(bounds, Coord) if isinstance(t.axis, Turn)}
        return not turns <= self.around.get(loop.name, frozenset())

    # ---- the loop

    def ordered(self, e: L.Ordered, guards: tuple[Value, ...]) -> list[Recur]:
        """The loop with all the states that are asked for; none where it neither acts nor is asked for any."""
        under = conjunction(*guards)
        turn = self._turn(e, under)
        saved = self.memo, self.turns, self.turn, self.entered, set(self.performed)
        again = e.point in self.uses  # a member of a parallel loop elsewhere, where it had another coordinate
        self.memo, self.turns, self.turn = {} if again else dict(self.memo), dict(self.turns), turn
        if e.point is not None:
            self.turns[e.point] = turn
        self.open[e.name] = e, turn
        self.around[e.name] = frozenset(t for t, _ in saved[3])
        condition = None if e.condition is None else self._condition(e, turn, guards)
        runs = None if turn.axis is None else node(lt(turn.axis.lo, turn.axis.hi))
        holds = conjunction(runs, condition)
        self.entered = (*self.entered, (turn, holds))
        kept, swept = dict(self.kept), dict(self.swept)
        effects = self.effects(e.body, guards)
        effects += [*self.sweep_regions(e.yields, guards), *self.keep_scans(e.yields, guards)]
        inits, yields = self._states(e, saved, under)
        self.kept, self.swept = kept, swept
        self.memo, self.turns, self.turn, self.entered, before = saved
        del self.open[e.name]
        lanes = self.wanted.get(e, {})
        ends = turn.lanes | (condition.lanes if condition is not None else frozenset())  # at different times
        for place, x, y in zip(list(lanes), inits, yields, strict=True):
            if not (varies := x.lanes | y.lanes | ends) <= lanes[place]:
                lanes[place] |= varies
                self.again = True
        if self.again or not lanes and not effects:
            return []
        states = tuple(
            _carry(turn, i, e.states[position], lanes[position, where]) for i, (position, where) in enumerate(lanes)
        )
        made = Recur(turn, states, tuple(inits), tuple(yields), tuple(effects), condition)
        self.made[e] = inherit(e, made)  # type: ignore[assignment]
        for w in self.performed.keys() - before:
            self.performed[w] = made
        return [made]

    def _states(self, e: L.Ordered, around: Any, under: Value | None) -> tuple[list[Any], list[Any]]:
        """What each state starts as, as seen from around the loop, and becomes; those that come up on the way too."""
        inits: list[Any] = []
        yields: list[Any] = []
        known = self.wanted.setdefault(e, {})
        while len(inits) < len(known):
            position, where = list(known)[len(inits)]
            exists = conjunction(under, self._exists(e.states[position], where))
            inner = self.memo, self.entered
            self.memo, self.entered = around[0], around[3]
            inits.append(self.inside(self.at(e.inits[position], where), exists))
            self.memo, self.entered = inner
            yields.append(self.inside(self.at(e.yields[position], where), exists))
        return inits, yields

    def _exists(self, state: Any, where: Positions) -> Value | None:
        """Whether there is an element at these positions: a scan asks for one before the first, and selects."""
        extents = [self.at(n, ()) for n in L.shape_of(state)]
        unproved = [(p, n) for p, n in zip(where, extents, strict=True) if not inside(p, n)]
        return conjunction(*[c for p, n in unproved for c in (node(le(const(0), p)), node(lt(p, n)))])

    def _turn(self, e: L.Ordered, under: Value | None) -> Turn:
        axis = None
        if e.point is not None:
            lo, hi = (self.inside(b, under) for b in self.bounds(e.point.domain))
            axis = Axis(lo, hi)
        turn = Turn(e.name, axis, self.turn)
        label = arena().names.get(e.point) if e.point is not None else None
        return named(turn, label or e.name)  # type: ignore[no-any-return]

    def _condition(self, e: L.Ordered, turn: Turn, guards: tuple[Value, ...]) -> Value:
        """Asked for members only: what it reads for one is not read behind the last."""
        try:
            asked = self.inside(self.at(e.condition, ()), conjunction(*guards))
        except IntentError as problem:
            if problem.code != "E708" or e.condition in e.states:
                raise
            raise Inside(e.name) from None
        if turn.axis is not None:
            asked = only_for_members(asked, turn)
        return conjunction(*guards, asked) or const(True, asked.type)

    def inside(self, v: Any, under: Value | None) -> Any:
        """`v` in the iterations in hand, where `under` holds: what is the same in all of them is read in none."""
        return guarded(v, under, self.entered)


def _carry(turn: Turn, number: int, v: Any, lanes: Iterable[Any]) -> Carry:
    return Carry(turn, number, L.element(v.type), tuple(sorted(lanes, key=lambda a: a.digest)))


def behind(p: Value) -> bool:
    """Whether an index follows from what statements did."""
    return any(isinstance(t, (Final, Found)) or isinstance(t, Load) and t.after is not None for t in evaluated(p))


def guarded(
    v: Any,
    condition: Value | None,
    entered: tuple[tuple[Turn, Value | None], ...] = (),
    lost: bool = False,
    other: Any = None,
) -> Any:
    """`v` where `condition` holds, inside of these loops: a load that is not certainly inside its view, or may be of
    what was written only there, is made only there, and one that its iterations do not make only where they happen.

    What is combined of an axis is of other members than the one that the condition is about: `lost` says that a part
    of the condition can't be asked there, so that a load is made wherever its view has it.  `other` is asked for where
    the condition does not hold: what both ask for is asked for anyway, and stays one value of both.
    """
    if condition is None and not lost and not any(holds for _, holds in entered):
        return v
    lanes = condition.lanes if condition is not None else frozenset()

    def combining(t: Any) -> bool:
        return isinstance(t, Reduce | Scan | Contract | Region)

    def crossing(t: Any) -> bool:
        return combining(t) and not lanes.isdisjoint(_members(t))

    anyway = frozenset(walk(other, below=lambda t: () if combining(t) else asked_for(t)) if other is not None else ())
    done = Rewritten()
    for t in walk(v, below=lambda t: () if t in anyway or crossing(t) else asked_for(t)):
        if t in anyway:
            done[t] = t
            continue
        if crossing(t):
            there = [c for c in conjuncts(condition) if c.lanes.isdisjoint(_members(t))]
            done[t] = guarded(t, conjunction(*there), entered, lost=True)
            continue
        # the bounds of a loop are asked for where it stands
        new: Any = t if isinstance(t, Turn) else t.rebuild(done)  # type: ignore[attr-defined]
        if isinstance(new, Load) and not _certain(new):
            last = max((i for i, (turn, _) in enumerate(entered) if turn in new.needs), default=-1)
            own = _of_the_view(new) if lost else ()
            new = replace(
                new, valid=conjunction(new.valid, *own, condition, *(holds for _, holds in entered[last + 1 :]))
            )
        done[t] = t if new is t else inherit(t, node(new))
    return done[v]


def _members(t: Any) -> tuple[Any, ...]:
    """The axes whose members a value combines."""
    return (t.axis, Part(t.axis)) if isinstance(t, Region) else (t.axis,)


def _of_the_view(t: Load) -> Iterator[Value]:
    """That an element is inside of its view, where that is not certain."""
    for i, e in zip(t.index, t.view.shape, strict=True):
        if not inside(i, e):
            yield node(le(const(0), i))
            yield node(lt(i, e))


def only_for_members(v: Any, turn: Turn) -> Any:
    """`v`, whose loads for an iteration are made only if it is one."""
    done, member = Rewritten(), lt(Coord(turn), turn.axis.hi)  # type: ignore[union-attr]
    for t in evaluated(v):
        new = t.rebuild(done)
        if isinstance(new, Load) and turn in new.needs:
            new = replace(new, valid=conjunction(new.valid, member))
        done[t] = t if new is t else inherit(t, node(new))
    return done[v]


def _certain(t: Load) -> bool:
    """Proof that a load is inside of its view, where there is something to be found."""
    return t.view.mode in ("in", "inout") and all(inside(i, e) for i, e in zip(t.index, t.view.shape, strict=True))


__all__ = ["LoopLowering", "guarded"]
