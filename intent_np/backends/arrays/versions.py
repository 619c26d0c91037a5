"""Loads that read a view as it was before a later effect wrote it.

Effects happen in order, and a load names the effect after which it reads.  A machine computes a load where its value is
used, which may be behind a store that the load must not see; it is then performed, or the view copied, before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...terms.core import Term, children
from ...terms.normal import Begin, Effect, Found, Load, Recur, Store, Update


def performed(effect: Term) -> list[Term]:
    """Every term that performing an effect computes: its subterms, without the earlier effects that loads and found
    values name."""
    seen: dict[Term, None] = {}
    stack = [effect]
    while stack:
        t = stack.pop()
        if t not in seen:
            seen[t] = None
            stack.extend(c for c in children(t) if not (isinstance(t, (Load, Found)) and isinstance(c, Effect)))
    return list(seen)


def planned(
    effects: Sequence[Any], overlap: Callable[[str, str], bool], *, own: bool, behind: Sequence[Term] = ()
) -> list[list[Load]]:
    """For each effect the loads to perform before it, or whose views to copy: they are used by a later effect, by a
    value `behind` them all, or (with `own`, and in an ordered loop) by this very one, and must not see what it
    stores."""
    terms = [performed(e) for e in effects]
    stored = [{t.view.name for t in inside if isinstance(t, (Store, Update))} for inside in terms]
    place: dict[Any, int] = {None: -1}
    for k, inside in enumerate(terms):
        place.update((t, k) for t in inside if isinstance(t, Effect))
        place.update((Begin(t.turn), k) for t in inside if isinstance(t, Recur))
    terms.append([t for v in behind for t in performed(v)])
    plan: list[dict[Load, None]] = [{} for _ in effects]
    for user, inside in enumerate(terms):
        itself = user < len(effects) and (own or isinstance(effects[user], Recur))
        for t in inside:
            if isinstance(t, Load):
                # an effect that is none of these came before them all
                for k in range(place.get(t.after, -1) + 1, user + itself):
                    if any(overlap(t.view.name, s) for s in stored[k]):
                        plan[k][t] = None
                        break
    return [list(p) for p in plan]
