"""A scan as a `Scan` over coordinates: its axis is that of the coordinate at which a prefix is asked for.

    y[i] = scan(x)[i]                store y[i] = scan sum over i of x[i]
    y[i] = scan(x, exclusive)[i]     store y[i] = scan sum over i of select(0 < i, x[i - 1], 0)

The prefix at another place, such as that of a gather, is a reduction of the members up to there, where the combine is
one that commutes; else all prefixes are kept in memory of the kernel's own first, as they are for a region.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator
from typing import Any

from ..rules.simplify import node
from ..terms import logical as L
from ..terms.index import Value, add, const, is_const, le, lt, select, sub
from ..terms.normal import Axis, Coord, Effect, Load, Part, Proj, Reduce, Scan, Store, View, builtin_name
from .captures import carried
from .lower_regions import Positions, RegionLowering, refused
from .lower_sweeps import asked, in_function

Asked = tuple[Any, Positions]


class ScanLowering(RegionLowering):
    """The part of the lowering that knows scans."""

    fitted: Callable[[Value, Positions], Asked]
    guarded: Callable[[Any, Value], Any]
    again: bool

    def __init__(self) -> None:
        super().__init__()
        self.scans = self.ways.scans  # those that are kept in memory,
        self.kept_before = frozenset(self.ways.scans)  # and that were from the start on
        self.kept: dict[tuple[Any, int], tuple[View, Positions, Effect]] = {}  # components of scans and sorts

    @abstractmethod
    def stored(self, value: Value, name: str, guards: tuple[Value, ...]) -> tuple[View, Positions, Store]:
        """A store of a whole tensor into memory of the kernel's own, and the coordinates in front of the tensor's."""

    def scan(self, v: L.TensorScan, component: int, where: Positions) -> Generator[Asked, Any, Any]:
        """Component `component` of the prefix at `where`."""
        if (v, component) in self.kept:
            view, front, store = self.kept[v, component]
            return Load(view, (*front, *where), after=store)
        place, extent = where[v.dimension], self.at(combined_extent(v), ())
        if is_const(extent, 1):
            return v.identities[component] if v.exclusive else (yield self.fitted(v.values[component], where))
        inside: Any = None  # where the prefix has a last member
        if v.exclusive:
            last = node(add(place, const(1 if v.reverse else -1)))
            inside = node(lt(last, extent) if v.reverse else le(const(0), last))
        else:
            last = place
        axis = self._axis_of(place, extent)
        if isinstance(axis, Part) and self.parts.get(combined_extent(v)) is not axis:
            return self._wanted(v, component, "a scan of all members that a region reads along its axis")
        if axis is None:
            return (yield from self._up_to(v, component, where, last))
        at = (*where[: v.dimension], last, *where[v.dimension + 1 :])
        values = []
        for x, identity in zip(v.values, v.identities, strict=True):
            member = yield self.fitted(x, at)
            if inside is not None:
                member = node(select(inside, self.guarded(member, inside), identity))
            values.append(member)
        used = []
        for o in v.operands:
            used.append((yield o, ()))
        made = Scan(axis, *carried(v.combine, tuple(values), v.identities, tuple(used)), v.reverse)
        return made if len(made.values) == 1 else Proj(made, component)

    def _wanted(self, v: L.TensorScan, component: int, what: str) -> Any:
        """Ask for the prefixes in memory; what follows is of no use without them."""
        if v in self.kept_before:
            raise refused(v, what)
        self.scans.add(v)
        self.again = True
        return const(0, L.element(v.values[component].type))

    def keep_scans(self, roots: tuple[Any, ...], guards: tuple[Value, ...]) -> list[Effect]:
        """The stores of the prefixes that these values ask for at other places than their own."""
        made: list[Effect] = []
        terms = asked(*roots) if self.scans else []
        for t in terms:
            if t in self.scans and not in_function(t):
                for c in range(len(t.values)):
                    value = t if len(t.values) == 1 else Proj(t, c)
                    if (t, c) not in self.kept and value in terms:
                        view, at, store = self.stored(value, "prefixes", guards)
                        self.kept[t, c] = view, at, store
                        made.append(store)
        if made:
            self.memo.clear()
        return made

    def _axis_of(self, place: Value, extent: Value) -> Any:
        """The axis whose coordinate `place` is, if it runs over all members of the scanned one."""
        if len(place.lanes) != 1:
            return None
        (a,) = place.lanes
        whole: Any = a.axis if isinstance(a, Part) else a
        if place is not node(sub(Coord(a), whole.lo)):
            return None
        return a if isinstance(a, Part) or node(sub(whole.hi, whole.lo)) is extent else None

    def _up_to(
        self, v: L.TensorScan, component: int, where: Positions, last: Value
    ) -> Generator[Asked, Any, Any]:  # fmt: skip
        """The prefix whose last member stands at a place that is no coordinate of its own."""
        if builtin_name(v.combine) is None:
            return self._wanted(v, component, "a prefix at a place that a condition or a region decides on")
        taken = frozenset[Any]().union(*(p.lanes for p in where))
        domain = self.domains(v)[v.dimension]
        axis: Axis = self.axis(domain, taken)
        place = self.position(domain, axis)
        at = (*where[: v.dimension], place, *where[v.dimension + 1 :])
        member = yield self.fitted(v.values[component], at)
        counted = node(le(last, place) if v.reverse else le(place, last))
        masked = node(select(counted, member, v.identities[component]))
        return Reduce(axis, v.combine, (masked,), v.identities)


def combined_extent(v: L.TensorScan) -> Value:
    """How many members a scan has."""
    shape = L.broadcast(tuple(L.shape_of(x) for x in v.values))
    return shape[v.dimension]
