"""Shadow memory: who wrote and who read each element, to find races, repeated writes and reads of what nobody wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import error
from ...numerics import Array
from ...terms.core import arena
from ...terms.normal import Load, Store, Update, View
from ...terms.text import brief

NOBODY, MANY = -1, -2


class _Element:
    """Of each element of a view: the instance that wrote it, the instance that read it, whether it has a value."""

    __slots__ = ("known", "late", "reader", "updater", "writer")

    def __init__(self, view: View, size: int) -> None:
        self.writer = np.full(size, NOBODY, np.int64)
        self.reader = np.full(size, NOBODY, np.int64)
        self.updater = np.full(size, NOBODY, np.int64)
        self.late = np.zeros(size, np.bool_)  # written by one that had arrived already
        self.known = np.full(size, view.mode in ("in", "inout", "counter", "report"), np.bool_)


class Shadow:
    """Checks the accesses of a run.  `written` are the views that the program stores to; others need no shadow.

    Instances of a program are unordered, so that an element which one writes no other may touch; but those that arrive
    at one place: what they did before comes before what later ones do.  With `ordered` the accesses of different
    effects are ordered (the reference): only one effect's own lanes are held against each other.
    """

    def __init__(self, written: set[str], *, ordered: bool = False) -> None:
        self.written, self.ordered = written, ordered
        self.elements: dict[str, _Element] = {}
        self.places: dict[Any, int] = {}  # numbers of the first of the places of each kind
        self.place = np.zeros(0, np.int64)  # where each instance arrived, NOBODY where it did not
        self.turn = np.zeros(0, np.int64)  # the how manyth it was there
        self.turns: dict[int, int] = {}  # how many have arrived at each place

    def next_effect(self) -> None:
        """Forget the writers where effects are ordered."""
        if self.ordered:
            for e in self.elements.values():
                e.writer[:] = NOBODY
                e.updater[:] = NOBODY

    def arrived(self, kind: Any, who: Array, places: Array) -> None:
        """Instances arrive at the places of a kind, one after the other."""
        first = self.places.setdefault(kind, len(self.places) << 32)
        at = (np.broadcast_to(places, who.shape) + first).reshape(-1)
        self._reach(int(who.max(initial=-1)) + 1)
        for instance, place in zip(who.reshape(-1).tolist(), at.tolist(), strict=True):
            self.turns[place] = self.turn[instance] = self.turns.get(place, 0) + 1
            self.place[instance] = place

    def _reach(self, size: int) -> None:
        more = max(0, size - self.place.size)
        self.place = np.concatenate([self.place, np.full(more, NOBODY, np.int64)])
        self.turn = np.concatenate([self.turn, np.zeros(more, np.int64)])

    def _before(self, others: Array, who: Array) -> Array:
        """Whether what each of the others did until it arrived comes before what `who` does now."""
        self._reach(1 + max(int(others.max(initial=-1)), int(who.max(initial=-1))))
        met = (others >= 0) & (self.place[others] != NOBODY) & (self.place[others] == self.place[who])
        return met & (self.turn[others] < self.turn[who])

    def loaded(
        self, t: Load, extents: tuple[int, ...], indices: Sequence[Array], lanes: Array | None, instances: Array | None
    ) -> None:
        """An element is read that has a value, and that no other instance writes."""
        if t.view.name not in self.written:
            return
        e = self._of(t.view, extents)
        at, who = _addresses(extents, indices, lanes, instances)
        if not e.known[at].all():
            where = _where(at[~e.known[at]][0], extents)
            raise error("E504", span=_span(t), name=t.view.name, found=f"element {where}")
        if self.ordered:
            return
        self._not_updated(t, e, at, who, extents, "reads")
        writer = e.writer[at]
        other = (writer != NOBODY) & (writer != who)
        other &= e.late[at] | ~self._before(writer, who)
        if other.any():
            said = f"instance {who[other][0]} reads what instance {writer[other][0]} wrote"
            raise _race(t, at[other][0], extents, said)
        before = e.reader[at]
        e.reader[at] = np.where((before == NOBODY) | (before == who), who, MANY)

    def stored(
        self, t: Store, extents: tuple[int, ...], indices: Sequence[Array], value: Array, lanes: Array | None,
        instances: Array | None,
    ) -> None:  # fmt: skip
        """No two lanes write one element, nor an instance what another wrote or read."""
        e = self._of(t.view, extents)
        at, who = _addresses(extents, indices, _with(value, lanes), instances)
        order = np.argsort(at, kind="stable")
        twice = np.flatnonzero(at[order][1:] == at[order][:-1])
        if twice.size:
            one, two = order[twice[0]], order[twice[0] + 1]
            same = who[one] == who[two]
            said = f"two lanes of instance {who[one]}" if same else f"instances {who[one]} and {who[two]}"
            raise _race(t, at[one], extents, f"{said} write it")
        self._not_updated(t, e, at, who, extents, "writes")
        writer = e.writer[at]
        other = (writer != NOBODY) & (writer != who)
        if other.any():
            raise _race(t, at[other][0], extents, f"instances {writer[other][0]} and {who[other][0]} write it")
        reader = e.reader[at]
        other = (reader != NOBODY) & (reader != who) & ~self._before(reader, who)
        if other.any():
            raise _race(t, at[other][0], extents, f"instance {who[other][0]} writes what another one read")
        self._reach(int(who.max(initial=-1)) + 1)
        e.writer[at], e.known[at], e.late[at] = who, True, self.place[who] != NOBODY

    def updated(
        self, t: Update, extents: tuple[int, ...], indices: Sequence[Array], lanes: Array, instances: Array | None
    ) -> None:
        """Lanes and instances may meet in updates, but in no other access."""
        e = self._of(t.view, extents)
        at, who = _addresses(extents, indices, lanes, instances)
        if t.operation != "store" and not e.known[at].all():
            where = _where(at[~e.known[at]][0], extents)
            raise error("E504", span=_span(t), name=t.view.name, found=f"element {where}")
        e.known[at] = True
        if self.ordered:
            return
        for others, what in ((e.writer[at], "writes"), (e.reader[at], "reads")):
            other = (others != NOBODY) & (others != who)
            if other.any():
                said = f"instance {who[other][0]} updates what instance {others[other][0]} {what}"
                raise _race(t, at[other][0], extents, said)
        lowest, highest = (np.full(e.updater.size, start) for start in (np.iinfo(np.int64).max, NOBODY))
        np.minimum.at(lowest, at, who)
        np.maximum.at(highest, at, who)
        one = np.where(lowest == highest, lowest, MANY)[at]
        before = e.updater[at]
        e.updater[at] = np.where((before == NOBODY) | (before == one), one, MANY)
        if t.order == "acq_rel" and not t.over:
            self.arrived(t.view.name, who, at)

    def _not_updated(self, t: Any, e: _Element, at: Array, who: Array, extents: tuple[int, ...], what: str) -> None:
        other = (e.updater[at] != NOBODY) & (e.updater[at] != who)
        if other.any() and t.view.name in self.places:  # whoever arrived last there may
            self._reach(int(who.max(initial=-1)) + 1)
            here = at + self.places[t.view.name]
            last = np.array([self.turns.get(place, 0) for place in here.tolist()], np.int64)
            other &= (self.place[who] != here) | (self.turn[who] != last)
        if other.any():
            raise _race(t, at[other][0], extents, f"instance {who[other][0]} {what} what other ones update")

    def _of(self, view: View, extents: tuple[int, ...]) -> _Element:
        if view.name not in self.elements:
            self.elements[view.name] = _Element(view, int(np.prod(extents, dtype=np.int64)))
        return self.elements[view.name]


def _with(value: Array, lanes: Array | None) -> Array:
    """The lanes of a store, as many as its value has."""
    lanes = np.ones((), np.bool_) if lanes is None else lanes
    return np.broadcast_to(lanes, np.broadcast_shapes(value.shape, lanes.shape))


def _addresses(
    extents: tuple[int, ...], indices: Sequence[Array], lanes: Array | None, instances: Array | None
) -> tuple[Array, Array]:
    """Flat element numbers of the active lanes, and the instance that performs each."""
    arrays = [*indices, *(a for a in (lanes, instances) if a is not None)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    chosen = np.broadcast_to(True if lanes is None else lanes, shape)
    who = np.broadcast_to(0 if instances is None else instances, shape)[chosen]
    if not indices:
        return np.zeros(who.shape, np.int64), who
    if 0 in extents:
        return np.zeros(0, np.int64), who[:0]
    return np.ravel_multi_index(tuple(np.broadcast_to(i, shape)[chosen] for i in indices), extents), who


def _where(flat: Array, extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(flat), extents)) if extents else ()


def _span(t: Any) -> Any:
    return next(iter(arena().spans.get(t, ())), None)


def _race(t: Any, flat: Array, extents: tuple[int, ...], what: str) -> Exception:
    return error("E505", span=_span(t), name=t.view.name, found=f"element {_where(flat, extents)}: {what}")


def padded(t: Load, members: Sequence[Array], valid: Array | None, active: Array | None) -> None:
    """No lane past the end of its axis touches memory, even where its address is inside the view."""
    for member in members:
        wrong = ~member
        for lanes in (valid, active):
            wrong = wrong if lanes is None else wrong & lanes
        if wrong.any():
            raise error("E506", span=_span(t), name=t.view.name, found=brief(t))
