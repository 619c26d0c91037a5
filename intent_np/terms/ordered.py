"""Ordered loops of the author's: what an iteration carries to the next, and the effects that it has, in order.

    recur turn i over 0..N from 0 yielding carry(i, 0) + x[i] { store y[i] = … }

A loop is an effect.  Its states have numbers, and are spoken of by the name of its iterations: inside as they are at
the start of the one in hand (`Carry`), behind the loop as they are at its end (`Final`).  A carried tensor is a
function of coordinates as any value is: one state for each place at which its elements are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .accesses import Axis, Effect, Load
from .core import NO_AXES, Finding, Term, arena, children, find, term, walk
from .dtypes import DType, bool_
from .index import AxisLike, Value


@term
class Turn(AxisLike):
    """The iterations of the ordered loop called `name`: over the members of `axis`, or as long as a condition holds.
    Its coordinate is the member in hand.  `within` are those of the loop around it."""

    name: str
    axis: Axis | None = None
    within: AxisLike | None = None
    syntax = "turn {name}{ over |axis|}{ within |within|}"
    binds = True

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        # only its members vary: it is performed wherever the loop around it has an iteration
        lanes, needs = (NO_AXES, NO_AXES) if self.axis is None else (self.axis.lanes, self.axis.needs)
        return lanes, needs if self.within is None else needs | {self.within}

    def coordinate_axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return self.lanes, frozenset((self,))


@term
class Carry(Value):
    """State `position` of a loop, as it was before the block or the iteration in hand."""

    slice: AxisLike
    position: int
    dtype: DType
    varies: tuple[AxisLike, ...]
    syntax = "carry({slice}, {position}, {dtype}, [{varies}])"

    def infer(self) -> DType:
        return self.dtype

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return frozenset(self.varies), frozenset((self.slice,))


@term
class Final(Value):
    """State `position` of an ordered loop that was performed, as the last iteration left it."""

    turn: Turn
    position: int
    dtype: DType
    varies: tuple[AxisLike, ...]
    syntax = "final({turn}, {position}, {dtype}, [{varies}])"

    def infer(self) -> DType:
        return self.dtype

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return frozenset(self.varies), NO_AXES if self.turn.within is None else frozenset((self.turn.within,))


@term
class Begin(Effect):
    """The start of an iteration: a load after it sees what earlier iterations wrote."""

    turn: Turn
    syntax = "begin {turn}"

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, frozenset((self.turn,))


@term
class Recur(Effect):
    """An ordered loop.  `states` start as `inits` and become `yields` behind the effects of each iteration; one happens
    for each member of the turn's axis, while `condition` holds of the states as they are then."""

    turn: Turn
    states: tuple[Carry, ...]
    inits: tuple[Value, ...]
    yields: tuple[Value, ...]
    effects: tuple[Effect, ...]
    condition: Value | None = None
    syntax = (
        "recur {turn}{ while (|condition|)}{ carrying |states|}{ from |inits|}{ yielding |yields|} {{{effects:block}}}"
    )

    def infer(self) -> None:
        dtypes = [tuple(v.type for v in vs) for vs in (self.states, self.inits, self.yields)]
        if dtypes[0] != dtypes[1] or dtypes[0] != dtypes[2]:
            raise TypeError(f"states of {dtypes[0]} start as {dtypes[1]} and become {dtypes[2]}")
        for i, (s, x, y) in enumerate(zip(self.states, self.inits, self.yields, strict=True)):
            if s.slice is not self.turn or s.position != i:
                raise TypeError(f"{s} is not state {i} of {self.turn.name}")
            if not x.lanes | y.lanes <= s.lanes:
                raise TypeError(f"state {i} of {self.turn.name} varies along more axes than it is carried for")
        if self.condition is not None and self.condition.type is not bool_:
            raise TypeError(f"a condition is {self.condition.type}, not bool")
        if self.condition is None and self.turn.axis is None:
            raise TypeError(f"{self.turn.name} is a loop over nothing, without a condition, and has no end")

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        lanes, needs = Term.axes(self)
        return lanes, needs - {self.turn}

    def final(self, position: int) -> Final:
        """State `position` behind the loop."""
        s = self.states[position]
        return Final(self.turn, position, s.dtype, s.varies)


def loops(effects: Any) -> Iterator[Recur]:
    """The ordered loops among these effects and inside of each other, outer ones first."""
    for e in effects:
        if isinstance(e, Recur):
            yield e
        yield from loops(getattr(e, "effects", ()))


def in_order(effects: Any) -> Iterator[Effect]:
    """These effects in order, each that performs others behind them."""
    for e in effects:
        yield from in_order(getattr(e, "effects", ()))
        yield e


def evaluated(*roots: Any) -> list[Any]:
    """The terms that evaluating values, or performing effects, asks for, children first: not the earlier effects that
    loads and found values name."""
    return walk(*roots, below=asked_for, keep=True)


def asked_for(t: Any) -> tuple[Any, ...]:
    """What evaluating or performing a term asks for at once."""
    return tuple(c for c in children(t) if not isinstance(c, Effect)) if isinstance(t, Value) else children(t)


def loads(*roots: Any) -> list[Load]:
    """The loads that evaluating values, or performing effects, makes, children first."""
    analyses = arena().analyses
    if loads not in analyses:
        analyses[loads] = Finding(Load, below=asked_for)
    return analyses[loads](*roots)  # type: ignore[no-any-return]


class Rewritten(dict[Any, Any]):
    """What was rewritten, for `rebuild`: anything else stays."""

    def __missing__(self, key: Any) -> Any:
        return key


def states_in_loops(program: Term) -> Iterator[str]:
    """A state is asked for inside of its loop."""
    for r in find(program, Recur):
        inside: set[Any] = {r.turn, *(i.turn for i in loops(r.effects))}
        outer: Any = r.turn.within
        while outer is not None:
            inside.add(outer)
            outer = outer.within
        for t in evaluated(*r.effects, *r.yields):
            if isinstance(t, Carry) and isinstance(t.slice, Turn) and t.slice not in inside:
                yield f"{t} is asked for outside of its loop"


def ends_behind_loops(program: Any) -> Iterator[str]:
    """What a loop leaves is asked for behind it."""
    for part in getattr(program, "groups", (program,)):
        yield from _asked_too_early(part.effects)


def _asked_too_early(effects: Any) -> Iterator[str]:
    performed: set[Any] = set()
    seen: set[Any] = set()  # by an earlier effect: what was behind its loop is still behind it
    for e in in_order(effects):
        for t in walk(e, below=lambda t: () if t in seen else asked_for(t)):
            if isinstance(t, Final) and t not in seen and t.turn not in performed:
                yield f"{t} is asked for where its loop was not performed"
            seen.add(t)
        if isinstance(e, Recur):
            performed.add(e.turn)


__all__ = [
    "Begin", "Carry", "Final", "Recur", "Rewritten", "Turn", "asked_for", "ends_behind_loops", "evaluated", "in_order",
    "loads", "loops", "states_in_loops",
]  # fmt: skip
