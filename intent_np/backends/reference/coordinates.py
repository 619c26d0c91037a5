"""Values as functions of coordinates: a fragment has a dimension for each axis of a term, as long as its domain.

An axis is bound by a store (free axes), or by a reduction, contraction or region inside.  The bounds of an axis may
vary along others (a ragged axis): then it spans all of them, and a mask says which members belong to which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics import Array, storage
from ...terms.core import NO_AXES, Term, children, walk
from ...terms.index import Value
from ...terms.normal import Axis, Contract, Coord, Load, Part, Reduce, Region, Scan, Store, Update
from ...terms.text import brief
from ...terms.updates import Found
from ..arrays.arguments import element
from ..arrays.memory import Memory
from ..arrays.values import Values, malformed


@dataclass(eq=False, frozen=True, slots=True)
class Binding:
    """The members of an axis in hand; of a ragged one, `member` masks those that belong to each member of others."""

    members: Array
    member: Array | None = None


class Coordinates(Values):
    """Evaluates `roots` over whole axes.  `bound` are the axes in scope; a value is kept for the bindings of its lanes.

    A region's summary is asked for `cuts` parts of its axis, which are then combined: by its law any number will do.
    """

    def __init__(self, memory: Memory, positions: Mapping[Any, int], roots: Iterable[Term], cuts: int = 1) -> None:
        super().__init__(memory, positions, len(positions))
        self.parts = parts_in_hand(roots)
        self.bound: dict[Any, Binding] = {}
        self.cuts = cuts
        self._known: dict[tuple[Any, ...], Any] = {}
        self._whole: dict[tuple[Any, ...], Binding] = {}
        self._lanes: dict[Term, list[Any]] = {}

    # ---- where values live

    def recall(self, t: Value) -> Any:
        return self._known.get(self._key(t))

    def keep(self, t: Value, value: Any) -> None:
        self._known[self._key(t)] = value

    def _key(self, t: Term) -> tuple[Any, ...]:
        lanes = self._lanes.get(t)
        if lanes is None:
            lanes = sorted(t.lanes | self.parts.get(t, NO_AXES), key=self.position)
            lanes = self._lanes[t] = [*lanes, *sorted(t.needs, key=lambda a: a.digest)]
        return (t, *[self.bound.get(a) for a in lanes])

    def forget(self, bindings: Iterable[Binding]) -> None:
        """Drop what was computed for these bindings."""
        gone = set(bindings)
        self._known = {k: v for k, v in self._known.items() if gone.isdisjoint(k[1:])}
        self._whole = {k: v for k, v in self._whole.items() if gone.isdisjoint(k[1:])}

    # ---- binding axes

    def whole(self, axis: Axis) -> Binding:
        """All members of an axis, for the members in hand of the axes that its bounds vary along."""
        key = self._key(axis)
        if key not in self._whole:
            self._whole[key] = self._bind(axis, self.value(axis.lo), self.value(axis.hi))
        return self._whole[key]

    def _bind(self, axis: Axis, lo: Array, hi: Array) -> Binding:
        if lo.size == hi.size == 1:
            return Binding(np.arange(int(lo.flat[0]), max(int(lo.flat[0]), int(hi.flat[0]))))
        lo, hi = np.broadcast_arrays(lo, hi)
        owners = lo < hi
        if (m := self.members(axis.lanes)) is not None:
            # what those axes vary along in their turn does not matter: some member is enough
            other = tuple(d for d, n in enumerate(owners.shape) if n == 1)
            owners = owners & m.any(other, keepdims=True)
        if not owners.any():
            return Binding(np.arange(0))
        members = np.arange(int(lo[owners].min()), int(hi[owners].max()))
        c = self.along(axis, members)
        return Binding(members, owners & (c >= lo) & (c < hi))

    def members(self, axes: Iterable[Any]) -> Array | None:
        """Which combinations of members in hand are members of ragged axes; None for all."""
        masks = [b.member for a in axes if (b := self.bound.get(a)) is not None and b.member is not None]
        return reduce(np.logical_and, masks) if masks else None

    @contextmanager
    def within(self, bindings: Mapping[Any, Binding]) -> Iterator[None]:
        """A scope in which axes are bound so; a binding of the same axis further out is hidden."""
        before = {a: self.bound.get(a) for a in bindings}
        self.bound.update(bindings)
        try:
            yield
        finally:
            for a, b in before.items():
                if b is None:
                    del self.bound[a]
                else:
                    self.bound[a] = b

    # ---- evaluation

    def active(self, t: Load) -> Array | None:
        return self.members(t.lanes)

    def operands(self, t: Value) -> Iterable[Value]:
        return () if isinstance(t, (Found, Reduce, Scan, Contract, Region, Coord)) else super().operands(t)

    def compute(self, t: Value) -> Any:
        match t:
            case Coord(axis):
                if axis not in self.bound:
                    raise malformed(f"the coordinate along {brief(axis)}, which nothing binds", "normal")
                return self.along(axis, self.bound[axis].members)
            case Reduce(axis, combine, values, identities):
                binding = self._binding(axis)
                found = []
                if binding.members.size:
                    with self.within({axis: binding}):
                        found = [self.value(v) for v in values]
                dim = self.position(axis)
                result = self.reduce(combine, found, identities, dim, binding.members.size, binding.member)
                return result if len(result) > 1 else result[0]
            case Scan(axis, combine, values, identities, reverse):
                if axis not in self.bound:
                    raise malformed(f"a scan over {brief(axis)}, which nothing binds", "normal")
                binding = self.bound[axis]
                found = [self.value(v) for v in values]
                dim, size = self.position(axis), binding.members.size
                result = self.scan(combine, found, identities, dim, size, reverse, binding.member)
                return result if len(result) > 1 else result[0]
            case Contract():
                return self._contraction(t, self._binding(t.axis))
            case Found(update):
                return self._found(update)
            case Region():
                result = self._region(t)
                return result if len(result) > 1 else result[0]
        return super().compute(t)

    def _binding(self, axis: Any) -> Binding:
        if isinstance(axis, Part):
            if axis not in self.bound:
                raise malformed(f"{brief(axis)} outside of a region over its axis", "normal")
            return self.bound[axis]
        return self.whole(axis)

    def _contraction(self, t: Contract, binding: Binding) -> Array:
        if not binding.members.size:
            return self.scalar(0, t.acc)
        with self.within({t.axis: binding}):
            left, right = self.value(t.left), self.value(t.right)
        dim = self.position(t.axis)
        return self.contract(left, right, dim, binding.members.size, element(t.left), t.acc, binding.member)

    def _region(self, t: Region) -> list[Array]:
        """The summaries of the parts of the axis, combined in order; an empty part has none."""
        binding, state = self.whole(t.axis), [self.scalar(i.value, i.dtype) for i in t.identities]
        parts = [p for p in self.positions if isinstance(p, Part) and p.axis is t.axis]
        dim = self.position(t.axis)
        n = binding.members.size
        steps = np.linspace(0, n, min(self.cuts, n) + 1).astype(np.int64).tolist() if n else []
        for start, stop in pairwise(steps):
            mask = binding.member
            mask = None if mask is None else mask[(slice(None),) * dim + (slice(start, stop),)]
            found = self._summary(t, parts, binding.members[start:stop], mask, dim)
            state = found if start == 0 and mask is None else self._absorb(t, state, found, mask, dim)
        return state

    def _summary(self, t: Region, parts: list[Part], members: Array, mask: Array | None, dim: int) -> list[Array]:
        bindings = {}
        for p in parts:
            at = self.position(p)
            bindings[p] = Binding(members, None if mask is None else np.swapaxes(mask, dim, at))
        with self.within(bindings):
            return [self.value(v) for v in t.values]

    def _absorb(self, t: Region, state: list[Array], found: list[Array], mask: Array | None, dim: int) -> list[Array]:
        new = self.combine(t.combine, state, found)
        if mask is None:
            return new
        some = mask.any(dim, keepdims=True)  # where the part is not empty
        return [np.where(some, n, s) for n, s in zip(new, state, strict=True)]

    def perform(self, t: Store | Update, axes: Iterable[Any]) -> None:
        """Perform an effect over its free axes, which are bound."""
        if isinstance(t, Store):
            self.store(t, axes)
            return
        lanes = None if t.valid is None else self.value(t.valid)
        member = self.acting(axes)
        lanes = member if lanes is None else lanes if member is None else lanes & member
        full, lines = [1] * self.rank, [self.bound[a].members for a in t.over]
        for a, line in zip(t.over, lines, strict=True):
            full[self.position(a)] = line.size
        indices, values = [self.value(i) for i in t.index], [self.value(v) for v in t.operands]
        old = self.memory.update(t, indices, values, lanes, full, self.combining(t))
        dims = [self.position(a) for a in t.over]
        old = old.transpose([*dims, *(d for d in range(self.rank) if d not in dims)]).reshape([x.size for x in lines])
        self.memory.found.setdefault(t, []).append((tuple(lines), old))

    def _found(self, t: Update) -> Array:
        """What an update found at the members in hand, put together from the pieces in which it was performed."""
        for a in t.over:
            if a not in self.bound:
                raise malformed(f"what an update over {brief(a)} found, where nothing binds that axis", "normal")
        lines = [self.bound[a].members for a in t.over]
        made = np.zeros([x.size for x in lines], storage(t.view.dtype))
        for pieces, old in self.memory.found.get(t, ()):
            common = [np.intersect1d(x, y, return_indices=True)[1:] for x, y in zip(lines, pieces, strict=True)]
            if all(x.size for x, _ in common):
                made[np.ix_(*(x for x, _ in common))] = old[np.ix_(*(y for _, y in common))]
        dims = [self.position(a) for a in t.over]
        shape = [1] * self.rank
        for d, x in zip(dims, lines, strict=True):
            shape[d] = x.size
        return made.transpose(np.argsort(dims)).reshape(shape)

    def store(self, t: Store, axes: Iterable[Any]) -> None:
        """Perform a store over its free axes, which are bound."""
        indices = [self.value(i) for i in t.index]
        valid = None if t.valid is None else self.value(t.valid)
        self.memory.store(t, indices, self.value(t.value), valid, self.acting(axes))

    def acting(self, axes: Iterable[Any]) -> Array | None:
        """Which members perform the effect in hand; None for all."""
        return self.members(axes)


def parts_in_hand(roots: Iterable[Term]) -> dict[Term, frozenset[Any]]:
    """The parts that each term depends on without varying along them: what a reduction over the part in hand is of."""
    parts: dict[Term, frozenset[Any]] = {}
    for t in walk(*roots):
        found = frozenset().union(*(parts.get(c, NO_AXES) for c in children(t)))
        if isinstance(t, (Reduce, Contract)) and isinstance(t.axis, Part):
            found |= {t.axis}
        elif isinstance(t, Region):
            found = frozenset(p for p in found if p.axis is not t.axis)
        if found:
            parts[t] = found
    return parts


def closure(lanes: Iterable[Any]) -> list[Any]:
    """`lanes` and every axis that their bounds vary along, those first."""
    found: dict[Any, None] = {}

    def visit(a: Any) -> None:
        for b in sorted(a.lanes, key=lambda x: x.digest):
            visit(b)
        found[a] = None

    for a in lanes:
        visit(a)
    return list(found)
