"""Which statements wait for which: proofs that two accesses of one view never meet, or meet in one instance only."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from heapq import merge
from math import gcd
from operator import itemgetter
from typing import Any, NamedTuple

from ..rules.affine import affine
from ..rules.bounds import end
from ..rules.facts import less
from ..rules.simplify import node, substitute
from ..terms.core import contains, once, walk
from ..terms.index import Const, Value, apply, conjuncts, is_const
from ..terms.normal import Axis, Coord, Final, Load, Recur, Store, Update
from ..terms.ordered import asked_for, evaluated, loads


class Dependence(NamedTuple):
    """Two effects, by position, that access a view that one of them stores into.

    along:  the axes whose every member has accesses of its own, so that instances of one member each keep the order;
            None stands for all, where both access the very same element
    """

    first: int
    second: int
    along: frozenset[Any] | None


def dependences(effects: Sequence[Any]) -> list[Dependence]:
    """What orders these effects.  One that stores, with loads of its own view, depends on itself, and so does a loop
    that may store to one element twice.  Stores at one index of outputs that may be one array keep their order."""
    found = []
    used = loops_used(effects)
    performed = [(e, *(effects[k] for k in used[i])) for i, e in enumerate(effects)]
    acts = [changes(e) for e in effects]
    accesses: list[tuple[int, Any]] = []
    for i, e in enumerate(effects):
        accesses += [(i, t) for t in changing(e) if isinstance(t, Store)]
        accesses += [(i, t) for t in (loads(*performed[i]) if acts[i] else ())]
    recurring = {i for i, e in enumerate(effects) if isinstance(e, Recur)}
    kinds = alike(accesses)
    near = Near((n, t) for n, (_, t) in enumerate(kinds))
    for here, s in kinds:
        for n, other in near.of(s) if isinstance(s, Store) else ():
            pairs = meeting(here, kinds[n][0], isinstance(other, Load), recurring)
            if pairs and not disjoint(s, other):
                along = _own(s.index, other.index)
                found += [Dependence(min(pair), max(pair), along) for pair in pairs]
    written: dict[Any, dict[Any, list[int]]] = {}
    for here, s in kinds:
        if isinstance(s, Store):
            written.setdefault(s.view, {}).setdefault(s.index, []).extend(here)
    for view, places in written.items():
        for other in (v for v in written if v.name in view.same):
            for index in places.keys() & written[other].keys():
                pairs = meeting(sorted(places[index]), sorted(written[other][index]), False, ())
                found += [Dependence(k, i, None) for i, k in pairs]
    last = {e.turn: k for k, e in enumerate(effects) if isinstance(e, Recur) and acts[k]}
    for i, those in enumerate(performed):
        if acts[i] and any(contains(e, Final) for e in those):
            finals = (t for t in evaluated(*those) if isinstance(t, Final))
            results = dict.fromkeys(last[t.turn] for t in finals if t.turn in last)
            found += [Dependence(k, i, None) for k in results if k != i]
    return found


def alike(accesses: Iterable[tuple[int, Any]], asked: Container[Any] = ()) -> list[tuple[list[int], Any]]:
    """Accesses with their positions, those together that nothing here tells apart: to one place under one condition
    and, of updates, of one kind, all `asked` for what they find or none.  One stands for all."""
    found: dict[Any, tuple[list[int], Any]] = {}
    for i, t in accesses:
        key: tuple[Any, ...] = type(t), t.view, t.index, t.valid
        if isinstance(t, Update):
            key += t.operation, t.operands[1:], t.over, t.combine, t.order, t.within, t in asked
        found.setdefault(key, ([], t))[0].append(i)
    return list(found.values())


def meeting(
    here: Sequence[int], there: Sequence[int], any_order: bool, recurring: Container[int]
) -> list[tuple[int, int]]:
    """Some of the pairs of a position here and one there that is before it, or anywhere in `any_order`; it is the same
    one in a loop.  As few as there are positions, and what they connect is all that all pairs connect."""
    if any_order:
        return [*((here[0], k) for k in there), *((i, there[0]) for i in here)]
    pairs = [*((i, there[0]) for i in here if there[0] < i), *((here[-1], k) for k in there if k < here[-1])]
    return [*pairs, *((i, i) for i in set(here).intersection(there) if i in recurring)]


class Near:
    """Accesses with their positions, by what keeps most of them apart at a glance: one dimension of each view in which
    the place is a number.  A program of many accesses is no matter of all its pairs then."""

    def __init__(self, accesses: Iterable[tuple[int, Any]]) -> None:
        self.all: dict[Any, list[tuple[int, Any]]] = {}
        for i, t in accesses:
            self.all.setdefault(t.view, []).append((i, t))
        self.dimension = {view: _numbered(found) for view, found in self.all.items()}
        self.places: dict[Any, list[tuple[int, Any]]] = {}
        for view, found in self.all.items():
            for i, t in found:
                self.places.setdefault((view, self._number(t)), []).append((i, t))

    def of(self, t: Any) -> Iterable[tuple[int, Any]]:
        """The accesses of the view of `t` that another number does not keep apart from it, in order."""
        number = self._number(t) if t.view in self.all else None
        if number is None:
            return self.all.get(t.view, ())
        return merge(*(self.places.get((t.view, n), ()) for n in (number, None)), key=itemgetter(0))

    def _number(self, t: Any) -> Any:
        x = t.index[self.dimension[t.view]] if t.index else None
        return x if isinstance(x, Const) else None


def _numbered(accesses: Sequence[tuple[int, Any]]) -> int:
    """The dimension with the most numbers for places."""
    numbers = [len({x for x in places if is_const(x)}) for places in zip(*(t.index for _, t in accesses), strict=True)]
    return max(range(len(numbers)), key=numbers.__getitem__, default=0)


def loops_used(effects: Sequence[Any]) -> list[list[int]]:
    """For each effect, the loops without effects whose results it needs, in order: whoever needs them performs them."""
    pure = {e.turn: i for i, e in enumerate(effects) if isinstance(e, Recur) and not changes(e)}
    used: list[list[int]] = []
    for e in effects:
        terms = evaluated(e) if pure and contains(e, Final) else ()
        asked = (pure[t.turn] for t in terms if isinstance(t, Final) and t.turn in pure)
        direct = [i for i in dict.fromkeys(asked) if i < len(used)]
        used.append(sorted({k for i in direct for k in (i, *used[i])}))
    return used


def changes(e: Any) -> bool:
    """Whether an effect changes memory: an ordered loop may only leave results."""
    return bool(changing(e))


def changing(*roots: Any) -> list[Any]:
    """The stores and updates that these effects perform."""
    terms = walk(*roots, below=lambda t: asked_for(t) if contains(t, Store, Update) else ())
    return [t for t in terms if isinstance(t, (Store, Update))]


def _own(a: tuple[Value, ...], b: tuple[Value, ...]) -> frozenset[Any] | None:
    # a coordinate that an iteration decides is another one in the next
    if a == b and not any(x.needs for x in a):
        return None
    same = (x for x, y in zip(a, b, strict=True) if x is y and not x.needs)
    return frozenset(axis for x in same for axis in injective(x))


def injective(x: Value) -> Iterator[Axis]:
    """The axis whose coordinate, times and plus constants, `x` is."""
    yield from (a for a in _told(x) if isinstance(a, Axis))


def _told(x: Value) -> Iterator[Any]:
    """The axis, or the slice of one, whose members `x` tells apart."""
    varying = [k for k in affine(x) if k is not None and k.lanes]
    if len(varying) == 1 and isinstance(varying[0], Coord):
        yield varying[0].axis


def of_one_member(s: Any, t: Any, axes: Iterable[Any]) -> bool:
    """Whether two accesses of one view meet only where the members of all these axes (or slices) are the same: a
    coordinate that both have tells them apart."""
    told = {a for x, y in zip(s.index, t.index, strict=True) if x is y for a in _told(x)}
    return told.issuperset(axes)


def disjoint(s: Any, t: Any) -> bool:
    """Proof that no instance's access is to an element of another's: one dimension keeps them apart, or a condition
    that all instances share."""
    if any(is_const(a) and is_const(b) and a is not b for a, b in zip(s.index, t.index, strict=True)):
        return True
    uniform = {p for p in conjuncts(s.valid) if not p.lanes | p.needs}
    if any(node(apply("not", p)) in uniform for p in conjuncts(t.valid) if not p.lanes | p.needs):
        return True
    return any(_apart(a, b) for a, b in zip(s.index, t.index, strict=True))


def _apart(a: Value, b: Value) -> bool:
    """Whether two coordinates differ for all members, and in all iterations, of what each varies along."""
    a, b = _everywhere(a), _everywhere(b)
    return not (a.needs or b.needs) and _separate(a, b)


def _separate(a: Value, b: Value, here: Container[Any] = ()) -> bool:
    ending = _end if not here else lambda x, last: end(x, last, here)
    for low, high in ((a, b), (b, a)):
        last, first = ending(low, True), ending(high, False)
        if not last.lanes | first.lanes and less(last, first):
            return True
    weights = [*_weights(a, b), *_weights(b, a)]
    offset = affine(a).get(None, 0) - affine(b).get(None, 0)
    return bool(weights) and offset % gcd(*weights) != 0


@once
def _everywhere(x: Value) -> Value:
    """A coordinate over all members and all iterations."""
    return _spread(x)


@once
def _end(x: Value, last: bool) -> Value:
    return end(x, last)


def _spread(x: Value, here: Container[Any] = ()) -> Value:
    """A coordinate over all members of its axes and of all iterations at once, but for the loops `here`."""
    while True:
        members = (t for t in evaluated(x) if isinstance(t, Coord) and t.axis not in here)
        axes = ((t, getattr(t.axis, "axis", None)) for t in members)
        wide = {t: Coord(a) for t, a in axes if isinstance(a, Axis)}
        if not wide:
            return x
        x = substitute(x, wide, everywhere=True)


def apart_now(s: Store, t: Load, here: Container[Any]) -> bool:
    """Proof that, in the iterations in hand of the loops `here`, a load is of no element that is stored."""
    if s.view is not t.view:
        return False
    if _exclusive(s.valid, t.valid, here):
        return True
    for x, y in zip(s.index, t.index, strict=True):
        a, b = _spread(x, here), _spread(y, here)
        if all(n in here for n in a.needs | b.needs) and _separate(a, b, here):
            return True
    return False


def _exclusive(a: Value | None, b: Value | None, here: Container[Any]) -> bool:
    """Whether two validities never hold at once: one has a part, the same for all lanes, that the other negates."""
    if a is None or b is None:
        return False
    others = conjuncts(b)
    uniform = (p for p in conjuncts(a) if not p.lanes and all(n in here for n in p.needs))
    return any(node(apply("not", p)) in others for p in uniform)


def _weights(a: Value, b: Value) -> Iterator[int]:
    """The coefficients of what is not one and the same number in both coordinates."""
    other = affine(b)
    return (c for k, c in affine(a).items() if k is not None and (k.lanes or other.get(k) != c))
