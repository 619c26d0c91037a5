"""What orders updates: those that show in which order they are, stores and loads of their view, and who uses what they
found.

Used by `form_groups`; `dependences` knows the order of stores and loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..terms.normal import Load, Recur, Store
from ..terms.ordered import evaluated
from ..terms.updates import Found, Update, fenced, ordered
from .dependences import Dependence, disjoint, injective, loops_used

COMMUTING = ("add", "and", "or", "xor", "max", "min")
"""What integers may have done to them in any order."""


def changing(*roots: Any) -> list[Any]:
    """The stores and updates that these effects perform."""
    return [t for t in evaluated(*roots) if isinstance(t, (Store, Update))]


def update_dependences(effects: Sequence[Any]) -> Iterator[Dependence]:
    """The dependences in which an update takes part.  One of an ordered loop has those of its iterations, too."""
    used = loops_used(effects)
    inside = [evaluated(e, *(effects[k] for k in used[i])) for i, e in enumerate(effects)]
    own = [changing(e) for e in effects]
    updates = [any(isinstance(t, Update) for t in changed) for changed in own]
    place = {t: i for i, changed in enumerate(own) for t in changed if isinstance(t, Update)}
    asked = {t.update for terms in inside for t in terms if isinstance(t, Found)}
    for i, e in enumerate(effects):
        for t in inside[i]:
            if isinstance(t, Found) and place[t.update] != i:
                yield Dependence(place[t.update], i, frozenset(t.update.over))
            for u, k in place.items():
                if isinstance(t, Load) and t.view is u.view and not disjoint(u, t):
                    yield Dependence(min(i, k), max(i, k), _points(u, t))
        for k in range(i + isinstance(e, Recur)):
            for a, b in ((a, b) for a in own[k] for b in own[i]) if updates[k] or updates[i] else ():
                if isinstance(a, Update) or isinstance(b, Update):
                    if fenced(a, b) or conflict(a, b) and not (_commute(a, b) and not asked & {a, b}):
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
