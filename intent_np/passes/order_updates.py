"""What orders updates: those that show in which order they are, stores and loads of their view, and who uses what they
found.

Used by `form_groups`; `dependences` knows the order of stores and loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..terms.core import contains
from ..terms.normal import Recur, Store
from ..terms.ordered import evaluated, loads
from ..terms.updates import ACQUIRING, RELEASING, Found, Update, fenced, ordered
from .dependences import Dependence, Near, alike, changing, disjoint, injective, loops_used, meeting

COMMUTING = ("add", "and", "or", "xor", "max", "min")
"""What integers may have done to them in any order."""


class Changes(Near):
    """Stores and updates with their positions: near to one are those that may be to its element, and those that memory
    orders may fence off from it."""

    def __init__(self, changed: Iterable[tuple[int, Any]]) -> None:
        changed = list(changed)
        super().__init__(changed)
        self.updates = [(i, t) for i, t in changed if isinstance(t, Update)]
        self.acquiring = [(i, t) for i, t in self.updates if t.order in ACQUIRING]

    def of(self, t: Any) -> Iterable[tuple[int, Any]]:
        if not isinstance(t, Update):
            return super().of(t)
        return dict.fromkeys((*super().of(t), *(self.updates if t.order in RELEASING else self.acquiring)))


def update_dependences(effects: Sequence[Any]) -> Iterator[Dependence]:
    """The dependences in which an update takes part.  One of an ordered loop has those of its iterations, too."""
    own = [changing(e) for e in effects]
    changed = [(i, t) for i, terms in enumerate(own) for t in terms]
    place = {t: i for i, t in changed if isinstance(t, Update)}
    if not place:
        return
    used = loops_used(effects)
    performed = [(e, *(effects[k] for k in used[i])) for i, e in enumerate(effects)]
    asked: set[Update] = set()
    for i, those in enumerate(performed):
        for t in evaluated(*those) if any(contains(e, Found) for e in those) else ():
            if isinstance(t, Found):
                asked.add(t.update)
                if place[t.update] != i:
                    yield Dependence(place[t.update], i, frozenset(t.update.over))
    kinds = alike(changed, asked)
    near = Changes((n, t) for n, (_, t) in enumerate(kinds))
    updates = Near(near.updates)
    for here, t in alike((i, t) for i, those in enumerate(performed) for t in loads(*those)):
        for n, u in updates.of(t):
            if not disjoint(u, t):
                for pair in meeting(here, kinds[n][0], True, ()):
                    yield Dependence(min(pair), max(pair), _points(u, t))
    recurring = {i for i, e in enumerate(effects) if isinstance(e, Recur)}
    for here, b in kinds:
        for n, a in near.of(b):
            if isinstance(a, Update) or isinstance(b, Update):
                free = _commute(a, b) and not asked & {a, b}
                if fenced(a, b) or not free and conflict(a, b):
                    for i, k in meeting(here, kinds[n][0], False, recurring):
                        yield Dependence(k, i, _points(a, b))


def _commute(a: Any, b: Any) -> bool:
    """Whether two updates leave the same in either order; what they find may differ."""
    same = isinstance(a, Update) and isinstance(b, Update) and a.operation == b.operation
    return same and (a.operation == "load" or a.operation in COMMUTING and a.view.dtype.is_integer)


def conflict(a: Any, b: Any) -> bool:
    """Whether two effects, one of them an update, may meet at an element so that their order shows."""
    if not isinstance(a, (Store, Update)) or not isinstance(b, (Store, Update)) or a.view is not b.view:
        return False
    if isinstance(a, Update) and isinstance(b, Update) and not ordered(a, b):
        return False
    return not disjoint(a, b)


def _points(a: Any, b: Any) -> frozenset[Any]:
    """The axes whose every member has accesses of its own: those of a coordinate that both have; and the points of one
    `parallel`, which have no order."""
    places = zip(a.index, b.index, strict=True) if a.view is b.view else ()
    own: set[Any] = {x for p, q in places if p is q and not p.needs for x in injective(p)}
    if isinstance(a, Update) and isinstance(b, Update) and a.within and b.within and a.within[0] == b.within[0]:
        own.update(a.over[: a.within[1]])
    return frozenset(own)
