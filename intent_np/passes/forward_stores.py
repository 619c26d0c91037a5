"""normal -> normal: a load of an element that was just stored is what was stored.

store y[i] = v                              store y[i] = v
store z[i] = load y[i] after that store     store z[i] = v
"""

from __future__ import annotations

from typing import Any

from ..rules.bounds import end
from ..rules.facts import at_most
from ..rules.simplify import node, substitute
from ..terms.core import contains, inherit, replace, walk
from ..terms.index import Cast, Const, Value, add, conjuncts, const, select
from ..terms.normal import NORMAL, Axis, Begin, Carry, Coord, Final, Found, Load, Program, Recur, Store, View
from ..terms.ordered import evaluated, loads
from .base import nanopass
from .dependences import changing, disjoint
from .roles import STRUCTURED


@nanopass(NORMAL, NORMAL)
def forward_stores(program: Program) -> Program:
    """Forward stores to the loads that read exactly their elements; those of a buffer also to loads of one of many.

    Before the program is spread over instances: a dependence that is gone orders nothing.
    Preserves every load's value, and the order of effects.
    """
    before: dict[Any, Any] = {}  # what comes last among what stores into the same view before each store
    order = _order(program.effects, {}, before)
    changed = {t.view for t in changing(*program.effects)}
    done: dict[Any, Any] = {}
    for t in walk(*order):
        done[t] = inherit(t, node(t.rebuild(done)))  # type: ignore[attr-defined]
        if isinstance(t, Load) and isinstance(done[t], Load):  # one whose condition has become false is its fill
            done[t] = inherit(t, _forward(t, before, done, changed))
    return replace(program, effects=tuple(done[e] for e in program.effects))  # type: ignore[no-any-return]


def _order(effects: tuple[Any, ...], last: dict[Any, Any], before: dict[Any, Any]) -> list[Any]:
    """These effects in order, those of loops before the loops; fills `before`.  `last` is what stored into each view up
    to them."""
    order: list[Any] = []
    for e in effects:
        if isinstance(e, Recur):
            stored, begin = {t.view for t in changing(*e.effects)}, Begin(e.turn)
            order += [begin, *_order(e.effects, last | dict.fromkeys(stored, begin), before)]
            last |= dict.fromkeys(stored, e)
        else:
            before[e], last[e.view] = last.get(e.view), e
        order.append(e)
    return order


def _forward(load: Load, before: dict[Any, Any], done: dict[Any, Any], changed: set[View]) -> Any:
    """What a load gives, told from the stores that may be to its element; those under a condition leave what was there,
    and those that are to other elements do not count."""
    t, after = done[load], load.after
    asked, certain = set(conjuncts(t.valid)), False
    found: list[tuple[Any, Any]] = []
    needs: frozenset[Any] = frozenset()
    rest = after  # what is read after in front of the stores that were found
    while isinstance(after, Store) and not certain:
        if (stored := _stored(done[after], t, changed)) is not None:
            found.append(stored)
            needs |= done[after].needs
            rest = before[after]
            certain = asked.issuperset(conjuncts(stored[1]))  # whoever asks has stored
        elif not disjoint(done[after], t):
            break
        after = before[after]
    if certain:
        t = found.pop()[0]
    elif not found or not t.needs <= needs:
        return t  # what was there would have to be read in front of a loop that only stands behind the store
    else:
        t = replace(t, after=None if rest is None else done[rest])
    for value, valid in reversed(found):
        t = value if valid is None else node(select(valid, value, t))
    return t if done[load].valid is None else node(select(done[load].valid, t, const(load.fill, load.type)))  # type: ignore[arg-type]


def _stored(s: Store, t: Load, changed: set[View]) -> tuple[Any, Any] | None:
    """What a store gives the element of a load, and where; None if it is not known to give it anything, or if computing
    it again, where the load stands, is not the better way."""
    if s.index != t.index and s.view.mode != "workspace":
        return None
    if s.view.mode == "workspace" and any(x.view in changed for x in loads(s.value)):
        return None  # it was put there to be kept while its sources change
    if contains(s.value, Found) and any(isinstance(x, Found) and x.lanes for x in evaluated(s.value)):
        return None  # the points of the load may be others
    if s.index == t.index:
        return s.value, s.valid
    here = _members(s.index, t.index)
    if here is None or not all(_again(x, here) for x in (s.value, s.valid) if x is not None):
        return None
    value, valid = (None if x is None else substitute(x, here, everywhere=True) for x in (s.value, s.valid))
    return value, valid


def _members(stored: tuple[Value, ...], loaded: tuple[Value, ...]) -> dict[Value, Value] | None:
    """The members of the axes of a store at which it is to the element that is loaded; None where it may not be."""
    here: dict[Value, Value] = {}
    for p, q in zip(stored, loaded, strict=True):
        if p is q:
            continue
        if not isinstance(p, Coord) or not isinstance(p.axis, Axis) or p in here:
            return None
        if not (at_most(p.axis.lo, end(q, last=False)) and at_most(add(end(q, last=True), const(1)), p.axis.hi)):
            return None
        here[p] = q
    lanes = frozenset().union(*(p.lanes for p, q in zip(stored, loaded, strict=True) if p is q))
    return None if any(p.axis in lanes for p in here) else here  # type: ignore[attr-defined]


def _again(v: Value, here: dict[Value, Value]) -> bool:
    """Whether a value may be computed once more at other members: a number or a load costs no more than a buffer, and
    anything without a loop is cheap enough for a single element."""
    while isinstance(v, Cast):
        v = v.value
    if isinstance(v, Const) or isinstance(v, Load) and v.valid is None:
        return True
    return not any(q.lanes or q.needs for q in here.values()) and not contains(v, *STRUCTURED, Carry, Final, Found)
