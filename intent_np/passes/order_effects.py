"""normal -> normal: a load that comes after a store of its own element is what was stored.

store y[i] = v;  store z[i] = (load y[i] after that store) + 1        store y[i] = v;  store z[i] = v + 1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import gcd
from typing import Any

from ..errors import error
from ..rules.affine import affine
from ..rules.bounds import end
from ..rules.facts import less
from ..rules.simplify import node
from ..terms.core import arena, find, rewrite
from ..terms.index import Value, apply, conjuncts
from ..terms.normal import NORMAL, Load, Program, Store
from .base import nanopass


@nanopass(NORMAL, NORMAL)
def order_effects(program: Program) -> Program:
    """Forward stores to the loads that read exactly them, and refuse what would need other instances to have finished.

    Before the program is spread over instances: afterwards every load reads what the launch found in memory, at an
    element that no other instance writes.
    Preserves the order of effects that the author wrote.
    """

    def step(t: Any) -> Any:
        if isinstance(t, Load) and isinstance(t.after, Store) and t.after.index == t.index and t.after.valid is None:
            return t.after.value
        return node(t)

    program = rewrite((program,), step)[0]
    stores: dict[Any, list[Store]] = {}
    for s in program.effects:
        stores.setdefault(s.view, []).append(s)  # type: ignore[attr-defined, arg-type]
    for t in find(program, Load):
        for s in stores.get(t.view, []):
            if s.index != t.index or t.after is not None:
                raise error("E707", span=_span(t), name=t.view.name)
    for s, t in (pair for written in stores.values() for pair in combinations(written, 2)):
        if s.index != t.index and not disjoint(s, t):
            related = [("first written", span) for span in (_span(s),) if span]
            raise error("E709", span=_span(t), name=t.view.name, related=related)
    return program  # type: ignore[no-any-return]


def _span(t: Any) -> Any:
    return next(iter(arena().spans.get(t, ())), None)


def disjoint(s: Store, t: Store) -> bool:
    """Proof that no instance's store is to an element of another's: one dimension keeps them apart, or a condition that
    all instances share."""
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
