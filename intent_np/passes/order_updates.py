"""What orders updates: those that show in which order they are, stores and loads of their view, and who uses what they
found.

Used by `form_groups`; `dependences` knows the order of stores and loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..terms.core import Term, children
from ..terms.normal import Load, Store
from ..terms.updates import Found, Update, ordered
from .dependences import Dependence, disjoint, injective
from .dependences import _own as own_elements


def evaluated(*roots: Any) -> list[Any]:
    """What performing effects evaluates: all below them, but not the earlier effects that loads and found values
    name."""
    seen: dict[Term, None] = {}
    stack: list[Any] = list(reversed(roots))
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen[t] = None
        if not isinstance(t, Found):
            stack.extend(c for c in reversed(children(t)) if not (isinstance(t, Load) and c is t.after))
    return list(seen)


def changing(*roots: Any) -> list[Any]:
    """The stores and updates that these effects perform."""
    return [t for t in evaluated(*roots) if isinstance(t, (Store, Update))]


def update_dependences(effects: Sequence[Any]) -> Iterator[Dependence]:
    """The dependences in which an update takes part."""
    inside = [evaluated(e) for e in effects]
    place = {e: i for i, e in enumerate(effects)}
    for i, e in enumerate(effects):
        for t in inside[i]:
            if isinstance(t, Found):
                yield Dependence(place[t.update], i, frozenset(t.update.over))
            for k in (place[u] for u in effects if isinstance(u, Update) and isinstance(t, Load)):
                if t.view is effects[k].view and not disjoint(effects[k], t):
                    yield Dependence(min(i, k), max(i, k), _points(effects[k], t))
            if isinstance(e, Update) and isinstance(t, Load):
                for k, s in enumerate(effects):
                    if isinstance(s, Store) and s.view is t.view and not disjoint(s, t):
                        yield Dependence(min(i, k), max(i, k), own_elements(s.index, t.index))
        for k in range(i):
            other = effects[k]
            if isinstance(e, Update) or isinstance(other, Update):
                if conflict(other, e):
                    yield Dependence(k, i, _points(other, e))


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
    own: set[Any] = {x for p, q in zip(a.index, b.index, strict=True) if p is q for x in injective(p)}
    if isinstance(a, Update) and isinstance(b, Update) and a.within and b.within and a.within[0] == b.within[0]:
        own.update(a.over[: a.within[1]])
    return frozenset(own)
