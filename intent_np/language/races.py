"""Unordered points must not meet: what is written is written by one point, and read by no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from intent_np.errors import IntentError
from intent_np.terms.core import arena, find
from intent_np.terms.index import Apply, Value
from intent_np.terms.logical import Along, At, LoopVar, Parallel, Read, Subscript, Write, performed
from intent_np.terms.normal import View

from .bounds import Polynomial, minus, plus, polynomial, provable, times
from .context import fail


def written_once(target: View, entries: Sequence[Subscript], points: Sequence[LoopVar], facts: Sequence[Value]) -> None:
    """E303 where two points certainly write one element, E304 where it can't be excluded."""
    left = _undetermined(entries, points, facts)
    if not left:
        return
    point = left[0]
    name = arena().names.get(point, "a point")
    if point not in set(find(entries, LoopVar)):
        raise fail("E303", name=target.name, found=f"an index that does not depend on '{name}'")
    raise fail("E304", name=target.name, found=f"an index in which several values of '{name}' may meet")


Form = tuple[Polynomial, Polynomial]  # the first coordinate of a subscript, and how many there are


def _undetermined(entries: Sequence[Subscript], points: Sequence[LoopVar], facts: Sequence[Value]) -> list[LoopVar]:
    """The points that an element's index does not give away."""
    forms = list(_forms(entries))
    left = [p for p in points if not _divided(p, forms)]
    progress = True
    while progress:
        progress = False
        for form, width in forms:
            inside = [p for p in left if _occurs(p, form)]
            orders = permutations(inside) if 0 < len(inside) <= 3 else ()
            if any(_determines(form, width, order, facts) for order in orders):
                left = [p for p in left if p not in inside]
                progress = True
    return left


def _forms(entries: Sequence[Subscript]) -> Iterator[Form]:
    for s in entries:
        if isinstance(s, At):
            yield polynomial(s.value), {(): 1}
        elif isinstance(s, Along):
            yield polynomial(s.domain.lo), minus(polynomial(s.domain.hi), polynomial(s.domain.lo))


def _determines(form: Polynomial, width: Polynomial, points: Sequence[LoopVar], facts: Sequence[Value]) -> bool:
    """Whether blocks of `width` that begin at `form` are disjoint for different points.

    As with digits, each point must weigh at least what all that follow it span."""
    span = width
    for p in reversed(points):
        weight = {tuple(a for a in m if a is not p): c for m, c in form.items() if p in m}
        rest = [m for m in form if p not in m]
        bounds = minus(polynomial(p.domain.hi), polynomial(p.domain.lo))
        linear = all(m.count(p) <= 1 for m in form)
        if not linear or _occurs(p, rest) or _occurs(p, weight) or any(_occurs(q, bounds) for q in points):
            return False
        size = next((w for w in (weight, minus({}, weight)) if provable(minus(w, span), facts)), None)
        if size is None:
            return False
        span = plus(span, times(plus(bounds, {(): -1}), size))
    return True


def _occurs(p: LoopVar, form: Iterable[tuple[Value, ...]]) -> bool:
    return any(p is t for m in form for a in m for t in find(a, LoopVar))


def _divided(p: LoopVar, forms: Sequence[Form]) -> bool:
    """Whether quotient and remainder by one number are both among the coordinates."""
    quotients: set[Value] = set()
    remainders: set[Value] = set()
    unused: set[Value] = set()
    for form, _ in forms:
        for m in form:
            if len(form) == 1 and len(m) == 1 and isinstance(m[0], Apply) and m[0].args[0] is p:
                {"floordiv": quotients, "mod": remainders}.get(m[0].op.name, unused).add(m[0].args[1])
    return not quotients.isdisjoint(remainders)


def read_alone(loop: Parallel) -> Iterator[IntentError]:
    """E305 for reads of what another point of the loop may write.

    A read and a write of one view keep to their own point when both have its coordinate in the same place."""
    inside = performed(*loop.body)
    for r in (t for t in inside if isinstance(t, Read)):
        for w in inside:
            if isinstance(w, Write) and r.view is w.view:
                shared = {
                    a.value for a, b in zip(r.subscripts, w.subscripts, strict=False) if isinstance(a, At) and a is b
                }
                for p in loop.points:
                    if p not in shared:
                        name = arena().names.get(p, "a point")
                        span = next(iter(arena().spans.get(r, ())), None)
                        yield fail("E305", span=span, found=f"'{r.view.name}' is read and written away from '{name}'")
