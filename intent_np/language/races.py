"""Unordered points must not meet: what is written is written by one point, and touched by no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from intent_np.errors import IntentError
from intent_np.terms.core import arena, find, rewrite
from intent_np.terms.index import Value, apply
from intent_np.terms.logical import (
    Access,
    Allocate,
    Along,
    At,
    AtEach,
    LoopVar,
    NewAxis,
    Outcome,
    Parallel,
    Read,
    Subscript,
    accesses,
    performed,
    placed,
)
from intent_np.terms.normal import Memory

from .bounds import provable
from .context import capture, fail
from .digits import ONE, Address, Form
from .elaborate import called
from .elements import fitted, positions
from .polynomials import minus, plus, polynomial


def written_once(
    target: Memory,
    entries: tuple[Subscript, ...],
    points: Sequence[LoopVar],
    facts: tuple[Value, ...],
    valid: Value | None = None,
) -> None:
    """E303 where two points certainly write one element, E304 where it can't be excluded of points, or of the lanes of
    the index itself."""
    state, place = capture(), placed(entries)
    where = positions(place.shape)
    lanes = [p for a in place.joint if isinstance(p := where[a], LoopVar)]
    inner = state.loops[state.loops.index(points[0]) :] if points else ()
    known = facts if valid is None else (*facts, fitted(valid, where))
    address = Address(_forms(entries, where), (*inner, *lanes), known, state.around)
    left = [p for p in (*points, *lanes) if p not in address.known]
    name = called(target)
    if not left:
        state.tickets.extend(address.used)
        return
    if left[0] in lanes:
        raise fail("E304", name=name, found="an index tensor in which lanes may be equal")
    point = arena().names.get(left[0], "a point")
    if left[0] not in set(find(entries, LoopVar)) and not any(True for _ in find(entries, Outcome)):
        raise fail("E303", name=name, found=f"an index that does not depend on '{point}'")
    raise fail("E304", name=name, found=f"an index in which several values of '{point}' may meet")


def _forms(entries: Sequence[Subscript], where: Sequence[Value]) -> Iterator[Form]:
    """The coordinates in each axis of what is indexed."""
    for s, axes in zip(entries, placed(tuple(entries)).axes, strict=True):
        if isinstance(s, At):
            yield polynomial(s.value), ONE
        elif isinstance(s, Along):
            yield polynomial(s.domain.lo), minus(polynomial(s.domain.hi), polynomial(s.domain.lo))
        elif isinstance(s, AtEach):
            yield polynomial(fitted(s.value, tuple(where[a] for a in axes))), ONE


def kept_apart(loop: Parallel) -> Iterator[IntentError]:
    """E305 for reads of what another point of the loop may write, E304 for two statements whose writes may meet."""
    own = {e.buffer for e in performed(*loop.body) if isinstance(e, Allocate)}
    touched = [a for a in dict.fromkeys(accesses(loop.body)) if a.view not in own]
    inside = tuple(dict.fromkeys(find(loop.body, LoopVar)))
    reported: set[Any] = set()
    for a, b in combinations(touched, 2):
        if a.term is b.term or not a.meets(b) or _exclusive(a, b, inside) or _apart(a, b):
            continue
        p = _met(loop, a, b, inside)
        if p is None:
            continue
        read = next((x.term for x in (a, b) if isinstance(x.term, Read)), None)
        term = read or b.term
        if term not in reported:
            reported.add(term)
            name, view = arena().names.get(p, "a point"), called(a.view)
            span = next(iter(arena().spans.get(term, ())), None)
            if read is not None:
                yield fail("E305", span=span, found=f"'{view}' is read and written away from '{name}'")
            else:
                first = [("first written", s) for s in arena().spans.get(a.term, ())[:1]]
                found = f"two statements in which several values of '{name}' may meet"
                yield fail("E304", span=span, name=view, found=found, related=first)
    yield from _counted_alone(loop, touched)


def _counted_alone(loop: Parallel, touched: list[Access]) -> Iterator[IntentError]:
    """E304 where a ticket's counter is changed by something else in the loop, so that it is no ticket."""
    for ticket in dict.fromkeys(capture().tickets):
        for a in touched:
            if a.term is not ticket and a.writes and a.view is ticket.view and any(a.term is t.term for t in touched):
                span = next(iter(arena().spans.get(a.term, ())), None)
                found = "a count that is used as a unique index, and is changed here as well"
                yield fail("E304", span=span, name=called(ticket.view), found=found)


def _exclusive(a: Access, b: Access, inside: tuple[LoopVar, ...]) -> bool:
    """Whether all points take one and the same of two sides of a branch."""
    others = set(b.conditions)
    return any(
        apply("not", c) in others or any(apply("not", d) is c for d in others)
        for c in a.conditions
        if not any(v in inside for v in find(c, LoopVar))
    )


def _apart(a: Access, b: Access) -> bool:
    """Whether a dimension keeps two accesses apart, whatever the points and lanes that make them."""
    mine, others = (
        (s for s in x.subscripts if not isinstance(s, NewAxis)) for x in (a, replace(b, term=_elsewhere(b.term)))
    )
    for s, t in zip(mine, others, strict=True):
        if not isinstance(s, AtEach) and not isinstance(t, AtEach):
            ((low, width),), ((other, span),) = list(_forms((s,), ())), list(_forms((t,), ()))
            if provable(minus(other, plus(low, width))) or provable(minus(low, plus(other, span))):
                return True
    return False


def _elsewhere(t: Any) -> Any:
    """The same access for other points: their loop variables are called otherwise."""
    return rewrite((t,), lambda u: LoopVar(u.domain, u.depth + 1000) if isinstance(u, LoopVar) else u)[0]


def _met(loop: Parallel, a: Access, b: Access, inside: tuple[LoopVar, ...]) -> LoopVar | None:
    """A point that two accesses do not keep to themselves."""
    forms: list[Form] = []
    shared = tuple(c for c in a.conditions if c in b.conditions)
    where = positions(placed(a.subscripts).shape)
    lanes = tuple(p for p in where if isinstance(p, LoopVar))
    ours, theirs = (
        [
            (s, axes)
            for s, axes in zip(x.subscripts, placed(x.subscripts).axes, strict=True)
            if not isinstance(s, NewAxis)
        ]
        for x in (a, b)
    )
    for (s, axes), (t, _) in zip(ours, theirs, strict=True):
        if isinstance(s, AtEach) and s is t:
            forms.append((polynomial(fitted(s.value, tuple(where[x] for x in axes))), ONE))
        elif isinstance(s, (At, Along)) and isinstance(t, (At, Along)):
            ((low, width),), ((other, others),) = list(_forms((s,), ())), list(_forms((t,), ()))
            gap = minus(low, other)
            if not set(gap) <= {()}:
                continue
            if gap.get((), 0) < 0:  # the block of `low` begins first
                low, width, other, others = other, others, low, width
                gap = minus(low, other)
            ends = plus(gap, width)
            if provable(minus(ends, others)):
                forms.append((other, ends))
            elif provable(minus(others, ends)):
                forms.append((other, others))
    address = Address(forms, (*inside, *lanes), shared, capture().around)
    return next((p for p in loop.points if p not in address.known), None)
