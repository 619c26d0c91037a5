"""Which statements belong together, and over which axes their instances are spread.

Statements that depend on each other form a cluster.  An axis spreads a cluster where each dependence stays inside one
of its members.  Clusters that read the same values join where their axes agree; all others run beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..terms.core import find, once
from ..terms.grouped import Group, Sync
from ..terms.normal import Axis, Load, Store, Update
from ..terms.ordered import evaluated
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
    for cluster in _clusters(effects, between, used, {}):
        into = next((g for g in formed if g.takes(cluster)), None)
        if into is None:
            formed.append(cluster)
        else:
            into.join(cluster)
    return tuple(Group(g.workset, tuple(_ordered(effects, g.performed)), g.serial) for g in formed)


class _Cluster:
    """Effects by position, and what is known of them together."""

    def __init__(
        self,
        effects: Sequence[Any],
        members: list[int],
        between: Iterable[Dependence],
        used: Sequence[Sequence[int]],
        known: dict[int, tuple[Axis, ...]],
    ) -> None:
        self.effects, self.members, self.used, self.known = effects, members, used, known
        self.along = [d.along for d in between if d.along is not None and d.first in members]
        self.reads = {t for t in evaluated(*(effects[i] for i in self.performed)) if isinstance(t, Load)}
        self.workset = self._workset(members)
        alone = any(self._eligible(i) for i in members)
        self.serial = bool(self.along) and not self.workset and alone

    @property
    def performed(self) -> list[int]:
        """The members, and the loops whose results they need."""
        return sorted({k for i in self.members for k in (i, *self.used[i])})

    def _workset(self, members: Iterable[int]) -> tuple[Axis, ...]:
        first, *others = (self._eligible(i) for i in members)
        for own in others:
            first = tuple(a for a in first if a in own)
        return tuple(a for a in first if all(a in own for own in self.along))

    def _eligible(self, i: int) -> tuple[Axis, ...]:
        """The axes that one member could be spread over if nothing ordered its points."""
        if i not in self.known:
            self.known[i] = program_axes((self.effects[i], *(self.effects[k] for k in self.used[i])))
        return self.known[i]

    def takes(self, other: _Cluster) -> bool:
        """Whether one group does the work of both no worse than two."""
        if self.serial or other.serial:
            return False
        both = self._workset(sorted((*self.members, *other.members)))
        if not all(a in own for own in other.along for a in both):
            return False
        if set(both) == set(self.workset) == set(other.workset) and both:
            return True
        return bool(self.reads & other.reads) and bool(both or not (self.workset or other.workset))

    def join(self, other: _Cluster) -> None:
        self.members = sorted((*self.members, *other.members))
        self.along += other.along
        self.reads |= other.reads
        self.workset = self._workset(self.members)


def _clusters(
    effects: Sequence[Any],
    between: Iterable[Dependence],
    used: Sequence[Sequence[int]],
    known: dict[int, tuple[Axis, ...]],
) -> list[_Cluster]:
    """The connected components of the dependences; `known` keeps the axes of each effect."""
    between = list(between)
    root = list(range(len(effects)))

    def find_root(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for d in between:
        low, high = sorted((find_root(d.first), find_root(d.second)))
        root[high] = low
    members: dict[int, list[int]] = {}
    for i, e in enumerate(effects):
        if changes(e):
            members.setdefault(find_root(i), []).append(i)
    return [_Cluster(effects, found, between, used, known) for found in members.values()]


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
