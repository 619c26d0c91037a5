"""What stands at a place in order, told from the members: where few places are asked for, one after the other as the
first behind the one before; else as the member with that many ahead of it.

    sort(x)[0]      reduce first over i of (x[i], i)
    sort(x)[p]      reduce sum over i of select(p == reduce sum over j of (x[j] ahead of x[i]), x[i], 0)

A store along the places in order is one along the members, each of which knows its place:

    store y[p] = sort(x)[p]      store y[reduce sum over j of (x[j] ahead of x[i])] = x[i]

So order is a matter of reductions, which are blocked and spread as all others are.  Ahead of a member are those that
are less (greater, in a descending order), and of equal ones those before it; NaN comes last.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from ..rules.facts import at_most, upper
from ..rules.simplify import node, substitute
from ..terms import logical as L
from ..terms.core import find, named
from ..terms.dtypes import DType, index
from ..terms.index import Cast, Const, Value, add, apply, conjunction, const, is_const, le, lt, select, sub
from ..terms.normal import (
    Arg,
    Axis,
    Combine,
    Coord,
    Effect,
    Load,
    Proj,
    Reduce,
    builtin,
    identity,
)
from ..terms.ordered import evaluated
from .kept_sorts import read_elsewhere
from .lower_regions import Positions
from .lower_scans import Asked, ScanLowering
from .scans import WORDS

FEW = 16
"""Places that are found one after the other, with a reduction each, unless all are asked for."""

SHORT = 256
"""Members whose places are counted again rather than kept."""


class Placed(NamedTuple):
    """A member of what is put in order, and its place there, instead of the member that stands at a place."""

    place: Value
    member: Value
    axis: Axis
    rank: Value


class SortLowering(ScanLowering):
    """The part of the lowering that knows order."""

    def __init__(self) -> None:
        super().__init__()
        self.placed: dict[Value, Placed] = {}  # by what was found at a place

    def keep_sorts(self, s: Any, guards: tuple[Value, ...]) -> list[Effect]:
        """The stores that keep what the statement `s` reads in order at several places; its reads follow them."""
        made: list[Effect] = []
        for t in read_elsewhere(s):
            extent = upper(self.at(L.shape_of(t.value)[t.dimension], ()))
            if extent is not None and extent <= SHORT:
                continue
            for c in (0, 1):
                if (t, c) not in self.kept and any(x is Proj(t, c) for x in find(s, Proj)):
                    view, at, store = self.stored(Proj(t, c), ("ordered", "places")[c], guards)
                    self.kept[t, c] = view, at, store
                    made.append(store)
        if made:
            self.memo.clear()
        return made

    def scattered(
        self, axes: tuple[Axis, ...], index: Positions, value: Value, valid: Value | None
    ) -> tuple[Positions, Value, Value | None]:
        """The index, the value and the validity of a store over `axes`, told from the members where one of these runs
        along the places."""
        guards = () if valid is None else (valid,)
        found = [self.placed[t] for t in evaluated(value) if t in self.placed]
        if not found or len({(p.place, p.rank) for p in found}) > 1:  # at two places, or of two orders
            return index, value, valid
        place, _, axis, rank = found[0]
        along = next(iter(place.lanes), None)
        told: Value = substitute(value, {t: p.member for t, p in self.placed.items() if p in found})
        if (
            along not in axes
            or axis in axes
            and axis is not along  # another dimension runs over what the members do
            or node(sub(Coord(along), place)).lanes
            or any(t in self.placed for t in evaluated(*index, *guards))
            or Coord(along) in evaluated(rank)  # beside a value in order, another component of its region
            or any(getattr(t, "axis", None) in (along, axis) and not isinstance(t, Coord) for t in evaluated(told))
        ):
            return index, value, valid
        first = substitute(place, {Coord(along): along.lo}, everywhere=True)
        places, members = (node(sub(a.hi, a.lo)) for a in (along, axis))
        if not (at_most(const(0), first) and at_most(node(add(first, places)), members)):
            return index, value, valid  # elements that no member has the place of are stored as well
        here = node(add(rank, node(sub(Coord(along), place))))
        behind = {t.after: t.after for t in evaluated(told, *index, *guards) if isinstance(t, Load) and t.after}
        # what a load stands behind has axes of its own
        there = lambda t: substitute(t, {**behind, Coord(along): here}, everywhere=True)  # noqa: E731
        begins = None if is_const(first, 0) else node(le(along.lo, here))
        ends = None if places is members else node(lt(here, along.hi))
        made = tuple(map(there, index)), there(told), conjunction(*map(there, guards), begins, ends)
        if along is not axis and any(along in t.lanes for t in (*made[0], *made[1:]) if t is not None):
            return index, value, valid  # a state has the member that it was carried for
        return made

    def in_order(self, v: L.TensorSort, component: int, where: Positions) -> Generator[Asked, Any, Any]:
        """The member at a place in order, or (component 1) the position that it had."""
        if (v, component) in self.kept:
            view, at, store = self.kept[v, component]
            return Load(view, (*at, *where), after=store)
        most, members = upper(where[v.dimension]), upper(self.at(L.shape_of(v.value)[v.dimension], ()))
        if most is not None and most < FEW and (members is None or most < members - 1):
            return (yield from self._one_by_one(v, component, where, max(most, 0)))  # below 0: at no place, never
        return (yield from self._counted(v, component, where))

    def _member(self, v: L.TensorSort, where: Positions, taken: frozenset[Any]) -> Generator[Asked, Any, Any]:
        """An axis over what is put in order, which none of `taken` is, its member and that member's position."""
        d = self.domains(v.value)[v.dimension]
        axis = self.axis(d, taken)
        place = self.position(d, axis)
        member = yield v.value, (*where[: v.dimension], place, *where[v.dimension + 1 :])
        return axis, (member, place)

    def _one_by_one(
        self, v: L.TensorSort, component: int, where: Positions, most: int
    ) -> Generator[Asked, Any, Any]:  # fmt: skip
        axis, one = yield from self._member(v, where, frozenset().union(*(p.lanes for p in where)))
        none = (const(0, one[0].type), const(-1))
        first, found, last = _first(one[0].type, v.descending), [], None
        for _ in range(most + 1):
            waits = one if last is None else _where(_ahead(last, one, v.descending), one, none)
            made = Reduce(axis, first, waits, none)
            last = node(Proj(made, 0)), node(Proj(made, 1))
            found.append(last[component])
        result = found.pop()
        for k in range(most - 1, -1, -1):
            result = node(select(node(apply("eq", where[v.dimension], const(k))), found[k], result))
        return result

    def _counted(self, v: L.TensorSort, component: int, where: Positions) -> Generator[Asked, Any, Any]:
        taken = frozenset[Any]().union(*(p.lanes for p in where))
        axis, one = yield from self._member(v, where, taken)
        others, other = yield from self._member(v, where, taken | {axis})
        ahead = node(Cast(_ahead(other, one, v.descending), index))
        rank = node(Reduce(others, builtin("sum", index), (ahead,), (const(0),)))
        here = node(apply("eq", rank, where[v.dimension]))
        d: DType = one[component].type
        word = WORDS[d.bits] if d.is_float else d  # the bits of the one that stands there, summed with zeros
        given = Cast(one[component], word, "bits") if d.is_float else one[component]
        masked = node(select(here, node(given), const(0, word)))
        total = node(Reduce(axis, builtin("sum", word), (masked,), (identity("sum", word),)))
        result = node(Cast(total, d, "bits")) if d.is_float else total
        if isinstance(axis, Axis):
            self.placed[result] = Placed(where[v.dimension], one[component], axis, rank)
        return result


Member = tuple[Any, Any]
"""A value and the position that it has; no member at all stands at -1."""


def _ahead(a: Member, b: Member, descending: bool) -> Any:
    """Whether `a` comes before `b` in order."""
    low, high = (b[0], a[0]) if descending else (a[0], b[0])
    less, same = apply("lt", low, high), apply("eq", a[0], b[0])
    if a[0].type.is_float:
        nan = [node(apply("isnan", x)) for x, _ in (a, b)]
        less = apply("or", less, node(apply("and", nan[1], node(apply("not", nan[0])))))
        same = apply("or", same, node(apply("and", *nan)))
    return node(apply("or", node(less), node(apply("and", node(same), node(lt(a[1], b[1]))))))


def _where(holds: Value, one: Member, other: Member) -> Member:
    x, place = (node(select(holds, a, b)) for a, b in zip(one, other, strict=True))
    return x, place


def _first(d: DType, descending: bool) -> Combine:
    """Of two members the one that comes first; of one and none, that one."""
    a, b = ((Arg(side, 0, d), Arg(side, 1, index)) for side in "ab")
    none: Const = const(0)
    later = node(apply("or", node(lt(a[1], none)), _ahead(b, a, descending)))
    chosen = _where(node(apply("and", node(le(none, b[1])), later)), b, a)
    return named(Combine((d, index), chosen), "first")  # type: ignore[no-any-return]
