"""A fold of slices as a `Region` over coordinates: summaries over any part of the axis, combined element by element.

    fold x along 0 summarize s combine c        region c over n of (reduce max over part of n of x, …)

Slices become the part, whose coordinates are those of the whole axis.  A combine of tensors becomes one of numbers:
which dimensions of its components are the same one is read off the elements that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..errors import IntentError, error
from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import arena, contains, find, named, replace, rewrite
from ..terms.dtypes import index
from ..terms.index import Const, Param, Value, const, is_const, sub
from ..terms.normal import Arg, Axis, Combine, Contract, Coord, Load, Part, Proj, Reduce, Region
from .otherwise import InOrder, Ways

Positions = tuple[Value, ...]


class _Joined(NamedTuple):
    """A combine of numbers; `same` names, for each dimension of each component, the class of equal dimensions."""

    name: str
    bodies: tuple[Value, ...]
    same: dict[tuple[int, int], tuple[int, int]]

    def combine_of(self, kept: list[int]) -> Combine:
        """The combine of some of the components, which use no others."""
        number = {j: k for k, j in enumerate(kept)}
        bodies = rewrite(
            [self.bodies[j] for j in kept],
            lambda t: Arg(t.side, number[t.position], t.dtype) if isinstance(t, Arg) else node(t),
        )
        return named(Combine(tuple(b.type for b in bodies), bodies), self.name)  # type: ignore[no-any-return]


class RegionLowering:
    """The part of the lowering that knows functions of slices; the rest gives it elements and axes."""

    at: Callable[[Any, Positions], Any]
    axis: Callable[[L.Domain, Any], Any]
    domains: Callable[[Value], tuple[L.Domain, ...]]
    memo: dict[Any, Any]
    ways: Ways  # there before anything else

    def __init__(self) -> None:
        super().__init__()
        self.bound: dict[L.Formal, Value] = {}  # what a formal of a slice stands for
        self.parts: dict[Any, Part] = {}  # by the extents of slices
        self.sides: dict[L.Formal, Arg] = {}
        self.asked: dict[Arg, list[Positions]] = {}  # elements of the sides of the combine in hand
        self.joined: dict[L.RegionFold, _Joined] = {}
        self.owned: frozenset[Any] = frozenset()  # the axes of the store in hand

    def position(self, d: L.Domain, a: Any) -> Any:
        """The position along a dimension of the coordinate of its axis; of a part, that in the whole axis."""
        lo = a.axis.lo if isinstance(a, Part) else a.lo
        return node(sub(Coord(a), lo)) if d.step is None else Coord(a)

    def side(self, v: L.Formal, where: Positions) -> Any:
        """An element of a side of the combine in hand; which one is noted."""
        if v not in self.sides:
            raise refused(v, "a parameter of a helper that is not inlined")
        self.asked.setdefault(self.sides[v], []).append(where)
        return self.sides[v]

    @contextmanager
    def varying_along(self, axes: frozenset[Any]) -> Iterator[None]:
        """Inside, what is lowered is stored at addresses that vary along `axes`."""
        self.owned = axes
        before = len(self.parts)
        yield
        self.owned = frozenset()
        if len(self.parts) > before:
            self.memo.clear()  # regions have the components that this store has the axes for

    def region(self, v: L.RegionFold, component: int, where: Positions) -> Any:
        """An element of a component of the summary."""
        try:
            return self._region(v, component, where)
        except IntentError as problem:
            if problem.code != "E708" or v.combine in self.ways.in_order:
                raise
            raise InOrder(v.combine) from None

    def _region(self, v: L.RegionFold, component: int, where: Positions) -> Any:
        joined = self.joined.get(v) or self.joined.setdefault(v, self._joined(v))
        taken = frozenset().union(*(p.lanes for p in where))
        cut: Axis = self.axis(self.domains(v.sources[0])[v.dimensions[0]], taken)
        if isinstance(cut, Part):
            raise refused(v, "a region inside of another one over the same axis")
        summaries = self._summaries(v, cut)
        place: dict[tuple[int, int], Any] = {joined.same[component, k]: p for k, p in enumerate(where)}
        kept = [j for j in range(len(summaries)) if self._placed(j, summaries[j], joined, place, taken | {cut})]
        values, identities = [], []
        for j in kept:
            shape = L.shape_of(summaries[j])
            at = tuple(const(0) if is_const(e, 1) else place[joined.same[j, k]] for k, e in enumerate(shape))
            values.append(self.at(summaries[j], at))
            identities.append(self.at(v.identities[j], at))
            if not isinstance(identities[-1], Const):
                raise refused(v, "an identity that is known only at run time")
        made = Region(cut, joined.combine_of(kept), tuple(values), tuple(identities))
        known = made.component_lanes()
        may_vary = known[kept.index(component)] | self.owned  # others stand where no statement has their coordinates
        within = [k for k, lanes in enumerate(known) if lanes <= may_vary]
        kept = [kept[k] for k in within]
        parts = (tuple(of[k] for k in within) for of in (values, identities))
        made = Region(cut, joined.combine_of(kept), *parts)
        return node(made) if len(kept) == 1 else node(Proj(made, kept.index(component)))

    def _placed(
        self, j: int, summary: Value, joined: _Joined, place: dict[tuple[int, int], Any], taken: frozenset[Any]
    ) -> bool:
        """Whether component `j` has its place, or can have one along an axis of the store: then the components that
        other values of the store ask for stand in one region."""
        found: dict[tuple[int, int], Any] = {}
        for k, d in enumerate(self.domains(summary)):
            if joined.same[j, k] not in place and not is_const(d.extent, 1):
                a = self.axis(d, taken)
                taken |= {a}
                if a not in self.owned:
                    return False
                found[joined.same[j, k]] = self.position(d, a)
        place |= found
        return True

    def _summaries(self, v: L.RegionFold, cut: Axis) -> tuple[Value, ...]:
        """What `summarize` gives, over formals that stand for the slices of this region alone."""
        part = Part(cut)
        named(part, arena().names.get(cut, "part"))
        tag = f"{v.digest}.{cut.digest}"
        old = v.summarize.formals[0]
        extent = L.Formal(f"{old.name}.{tag}", 0, index, (), True)
        fresh = {old: extent}
        for f in v.summarize.formals[1:]:
            shape = tuple(extent if e is old else e for e in f.extents)
            fresh[f] = L.Formal(f"{f.name}.{tag}", f.position, f.dtype, shape, f.scalar)
            fresh[replace(f, extents=shape)] = fresh[f]  # as rewriting meets it, over its new extents
        self.parts[extent] = part
        self.bound[extent] = L.shape_of(v.sources[0])[v.dimensions[0]]
        for f, given in zip(v.summarize.formals[1:], (*v.sources, *v.operands), strict=True):
            self.bound[fresh[f]] = given
        made: tuple[Value, ...] = rewrite(v.summarize.results, lambda t: fresh.get(t, t))
        return made

    def _joined(self, v: L.RegionFold) -> _Joined:
        """The combine of one element of each component, and which dimensions are the same one."""
        bodies = v.combine.results
        types = [L.element(i.type) for i in v.identities]
        # a formal is one term in all combines where it stands at one place, with whatever sides they have there
        around, self.memo = self.memo, {}
        self.sides = {
            f: Arg("ab"[k // len(types)], k % len(types), types[k % len(types)])
            for k, f in enumerate(v.combine.formals)
        }
        shapes = [L.shape_of(b) for b in bodies]
        same = {(i, k): (i, k) for i, shape in enumerate(shapes) for k in range(len(shape))}
        made = []
        for i, b in enumerate(bodies):
            places = [Param(f"{i}.{k} of {v.digest}", index) for k in range(len(shapes[i]))]
            self.asked = {}
            body = self.at(b, tuple(const(0) if is_const(e, 1) else p for p, e in zip(places, shapes[i], strict=True)))
            if any(p in places for p in find(body, Param)):
                raise refused(v, "a combine that depends on the position in a summary")
            made.append(body)
            for arg, asked in self.asked.items():
                for where in asked:
                    self._unify(v, same, i, places, arg.position, where)
        self.memo = around
        for i, shape in enumerate(shapes):
            wide = [same[i, k] for k, e in enumerate(shape) if not is_const(e, 1)]
            if len(set(wide)) < len(wide):
                raise refused(v, "a combine of a summary with its transpose")
        for c in made:
            if contains(c, Reduce, Contract, Region, Coord, Load):
                raise refused(v, "a combine with a reduction or a contraction")
        return _Joined(v.combine.name, tuple(made), same)

    def _unify(
        self, v: L.RegionFold, same: dict[tuple[int, int], tuple[int, int]], i: int, places: list[Any], j: int,
        where: Positions,
    ) -> None:  # fmt: skip
        """Component `i` at `places` asks for component `j` at `where`."""
        for k, p in enumerate(where):
            if isinstance(p, Const):
                continue
            if p not in places:
                raise refused(v, "a combine that moves elements of a summary")
            one, other = same[j, k], same[i, places.index(p)]
            for d, c in same.items():
                if c == one:
                    same[d] = other


def refused(v: Any, construct: str, fix: str = "") -> Exception:
    """E708 at the author's line."""
    return error("E708", next(iter(arena().spans.get(v, ())), None), construct=construct, fix=fix)
