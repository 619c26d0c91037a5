"""Which statements wait for which: proofs that two accesses of one view never meet, or meet in one instance only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Any, NamedTuple

from ..rules.affine import affine
from ..rules.bounds import end
from ..rules.facts import less
from ..rules.simplify import node
from ..terms.core import find
from ..terms.index import Value, apply, conjuncts
from ..terms.normal import Axis, Coord, Load, Store


class Dependence(NamedTuple):
    """Two effects, by position, that access a view that one of them stores into.

    along:  the axes whose every member has accesses of its own, so that instances of one member each keep the order;
            None stands for all, where both access the very same element
    """

    first: int
    second: int
    along: frozenset[Any] | None


def dependences(effects: Sequence[Any]) -> list[Dependence]:
    """What orders these stores; a store with loads of its own view depends on itself."""
    found = []
    loads: dict[Any, list[tuple[int, Load]]] = {}
    for i, e in enumerate(effects):
        for t in find(e, Load) if isinstance(e, Store) else ():
            loads.setdefault(t.view, []).append((i, t))
    stores: dict[Any, list[tuple[int, Store]]] = {}
    for i, s in enumerate(effects):
        if isinstance(s, Store):
            for k, other in (*stores.get(s.view, ()), *loads.get(s.view, ())):
                if not disjoint(s, other):
                    found.append(Dependence(min(i, k), max(i, k), _own(s.index, other.index)))
            stores.setdefault(s.view, []).append((i, s))
    return found


def _own(a: tuple[Value, ...], b: tuple[Value, ...]) -> frozenset[Any] | None:
    if a == b:
        return None
    return frozenset(axis for x, y in zip(a, b, strict=True) if x is y for axis in injective(x))


def injective(x: Value) -> Iterator[Axis]:
    """The axis whose coordinate, times and plus constants, `x` is."""
    varying = [k for k in affine(x) if k is not None and k.lanes]
    if len(varying) == 1 and isinstance(varying[0], Coord) and isinstance(varying[0].axis, Axis):
        yield varying[0].axis


def disjoint(s: Any, t: Any) -> bool:
    """Proof that no instance's access is to an element of another's: one dimension keeps them apart, or a condition
    that all instances share."""
    uniform = {p for p in conjuncts(s.valid) if not p.lanes}
    if any(node(apply("not", p)) in uniform for p in conjuncts(t.valid) if not p.lanes):
        return True
    return any(_apart(a, b) for a, b in zip(s.index, t.index, strict=True))


def _apart(a: Value, b: Value) -> bool:
    """Whether two coordinates differ for all members of what each varies along."""
    for low, high in ((a, b), (b, a)):
        last, first = end(low, last=True), end(high, last=False)
        if not last.lanes | first.lanes and less(last, first):
            return True
    weights = [*_weights(a, b), *_weights(b, a)]
    offset = affine(a).get(None, 0) - affine(b).get(None, 0)
    return bool(weights) and offset % gcd(*weights) != 0


def _weights(a: Value, b: Value) -> Iterator[int]:
    """The coefficients of what is not one and the same number in both coordinates."""
    other = affine(b)
    return (c for k, c in affine(a).items() if k is not None and (k.lanes or other.get(k) != c))
