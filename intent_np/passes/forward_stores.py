"""normal -> normal: a load of an element that was just stored is what was stored.

store y[i] = v                              store y[i] = v
store z[i] = load y[i] after that store     store z[i] = v
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import node
from ..terms.core import inherit, replace, walk
from ..terms.index import Const, conjuncts, select
from ..terms.normal import NORMAL, Begin, Load, Program, Recur, Store
from .base import nanopass
from .order_updates import changing


@nanopass(NORMAL, NORMAL)
def forward_stores(program: Program) -> Program:
    """Forward stores to the loads that read exactly their elements.

    Before the program is spread over instances: a dependence that is gone orders nothing.
    Preserves every load's value, and the order of effects.
    """
    before: dict[Any, Any] = {}  # what comes last among what stores into the same view before each store
    order = _order(program.effects, {}, before)
    done: dict[Any, Any] = {}
    for t in walk(*order):
        done[t] = inherit(t, node(t.rebuild(done)))  # type: ignore[attr-defined]
        if isinstance(t, Load):
            done[t] = inherit(t, _forward(t, before, done))
    return replace(program, effects=tuple(done[e] for e in program.effects))  # type: ignore[no-any-return]


def _order(effects: tuple[Any, ...], last: dict[Any, Any], before: dict[Any, Any]) -> list[Any]:
    """These effects in order, those of loops before the loops; fills `before`.  `last` is what stored into each view up
    to them."""
    order: list[Any] = []
    for e in effects:
        if isinstance(e, Recur):
            stored = {t.view for t in changing(*e.effects)}
            order += _order(e.effects, last | dict.fromkeys(stored, Begin(e.turn)), before)
            last |= dict.fromkeys(stored, e)
        else:
            before[e], last[e.view] = last.get(e.view), e
        order.append(e)
    return order


def _forward(load: Load, before: dict[Any, Any], done: dict[Any, Any]) -> Any:
    """What a load gives, told from the stores at its own address; those under a condition leave what was there."""
    t, stores, after = done[load], [], load.after
    asked = set(conjuncts(t.valid))
    while isinstance(after, Store) and done[after].index == t.index:
        stores.append(done[after])
        if asked.issuperset(conjuncts(stores[-1].valid)):  # whoever asks has stored
            break
        after = before[after]
    else:
        if not t.needs <= frozenset().union(*(s.needs for s in stores)):
            return t  # what was there would have to be read in front of a loop that only stands behind the store
        t = replace(t, after=None if after is None else done[after])
    if stores and asked.issuperset(conjuncts(stores[-1].valid)):
        t = stores.pop().value
    for s in reversed(stores):
        t = s.value if s.valid is None else node(select(s.valid, s.value, t))
    guarded = t is not done[load] and done[load].valid is not None
    return node(select(done[load].valid, t, Const(load.fill, load.type))) if guarded else t  # type: ignore[arg-type]
