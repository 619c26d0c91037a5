"""Where a sync has to stand: what a load must see is stored before it, and two stores to one element keep their order.

store y[i] = v                              store y[i] = v
store z[i] = load y[0] after that store     sync 1
                                            store z[i] = load y[0] after sync 1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ..terms.core import find, inherit, replace, walk
from ..terms.grouped import Sync
from ..terms.normal import Load
from .dependences import disjoint

Cut = tuple[int, int]  # (after, at most): an effect that a sync must follow, and one that it must not follow


def synced(effects: Sequence[Any]) -> tuple[Any, ...]:
    """The effects with as few syncs between them as will do; a load reads after one, or what the launch found."""
    effects = tuple(effects)
    syncs = {at: Sync(number) for number, at in enumerate(_cuts(effects), 1)}
    return tuple(_placed(effects, syncs))


def _cuts(effects: tuple[Any, ...]) -> list[int]:
    """The effects that a sync must stand before: as few as serve every load and every two stores to one element."""
    needed: list[Cut] = []
    written: dict[Any, list[int]] = {}
    for i, e in enumerate(effects):
        written.setdefault(e.view, []).append(i)
    for j, e in enumerate(effects):
        for t in find(e, Load):
            if t.after is not None:
                seen = effects.index(t.after)
                needed.append((seen, min([i for i in written[t.view] if i > seen] + [j])))
    for stores in written.values():
        needed += [
            (i, j) for i, j in combinations(stores, 2)
            if effects[i].index != effects[j].index and not disjoint(effects[i], effects[j])
        ]  # fmt: skip
    cuts: list[int] = []
    for after, at in sorted(needed, key=lambda c: c[1]):
        if not cuts or cuts[-1] <= after:
            cuts.append(at)
    return cuts


def _placed(effects: tuple[Any, ...], syncs: dict[int, Sync]) -> list[Any]:
    """The effects with syncs between them; each load reads after the last sync that it may."""
    place = {e: i for i, e in enumerate(effects)}
    written: dict[Any, list[int]] = {}
    for e, i in place.items():
        written.setdefault(e.view, []).append(i)
    done: dict[Any, Any] = {}
    for t in walk(*effects):
        done[t] = inherit(t, t.rebuild(done))  # type: ignore[attr-defined]
        if isinstance(t, Load) and t.after is not None:
            seen = place[t.after]
            overwritten = min([i for i in written[t.view] if i > seen], default=len(effects))
            first = next(at for at in syncs if seen < at <= overwritten)
            done[t] = inherit(t, replace(done[t], after=syncs[first]))
    out: list[Any] = []
    for e, i in place.items():
        out += [syncs[i]] if i in syncs else []
        out.append(done[e])
    return out
