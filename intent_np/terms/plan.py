"""plan: what is computed where.  An execution is a value at a place, and a place is the loop that is open there.

A plan says for one execution group what becomes of each axis, which loops there are and in which turn they run, what
each of them computes, sums up and keeps, and what is computed again.  It is applied as a group over renamed axes, one
copy of an axis for each loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import NO_AXES, Term, find, term
from .grouped import Sync
from .index import AxisLike, Value
from .normal import NORMAL, Axis, Effect, Program, Turn


class Execution(Term):
    """Sort: a value where it is computed."""

    __slots__ = ()
    place: Any

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class Role(Term):
    """What becomes of an axis: `space`, spread over instances by blocks; `whole`, held in a fragment; `loop`, walked in
    blocks."""

    axis: Axis
    role: str
    block: int
    syntax = "assigned {role} of {axis} by {block}"

    def infer(self) -> None:
        if self.role not in ("space", "whole", "loop"):
            raise TypeError(f"an axis is space, whole or loop, not {self.role}")


class Place(Term):
    """Sort: where an execution stands; without one, behind all loops."""

    __slots__ = ()


@term
class Walk(Place):
    """A loop over the blocks of an axis, or the ordered one with these turns, in the one that is `around`.  It comes
    before all loops of a later turn beside it."""

    axis: AxisLike
    turn: int
    around: Term | None = None
    syntax = "walked {axis} turn {turn}{ in |around|}"
    binds = True

    def infer(self) -> None:
        if self.around is not None and not isinstance(self.around, Walk):
            raise TypeError("a loop is in a loop")


@term
class Behind(Place):
    """In no loop but those that are `around`, behind all that have an earlier turn."""

    turn: int
    around: Walk | None = None
    syntax = "behind {turn}{ in |around|}"
    binds = True


@term
class Taken(Execution):
    """A value that is read or computed from coordinates."""

    value: Value
    place: Place | None = None
    syntax = "taken {value}{ at |place|}"


@term
class Computed(Execution):
    """An operator on operands at the same place; a cast is `cast f32 wrap`."""

    op: str
    operands: tuple[Execution, ...]
    place: Place | None = None
    syntax = "computed {op}({operands}){ at |place|}"


@term
class Gathered(Execution):
    """What the load `by` reads at an address that is computed; behind the coordinates stands what is valid."""

    by: Value
    operands: tuple[Execution, ...]
    place: Place | None = None
    syntax = "gathered {by} of ({operands}){ at |place|}"


@term
class Held(Execution):
    """The reduction `by` of operands over its axis, all of which is in a fragment."""

    by: Value
    operands: tuple[Execution, ...]
    place: Place | None = None
    syntax = "held {by} of ({operands}){ at |place|}"


@term
class Scanned(Execution):
    """The scan `by` of operands along its axis: all of which is in a fragment, or which a loop around it walks."""

    by: Value
    operands: tuple[Execution, ...]
    place: Place | None = None
    syntax = "scanned {by} of ({operands}){ at |place|}"


@term
class Summed(Execution):
    """The reduction `by` of operands over the axis that the loop `place` walks; there behind it."""

    by: Value
    operands: tuple[Execution, ...]
    place: Walk
    syntax = "summed {by} of ({operands}) in {place}"


@term
class Peak(Execution):
    """The running maximum `by` of scores, to which the sums of its loop are rescaled."""

    by: Value
    scores: Execution
    place: Walk
    syntax = "topped {by} of {scores} in {place}"


@term
class Weighed(Execution):
    """The reduction `by` of exp(score - peak), each after the cast `cast` and times the factor if there are any."""

    by: Value
    peak: Peak
    place: Walk
    cast: str = ""
    factor: Execution | None = None
    syntax = "weighed {by} by {peak} in {place}{ cast |cast|}{ times |factor|}"


@term
class Kept(Execution):
    """What a loop keeps in memory; `number` tells the buffers of a plan apart."""

    number: int
    value: Execution
    place: Walk
    syntax = "stashed {number}: {value} in {place}"


@term
class Read(Execution):
    """What was kept, read in a later loop over the same axis."""

    kept: Kept
    place: Walk
    syntax = "fetched {kept} at {place}"


@term
class Stored(Term):
    """The statement that stores the value, performed at the place; of an ordered loop, the `part` of its states: that
    they start `from`, or are `yielding`, the value."""

    statement: Effect
    value: Execution
    place: Place | None = None
    part: str = ""
    syntax = "performed {statement} of {value}{ at |place|}{ as |part|}"

    def infer(self) -> None:
        if self.part not in ("", "from", "yielding"):
            raise TypeError(f"states start from, or are yielding, values; there is no part {self.part}")

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class Plan(Term):
    """The plan of an execution group: the roles of its axes, and its statements with all that they need."""

    roles: tuple[Role, ...]
    statements: tuple[Stored, ...]
    syntax = "planned ({roles}) {{{statements:block}}}"


def loops_around(place: Any) -> list[Walk]:
    """The loops that are open at a place, the outermost first."""
    out: list[Walk] = []
    while place is not None:
        if isinstance(place, Walk):
            out.append(place)
        place = place.around
    return out[::-1]


def before(done: Walk, place: Any) -> bool:
    """Whether a loop is over at a place."""
    around, open_ = loops_around(done.around), loops_around(place)
    rest = open_[len(around) :]
    if open_[: len(around)] != around:
        return False
    return rest[0].turn > done.turn if rest else not isinstance(place, Behind) or place.turn > done.turn


def at_hand(known: Any, place: Any) -> bool:
    """Whether what is computed at one place is known at another: at the same, or at one in no further loops that comes
    before it."""
    if known is place:
        return True
    if not isinstance(known, Behind):
        return False
    around, open_ = loops_around(known), loops_around(place)
    rest = open_[len(around) :]
    if open_[: len(around)] != around:
        return False
    return rest[0].turn > known.turn if rest else isinstance(place, Behind) and place.turn >= known.turn


BEHIND = (Summed, Peak, Weighed, Kept)
"""What there is once its loop is over."""


def in_place(plan: Plan) -> Iterator[str]:
    """Operands are computed where they are used, or by loops that are over there."""
    for t in find(plan, (Execution, Stored)):
        for x in find_direct(t):
            together = isinstance(t, Weighed) and x is t.peak
            if isinstance(x, BEHIND) and not together:
                if not before(x.place, t.place):
                    yield f"the loop is not over where its result is used: {x}"
            elif not at_hand(x.place, t.place):
                yield f"an operand is at another place: {x}"


def roles_fit(plan: Plan) -> Iterator[str]:
    """Loops walk looped axes, and values vary along open loops and other axes alone."""
    role = {r.axis: r.role for r in plan.roles}
    for w in find(plan, Walk):
        if role.get(w.axis) != "loop" and not isinstance(w.axis, Turn):  # type: ignore[call-overload]
            yield f"a loop over an axis that is not walked: {w}"
    for t in find(plan, Held):
        if role.get(t.by.axis) != "whole":
            yield f"a reduction in a fragment that does not hold its axis: {t}"
    for t in find(plan, Scanned):
        if role.get(t.by.axis) != "whole" and all(w.axis is not t.by.axis for w in loops_around(t.place)):
            yield f"a scan along an axis that neither a fragment holds nor a loop around it walks: {t}"
    for t in find(plan, (Summed, Peak, Weighed)):
        if t.place.axis is not t.by.axis:
            yield f"a reduction over another axis than its loop walks: {t}"
    for t in find(plan, (Taken, Stored)):
        said: Any = t.value if isinstance(t, Taken) else t.statement
        open_ = {w.axis for w in loops_around(t.place)}
        for a in sorted(said.lanes, key=lambda a: a.digest) if isinstance(t, Taken) or not t.part else ():
            if role.get(a) == "loop" and a not in open_:
                yield f"it varies along {a}, whose loop is not open: {t}"
        needs = said.needs
        if isinstance(t, Stored) and t.part == "yielding":
            needs |= {said.turn}
        for turn in sorted((n for n in needs if isinstance(n, Turn)), key=lambda n: n.name):
            if turn not in open_:
                yield f"it is of an iteration of {turn.name}, which is not open: {t}"


def find_direct(t: Any) -> list[Any]:
    """The executions that one needs directly."""
    return [c for c in t.children() if isinstance(c, Execution)]


PLAN = NORMAL.extend(
    "plan", root=Plan, remove=(Program,), about=__doc__ or "", rules=(in_place, roles_fit),
    add=(
        Sync, Role, Walk, Behind, Taken, Computed, Gathered, Held, Scanned, Summed, Peak, Weighed, Kept, Read, Stored,
        Plan,
    ),
)  # fmt: skip
