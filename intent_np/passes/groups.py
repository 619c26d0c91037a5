"""Which statements belong together, and over which axes their instances are spread.

Statements that depend on each other form a cluster.  An axis spreads a cluster where each dependence stays inside one
of its members.  Clusters that read the same values join where their axes agree; all others run beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..terms.core import find, once
from ..terms.grouped import Group, Sync
from ..terms.normal import Axis, Load, Store, Update
from ..terms.ordered import loads
from .dependences import Dependence, changes, dependences, loops_used
from .order_updates import update_dependences
from .roles import program_axes
from .syncs import meet_again, synced


def groups(effects: Sequence[Any]) -> tuple[Group, ...]:
    """The execution groups of these effects, in the order of their first statements."""
    return _formed(tuple(effects))


@once
def _formed(unsynced: tuple[Any, ...]) -> tuple[Group, ...]:
    effects = synced(unsynced)
    between = [*dependences(effects), *update_dependences(effects)]
    formed: list[_Cluster] = []
    used = loops_used(effects)
    for cluster in _clusters(effects, between, used):
        into = next((g for g in formed if g.takes(cluster)), None)
        if into is None:
            formed.append(cluster)
        else:
            into.join(cluster)
    return tuple(Group(g.workset, tuple(_ordered(effects, g.performed)), g.serial) for g in formed)


class _Cluster:
    """Effects by position, and what is known of them together.

    axes:   those that each member could be spread over if nothing ordered its points, as the first member has them
    along:  those of each dependence whose every member has accesses of its own
    """

    def __init__(
        self,
        effects: Sequence[Any],
        members: list[int],
        along: set[frozenset[Any]],
        used: Sequence[Sequence[int]],
    ) -> None:
        self.members, self.along, self.used, self.first = members, along, used, members[0]
        self.reads = set(loads(*(effects[i] for i in self.performed)))
        eligible = [program_axes(tuple(effects[k] for k in (i, *used[i]))) for i in members]
        self.axes = _shared(eligible)
        self.workset = _inside(self.axes, along)
        self.serial = bool(along) and not self.workset and any(eligible)

    @property
    def performed(self) -> list[int]:
        """The members, and the loops whose results they need."""
        return sorted({k for i in self.members for k in (i, *self.used[i])})

    def takes(self, other: _Cluster) -> bool:
        """Whether one group does the work of both no worse than two."""
        if self.serial or other.serial:
            return False
        both = _inside(self._axes_with(other), self.along)
        if both != _inside(both, other.along):
            return False
        if set(both) == set(self.workset) == set(other.workset) and both:
            return True
        return bool(both or not (self.workset or other.workset)) and not self.reads.isdisjoint(other.reads)

    def join(self, other: _Cluster) -> None:
        self.axes = self._axes_with(other)
        self.first = min(self.first, other.first)
        self.members += other.members
        self.along |= other.along
        self.reads |= other.reads
        self.workset = _inside(self.axes, self.along)

    def _axes_with(self, other: _Cluster) -> tuple[Axis, ...]:
        return _shared([self.axes, other.axes] if self.first < other.first else [other.axes, self.axes])


def _shared(axes: Sequence[tuple[Axis, ...]]) -> tuple[Axis, ...]:
    """The axes that all have, in the order of the first."""
    first, *others = axes
    every = frozenset(first).intersection(*others)
    return tuple(a for a in first if a in every)


def _inside(axes: tuple[Axis, ...], along: set[frozenset[Any]]) -> tuple[Axis, ...]:
    """The axes along which every dependence stays inside of one member."""
    return tuple(a for a in axes if all(a in own for own in along))


def _clusters(effects: Sequence[Any], between: Sequence[Dependence], used: Sequence[Sequence[int]]) -> list[_Cluster]:
    """The connected components of the dependences."""
    root = list(range(len(effects)))

    def find_root(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for d in between:
        low, high = sorted((find_root(d.first), find_root(d.second)))
        root[high] = low
    acting = dict.fromkeys(i for i, e in enumerate(effects) if changes(e))
    members: dict[int, list[int]] = {}
    for i in acting:
        members.setdefault(find_root(i), []).append(i)
    along: dict[int, set[frozenset[Any]]] = {top: set() for top in members}
    for d in between:
        if d.along is not None and d.first in acting:
            along[find_root(d.first)].add(d.along)
    return [_Cluster(effects, found, along[top], used) for top, found in members.items()]


def _ordered(effects: Sequence[Any], members: Sequence[int]) -> list[Any]:
    """The members in order, with the syncs between them that they need."""
    out: list[Any] = []
    awaited = {t.after for t in find([effects[i] for i in members], Load)}
    before: list[Any] = []
    last = -1
    for i in members:
        between = [e for e in effects[last + 1 : i] if isinstance(e, Sync)]
        needed = [e for e in between if e in awaited]
        if between and not needed and any(meet_again(s, t) for s in before for t in find(effects[i], (Store, Update))):
            needed = between[-1:]
        out += needed
        before += find(effects[i], (Store, Update))
        out.append(effects[i])
        last = i
    return out
