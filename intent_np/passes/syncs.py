"""Where a sync has to stand: what a load must see is stored before it, and two stores to one element keep their order.

store y[i] = v                              store y[i] = v
store z[i] = load y[0] after that store     sync 1
                                            store z[i] = load y[0] after sync 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from ..terms.core import inherit, replace, walk
from ..terms.grouped import Sync
from ..terms.normal import Load, Store, Update
from .dependences import disjoint
from .order_updates import conflict, evaluated

Cut = tuple[int, int]  # (after, at most): an effect that a sync must follow, and one that it must not follow


def synced(effects: Sequence[Any]) -> tuple[Any, ...]:
    """The effects with as few syncs between them as will do; a load reads after one, or what the launch found."""
    effects = tuple(effects)
    place = {e: i for i, e in enumerate(effects)}
    written: dict[Any, list[int]] = {}
    for i, e in enumerate(effects):
        written.setdefault(e.view, []).append(i)

    def overwritten(t: Load) -> int:
        """The first effect that stores into the view behind what the load must see."""
        return min((i for i in written[t.view] if i > place[t.after]), default=len(effects))

    needed: list[Cut] = []
    for j, e in enumerate(effects):
        seen_after = (t for t in evaluated(e) if isinstance(t, Load) and t.after is not None)
        needed += [(place[t.after], min(overwritten(t), j)) for t in seen_after]
    for stores in written.values():
        pairs = ((i, j) for i, j in combinations(stores, 2) if meet_again(effects[i], effects[j]))
        needed += pairs
    syncs = {at: Sync(number) for number, at in enumerate(_cuts(needed), 1)}

    done: dict[Any, Any] = {}
    for t in walk(*effects):
        done[t] = inherit(t, t.rebuild(done))  # type: ignore[attr-defined]
        if isinstance(t, Load) and t.after is not None:
            first = next(at for at in syncs if place[t.after] < at <= overwritten(t))
            done[t] = inherit(t, replace(done[t], after=syncs[first]))
    out: list[Any] = []
    for i, e in enumerate(effects):
        out += [syncs[i], done[e]] if i in syncs else [done[e]]
    return tuple(out)


def meet_again(s: Store, t: Store) -> bool:
    """Whether two stores may be to one element, without being to the very same ones lane by lane."""
    if isinstance(s, Update) or isinstance(t, Update):
        return conflict(s, t)
    return s.view is t.view and s.index != t.index and not disjoint(s, t)


def _cuts(needed: Iterable[Cut]) -> list[int]:
    """The fewest places that serve all needs, by their last possible place."""
    cuts: list[int] = []
    for after, at in sorted(needed, key=lambda c: c[1]):
        if not cuts or cuts[-1] <= after:
            cuts.append(at)
    return cuts
