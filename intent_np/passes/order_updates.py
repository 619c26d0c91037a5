"""What orders updates: those that show in which order they are, stores and loads of their view, and who uses what they
found.

Used by `form_groups`; `dependences` knows the order of stores and loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..terms.normal import Load, Store
from ..terms.ordered import evaluated
from ..terms.updates import Found, Update, ordered
from .dependences import Dependence, disjoint, injective, loops_used
from .dependences import _own as own_elements


def changing(*roots: Any) -> list[Any]:
    """The stores and updates that these effects perform."""
    return [t for t in evaluated(*roots) if isinstance(t, (Store, Update))]


def update_dependences(effects: Sequence[Any]) -> Iterator[Dependence]:
    """The dependences in which an update takes part."""
    used = loops_used(effects)
    inside = [evaluated(e, *(effects[k] for k in used[i])) for i, e in enumerate(effects)]
    place = {e: i for i, e in enumerate(effects)}
    for i, e in enumerate(effects):
        for t in inside[i]:
            if isinstance(t, Found):
                yield Dependence(place[t.update], i, frozenset(t.update.over))
            for k in (place[u] for u in effects if isinstance(u, Update) and isinstance(t, Load)):
                if t.view is effects[k].view and not disjoint(effects[k], t):
                    yield Dependence(min(i, k), max(i, k), _points(effects[k], t))
            if isinstance(e, Update) and isinstance(t, Load):
                for k, s in ((k, s) for k, other in enumerate(effects) for s in changing(other)):
                    if isinstance(s, Store) and s.view is t.view and not disjoint(s, t):
                        yield Dependence(min(i, k), max(i, k), own_elements(s.index, t.index))
        for k in range(i):
            pairs = ((a, b) for a in changing(effects[k]) for b in changing(e))
            for a, b in pairs:
                if (isinstance(a, Update) or isinstance(b, Update)) and conflict(a, b):
                    yield Dependence(k, i, _points(a, b))


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
    own: set[Any] = {x for p, q in zip(a.index, b.index, strict=True) if p is q and not p.needs for x in injective(p)}
    if isinstance(a, Update) and isinstance(b, Update) and a.within and b.within and a.within[0] == b.within[0]:
        own.update(a.over[: a.within[1]])
    return frozenset(own)
