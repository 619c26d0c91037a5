"""start_apart: triton -> triton.  A state that becomes another one does not start as the very value that this one does.

    b = a                          b = tl.where(tl.full([], True, tl.int1), a, a)
    for i in range(0, n):    ->    for i in range(0, n):
        b = a                          b = a
        a = a + 1                      a = a + 1

Triton goes through a loop's body once to see which names it changes: those that hold another value behind it than in
front.  There `a` stands for the value that it starts with, and so `b` would seem to stay what it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..terms.core import replace
from ..terms.dtypes import bool_
from ..terms.operators import OPERATORS
from ..terms.triton import (
    TRITON,
    Assign,
    BroadcastTo,
    ConvertTo,
    ForRange,
    FullBlock,
    Function,
    IfThen,
    Name,
    Parameter,
    Pointwise,
    WhileHolds,
    assigned,
    bodies,
    rebound,
)
from .base import nanopass

Held = dict[Name, object]
"""What names hold: an object for each value, the same one for copies of it."""


@nanopass(TRITON, TRITON, needed="keeps Triton from taking states that become each other for what a loop leaves alone")
def start_apart(function: Function) -> Function:
    """Give a state a value of its own in front of a loop that Triton would not carry it through.

    Stands behind all that copies names or merges what they hold.
    Preserves values.
    """
    body = _apart(function.body, {})
    return replace(function, body=body) if body != function.body else function  # type: ignore[no-any-return]


def _apart(body: tuple[Any, ...], held: Held) -> tuple[Any, ...]:
    """The lines with more of them in front of loops; `held` follows them."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, (ForRange, WhileHolds)):
            begins = _fresh(held, [*assigned(s), *(n for n in rebound(s.body) if n in held)])
            s = replace(s, body=_apart(s.body, dict(begins)))
            seen, meant = (_followed(s.body, dict(h)) for h in (_fresh(held, assigned(s)), begins))
            for n in sorted(held, key=lambda n: n.name):
                if seen[n] is held[n] and meant[n] is not begins[n] and meant[n] is not held[n]:
                    out.append(Assign(n, Pointwise(OPERATORS["select"], (FullBlock(True, bool_), n, n))))
                    held[n] = object()
        elif bodies(s):
            s = replace(s, body=_apart(s.body, dict(held)))
        out.append(s)
        _followed((s,), held)
    return tuple(out)


def _followed(body: Iterable[Any], held: Held) -> Held:
    """What names hold behind these lines, as Triton sees it when it goes through them once."""
    for s in body:
        if isinstance(s, Assign):
            held[s.target] = _copied(s.value, held)
        elif isinstance(s, IfThen):
            held |= _fresh({}, rebound(s.body))
        elif bodies(s):
            behind = _followed(s.body, _fresh(held, assigned(s)))
            held |= _fresh({}, [n for n in held if behind[n] is not held[n]])
        else:
            held |= _fresh({}, assigned(s))
    return held


def _copied(value: Any, held: Held) -> object:
    """The value that this is a copy of, or a new one."""
    match value:
        case Name():
            return held.get(value, value)
        case Parameter():
            return value
        case ConvertTo(inner) | BroadcastTo(inner) if inner.type == value.type:
            return _copied(inner, held)
    return object()


def _fresh(held: Held, these: Iterable[Name]) -> Held:
    """`held` with new values in these names."""
    return held | {n: object() for n in these}
