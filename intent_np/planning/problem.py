"""A group as a planning problem: its axes, the roles that each may have, and extents to price with.

A *frame* gives every axis a role: `space` (spread over instances), `whole` (a fragment holds all of it) or `loop`
(walked in blocks).  `Unserved` says why a group keeps the directed plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product
from math import prod
from operator import or_
from typing import Any, NamedTuple

from ..errors import error
from ..numerics import FORMATS
from ..passes.blocks import LARGEST, block_extents, held_together, power_of_two
from ..passes.one_hot import counted
from ..passes.roles import (
    CONTRACTED_LIMIT,
    STRIDED_LIMIT,
    axes,
    contiguous,
    extent_bound,
    in_index_order,
    reads_memory,
)
from ..rules.simplify import simplify, substitute
from ..terms.core import arena, children, contains, find, walk
from ..terms.dtypes import DType
from ..terms.grouped import Group, Last
from ..terms.index import Const, Extent, Param, Value, const, sub
from ..terms.normal import (
    Axis,
    Carry,
    Contract,
    Coord,
    Final,
    Load,
    Part,
    Reduce,
    Region,
    Scan,
    Turn,
    Update,
    builtin_name,
    varying,
)
from ..terms.updates import Found
from .order import Order

LONG = 32768
"""Members of a looped axis whose extent nothing bounds, when a plan is priced."""

ELEMENTS = 2**26
"""Members of all axes together, when nothing says how many instances there are."""

LEAST = 32
"""Members of an axis over instances that nothing bounds, at least."""

HELD_SCAN = 8192
"""Members whose prefixes are made at once at most: in a longer fragment its threads wait for each other, and no other
instance has room beside it."""

WORTH_A_LOOP = 512
"""Members from which on a loop is worth considering."""

ITERATIONS = 64
"""Of an ordered loop, when nothing says how many it has."""

STRUCTURED = (Reduce, Contract, Scan, Region)


class Unserved(Exception):
    """Why a group keeps the directed plan."""


class TooMuch(Unserved):
    """It could be planned, and one of the limits is in the way."""


class Limits(NamedTuple):
    """Bounds of the effort, as counts: the same on every machine.

    values:       values of a group
    executions:   values, each at each place where it could be computed
    nodes:        e-nodes after saturation
    evaluations:  priced sets of executions in all
    exact:        of these, for one exact search
    """

    values: int = 400
    executions: int = 3000
    nodes: int = 6000
    evaluations: int = 6000
    exact: int = 600


def limits_of(given: Mapping[str, int]) -> Limits:
    """The limits with these in their places; E006 for one that there is not."""
    if unknown := set(given) - set(Limits._fields):
        what = f"choose_plan has no limit {', '.join(sorted(unknown))}"
        raise error("E006", what=what, how=f"choose one of {', '.join(Limits._fields)}")
    return Limits(**given)


class Problem:
    """A group, its axes in the order of their bits, and what a plan may do with each."""

    def __init__(self, group: Group, sizes: Mapping[str, int], limits: Limits) -> None:
        self.group, self.limits = group, limits
        self.combining: dict[tuple[str, int, bool], float] = {}  # what combining two members takes, once it was asked
        self.axes: list[Axis] = axes(group.effects)
        self.bit: dict[Any, int] = {a: i for i, a in enumerate(self.axes)}
        self.is_open = not all(a in group.workset for a in self.axes)
        """Whether there is anything to choose."""
        if not self.is_open:
            return
        self._performable()
        self.order = Order(group)
        self.statements = self.order.statements
        self.stores: list[Any] = [s.effect for s in self.order.changing()]
        self.turns = self.order.turns
        self.bit |= {t: len(self.axes) + i for i, t in enumerate(self.turns)}
        self.folded = {t.axis for t in find(group.effects, Region)}
        self.scanned: dict[Any, set[bool]] = {}
        for t in find(group.effects, Scan):
            self.scanned.setdefault(t.axis, set()).add(t.reverse)
        self.owners = {b for a in self.axes for b in a.lanes}  # each member has an instance of its own
        self.owners |= {b for t in (*self.turns, *self.order.conditions) for b in t.lanes}
        self.carried = {a for s in self.order.states for a in s.varies}
        self.asked = axes(self.order.conditions)  # along which a condition combines
        self._refuse()
        self.known = [self.order.slots(a) for a in self.axes]  # where their bounds are
        self.extents = self._extents(sizes)
        self.together = {  # lanes of fragments, and the registers of an element
            sum(1 << self.bit[a] for a in axes): registers for axes, registers in held_together(group).items()
        }
        self.contracts = list[Contract](find(group.effects, Contract))
        self.folds = {  # the axis of each reduction, and all that its members vary along
            (self.bit[t.axis], reduce(or_, map(self.bits, (t, *operands(t))), 1 << self.bit[t.axis]))  # type: ignore[index]
            for t in walk(*self.values, below=operands)
            if isinstance(t, STRUCTURED)
        }

    def bits(self, t: Any) -> int:
        """The axes along which a value varies, as a set of bits, and the turns of the loops that it has to be computed
        in; along a part of an axis, that one."""
        found = sum(1 << self.bit[a] for a in {a.axis if isinstance(a, Part) else a for a in varying(t)})
        for n in t.needs if self.turns else ():
            while isinstance(n, Turn):
                found |= 1 << self.bit[n]
                n = n.within
        return found

    def nest(self, e: Any, walked: int) -> list[int]:
        """The axes of a statement that are `walked`, in the order in which later passes put its loops into each other:
        that of the index; those along which something is carried are innermost."""
        scanned = {t.axis for t in find(e, Scan)}
        order = [a for a in (e.over if isinstance(e, Update) else in_index_order(e)) if a in self.bit]
        order.sort(key=lambda a: a in scanned)
        return [i for a in order if walked >> (i := self.bit[a]) & 1]

    def bounded(self, slot: int) -> int:
        """The axes whose bounds are known in a slot, as a set of bits."""
        return sum(1 << i for i, slots in enumerate(self.known) if slots is None or slot in slots)

    @property
    def ordered(self) -> int:
        """The bits of turns."""
        return (1 << len(self.turns)) - 1 << len(self.axes)

    @property
    def values(self) -> list[Value]:
        """All that is computed for a statement."""
        return [v for s in self.statements for v in s.values]

    def name(self, axis: int) -> str:
        """What the author calls an axis, or its number."""
        return arena().names.get(self.axes[axis], f"axis {axis}")

    # ---- what can't be planned

    def _performable(self) -> None:
        g = self.group
        if any(True for _ in find(g.effects, Found)):
            raise Unserved("it asks what an update found")
        if any(True for _ in find(g.effects, Last)):
            raise Unserved("instances share its reductions")

    def _refuse(self) -> None:
        g = self.group
        for a in self.axes:
            if a in self.folded and True in self.scanned.get(a, ()):
                raise Unserved("it has a reverse scan along the axis of a fold of slices")
            if self.scanned.get(a) == {True, False} and not self.may_be_whole(a):
                raise Unserved("it has scans in both directions along an axis that no fragment holds")
        if any(counted(t) is not None for t in find(g, Reduce)):
            raise Unserved("it counts members by their numbers")
        if self.order.meet():
            raise Unserved("it overwrites what other members of an axis read")
        for a in self.axes:
            inside = a.lanes - set(g.workset) or not all(isinstance(n, Turn) for n in a.needs)
            if inside or contains_any((a.lo, a.hi), *STRUCTURED, Carry, Final):
                raise Unserved("bounds of an axis of it vary along one that is not spread over instances")
        for t in self.turns:
            if contains_any((t,), *STRUCTURED):
                raise Unserved("the iterations of a loop of it depend on a reduction")
        for a in {*self.carried, *self.asked}:
            if a not in g.workset and (a.needs or a in self.folded or (extent_bound(a) or LARGEST + 1) > LARGEST):
                raise Unserved("a loop of it carries, or asks for, what no fragment holds")
        if len(walk(*g.effects)) > self.limits.values:
            raise TooMuch(f"it has more than {self.limits.values} values")

    # ---- roles

    def frames(self) -> list[tuple[str, ...]]:
        """Every way to give each axis a role, in a fixed order; fragments that no instance could hold left out.  Held
        axes fit a fragment all together, or at least those that some value has together; where there is no such way,
        as few as must be are walked, however short they are, or those that later passes would."""
        every = self._ways()
        all_ = {(1 << len(self.axes)) - 1: 1}
        if found := [f for f in every if self._fits(f, all_)] or [f for f in every if self._fits(f, self.together)]:
            return found
        every = [f for f in self._ways(short=True) if self._fits(f, self.together)]
        fewest, ruled = min((f.count("loop") for f in every), default=0), self.ruled
        return [f for f in every if f.count("loop") == fewest or f == ruled]

    @property
    def ruled(self) -> tuple[str, ...]:
        """The roles that later passes would give the axes by rule."""
        _, whole = block_extents(self.group)
        return tuple("space" if a in self.group.workset else "whole" if a in whole else "loop" for a in self.axes)

    def _ways(self, short: bool = False) -> list[tuple[str, ...]]:
        return list(product(*(self._roles(i, a, short) for i, a in enumerate(self.axes))))

    def _roles(self, i: int, a: Axis, short: bool) -> list[str]:
        """What may become of an axis; a `short` one is walked, too."""
        if a in self.group.workset:
            return ["space"]
        if a in self.carried or a in self.asked:
            return ["whole"]
        free = not a.lanes and not reads_memory(a) and all(a in e.lanes for e in self.stores) and not self.reduced(a)
        free = free and self.order.is_plain  # points of others may wait for each other
        whole = a not in self.folded and self.may_be_whole(a)
        looped = not whole or (short or self.extents[i] > WORTH_A_LOOP) and self.scanned.get(a) != {True, False}
        return [*(["space"] if free else []), *(["whole"] if whole else []), *(["loop"] if looped else [])]

    def reduced(self, a: Axis) -> bool:
        """Whether something is combined over an axis."""
        return any(t.axis is a for t in find(self.group.effects, STRUCTURED))

    def may_be_whole(self, a: Axis) -> bool:
        """Whether a fragment can hold the axis for every call of the class."""
        bound = extent_bound(a)
        if bound is None:
            return False
        if any(t.axis is a for t in find(self.group.effects, Contract)):
            return bound <= CONTRACTED_LIMIT
        if a in self.scanned and bound > HELD_SCAN:
            return False
        return bound <= (LARGEST if a in contiguous(self.group.effects) else STRIDED_LIMIT)

    def bound(self, i: int) -> int:
        """Members that a fragment must have room for to hold the axis."""
        return extent_bound(self.axes[i]) or self.extents[i]

    def is_filled(self, i: int) -> bool:
        """Whether the members of a held axis are known to fill its fragment; else each load asks which are there."""
        count = simplify(sub(self.axes[i].hi, self.axes[i].lo))
        return isinstance(count, Const) and count.value == power_of_two(self.bound(i))

    def _fits(self, frame: tuple[str, ...], together: Mapping[int, int]) -> bool:
        size = {1 << i: power_of_two(self.bound(i)) for i, r in enumerate(frame) if r == "whole"}
        return all(n * prod(m for b, m in size.items() if d & b) <= LARGEST for d, n in together.items())

    # ---- extents

    def _extents(self, sizes: Mapping[str, int]) -> list[int]:
        """The extents that plans are priced for: those given, those bounded by the class, else long rows."""
        every = [*self.axes, *(t.axis for t in self.turns if t.axis is not None)]
        names = {e.name: e for a in every for e in find((a.lo, a.hi), (Extent, Param))}  # type: ignore[arg-type]
        inner = {n for a in every if a not in self.group.workset for n in _names(a)}
        known = {n: sizes.get(n) or getattr(e, "bound", None) for n, e in names.items()}
        known |= {n: LONG for n in inner if known[n] is None}
        row = prod(self._members(a, names, known) for a in self.axes if a not in self.group.workset)
        open_ = [n for n, v in known.items() if v is None]
        share = max(LEAST, round((ELEMENTS / max(1, row)) ** (1 / max(1, len(open_)))))
        known |= dict.fromkeys(open_, share)
        return [self._members(a, names, known) for a in self.axes] + [
            ITERATIONS if t.axis is None else self._members(t.axis, names, known) for t in self.turns
        ]

    def _members(self, a: Axis, names: Mapping[str, Any], known: Mapping[str, int | None]) -> int:
        values: dict[Any, Any] = {e: const(_fitting(known[n] or 1, e.type), e.type) for n, e in names.items()}
        turns = sorted((t for t in self.turns if t in a.needs and t.axis is not None), key=lambda t: self.bit[t])
        for t in turns:  # in the middle of its iterations
            values[Coord(t)] = const(self._members(t.axis, names, known) // 2)  # type: ignore[arg-type]
        count = simplify(substitute(sub(a.hi, a.lo), values, everywhere=True))
        return max(1, int(count.value)) if isinstance(count, Const) else LONG  # type: ignore[call-overload]


def _fitting(members: int, d: DType) -> int:
    """So many members, or as many as a scalar of a narrow dtype can ask for."""
    return min(members, d.range[1] if d.is_integer else 1 if d.kind == "bool" else int(FORMATS[d.name].largest))


def _names(a: Axis) -> Iterator[str]:
    return (e.name for e in find((a.lo, a.hi), (Extent, Param)))  # type: ignore[arg-type]


def operands(t: Any) -> list[Value]:
    """The values that enter the e-graph as what a value is made of: of a fold of slices, what it captures."""
    if isinstance(t, Region):
        return captured(t)
    if isinstance(t, (Reduce, Scan)):
        return list(t.values)
    return [c for c in t.children() if isinstance(c, Value)]


def captured(t: Region) -> list[Value]:
    """The values inside of a fold of slices that wait for reductions outside of it, the largest ones."""
    part = Part(t.axis)
    inside: set[Any] = {part}
    for x in walk(*t.values):
        if any(c in inside for c in children(x)) and not (isinstance(x, Region) and x.axis is t.axis):  # in its slices
            inside.add(x)
    found: dict[Any, None] = {}
    stack: list[Any] = list(reversed(t.values))
    while stack:
        x = stack.pop()
        if x not in inside and isinstance(x, Value):
            found |= {x: None} if contains(x, *STRUCTURED) else {}
        else:
            stack += [c for c in reversed(children(x)) if c is not part]
    return list(found)


def summarized(t: Region) -> list[Any]:
    """The terms that a fold of slices is made of, without what it captures."""
    outside = set(captured(t))
    return [x for x in walk(*t.values, below=lambda x: () if x in outside else children(x)) if x not in outside]


def contains_any(roots: Any, *kinds: Any) -> bool:
    """Whether a term of one of these kinds is reached from `roots`."""
    return next(find(tuple(roots), kinds), None) is not None


def combine_name(t: Any) -> str | None:
    """The name of a builtin reduction of floats: what the rules of values are about."""
    one = isinstance(t, Reduce) and len(t.values) == 1 and getattr(t.type, "is_float", False)
    return builtin_name(t.combine) if one else None


def opaque(t: Value) -> bool:
    """Whether a value is taken as it is: read, computed from coordinates, or no float, and free of reductions."""
    arithmetic = not isinstance(t, (Load, Carry, Final)) and getattr(t.type, "is_float", False) and bool(t.children())  # type: ignore[attr-defined]
    return not arithmetic and not contains(t, *STRUCTURED)
