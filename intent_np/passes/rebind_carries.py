"""rebind_carries: triton -> triton.  A loop's next state takes the state's name, where the old one is read no more.

    acc_1 = tl.dot(a, b, acc)               acc = tl.dot(a, b, acc)
    acc = acc_1                        ->

and lines that compute what nothing uses go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..terms.core import Term, replace, rewrite
from ..terms.triton import (
    TRITON,
    Assign,
    ForRange,
    Function,
    IfThen,
    Name,
    Unpack,
    WhileHolds,
    assigned,
    bodies,
    expressions,
    names,
    rebound,
)
from .base import nanopass


@nanopass(TRITON, TRITON)
def rebind_carries(function: Function) -> Function:
    """Drop the copies at the end of loop bodies, and dead lines.

    Stands behind lowering, which keeps the statements of the gpu term one for one.
    Preserves values: a copy goes only if nothing between reads the old state, and what it is of is no state itself,
    which is read behind its loop and in the next iteration, too.
    """
    bound = Counter(_bound(function.body))
    body = _live(_bodies(function.body, {n for n, times in bound.items() if times == 1}))
    return replace(function, body=body) if body != function.body else function  # type: ignore[no-any-return]


def _bound(body: Iterable[Any]) -> Iterator[Name]:
    """The names that these lines and those inside them bind, each as often as they do."""
    for s in body:
        yield from assigned(s)
        yield from _bound(bodies(s))


def _bodies(body: tuple[Any, ...], once: set[Name]) -> tuple[Any, ...]:
    """The same rewriting in every body, the inner ones first; the names that one line binds are no states."""
    out = tuple(replace(s, body=_bodies(s.body, once)) if bodies(s) else s for s in body)
    at = 0
    while at < len(out):
        match out[at]:
            case Assign(state, Name() as value) if (
                value in once and (found := _movable(out, at, state, value)) is not None
            ):
                out = _moved(out, found, at, state, value)
            case _:
                at += 1
    return out


def _movable(body: tuple[Any, ...], at: int, state: Name, value: Name) -> int | None:
    """The line that computes `value`, if its result may be called `state` from there on."""
    after = body[at + 1 :]
    if state in rebound(after) and any(value in names(*_all(s)) for s in after):
        return None
    for i in range(at - 1, -1, -1):
        s = body[i]
        if isinstance(s, (Assign, Unpack)) and value in assigned(s):
            return i if not isinstance(s, Unpack) or state not in assigned(s) else None
        if state in names(*_all(s)) or state in rebound((s,)) or value in rebound((s,)):
            return None
    return None


def _moved(body: tuple[Any, ...], start: int, at: int, state: Name, value: Name) -> tuple[Any, ...]:
    first = body[start]
    if isinstance(first, Assign):
        renamed: Any = Assign(state, first.value)
    else:
        renamed = Unpack(tuple(state if t is value else t for t in first.targets), first.value)
    rest = rewrite((*body[start + 1 : at], *body[at + 1 :]), lambda t: state if t is value else t, Name)
    return (*body[:start], renamed, *rest)


def _all(s: Any) -> tuple[Term, ...]:
    """Every expression of a statement and of the lines inside it."""
    return (*expressions(s), *(e for inner in bodies(s) for e in _all(inner)))


def _live(body: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without bindings that nothing reads, and without loops and branches that are empty; to the fixpoint."""
    while True:
        read = _read(body)
        new = _without(body, read)
        if new == body:
            return body
        body = new


def _read(body: Iterable[Any]) -> set[Name]:
    """The names that some line reads for another purpose than to compute themselves."""
    out: set[Name] = set()
    for s in body:
        own = assigned(s) if isinstance(s, Assign) else ()
        out.update(n for n in names(*expressions(s)) if n not in own)
        out |= _read(bodies(s))
    return out


def _without(body: Iterable[Any], read: set[Name]) -> tuple[Any, ...]:
    out = []
    for s in body:
        if isinstance(s, (Assign, Unpack)) and not any(n in read for n in assigned(s)):
            continue
        if isinstance(s, (ForRange, IfThen, WhileHolds)):
            s = replace(s, body=_without(s.body, read))
            if not s.body:
                continue
        out.append(s)
    return tuple(out)
