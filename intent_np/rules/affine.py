"""Affine forms of index terms: integer combinations of terms that are not sums themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..terms.core import once
from ..terms.index import Apply, Const, Value, add, const, is_const, mul, sub

Affine = dict[Any, int]  # term -> coefficient; the key None holds the constant
Known = Mapping[Any, int]  # one that is everybody's
SUMS = 128  # operators that one form is read through


def affine(t: Value) -> Known:
    """`t` as a sum of coefficient * term; a term that is no sum, difference or constant multiple is one of its own.

    Coefficients flow from each sum to its operands, once through the graph: shared sums cost nothing.
    """
    return expanded(t)[0]


@once
def expanded(t: Value) -> tuple[Known, bool]:
    """The affine form, and whether it is complete: what lies below `SUMS` sums stays as it is."""
    out: Affine = {}
    weights: dict[Any, int] = {t: 1}
    order = _sums_first(t)
    sums = set(order)
    complete = True
    for u in order:
        w = weights[u]
        for operand, c in _parts(u):
            weights[operand] = weights.get(operand, 0) + w * c
            complete &= operand in sums or not _parts(operand)
    for u, w in weights.items():
        if u not in sums:
            k, c = (None, w * int(u.value)) if isinstance(u, Const) else (u, w)  # type: ignore[call-overload]
            out[k] = out.get(k, 0) + c
    return {k: c for k, c in out.items() if c}, complete


def _parts(t: Any) -> tuple[tuple[Any, int], ...]:
    """The operands of a sum, a difference, a negation or a constant multiple, each with its coefficient."""
    if type(t) is Apply:
        match t.op.name, t.args:
            case "add", (a, b):
                return (a, 1), (b, 1)
            case "sub", (a, b):
                return (a, 1), (b, -1)
            case "neg", (a,):
                return ((a, -1),)
            case ("mul", (a, Const(c))) | ("mul", (Const(c), a)):
                return ((a, int(c)),)  # type: ignore[call-overload]
    return ()


def _sums_first(t: Any) -> list[Any]:
    """The sums that a sum of sums consists of, each behind those that it is an operand of."""
    order: list[Any] = []
    seen: set[Any] = set()
    stack: list[tuple[Any, bool]] = [(t, False)]
    while stack:
        u, done = stack.pop()
        if done:
            order.append(u)
        elif u not in seen and len(seen) < SUMS and _parts(u):
            seen.add(u)
            stack.append((u, True))
            stack.extend((a, False) for a, _ in reversed(_parts(u)))
    return order[::-1]


def combine(a: Known, b: Known, times: int = 1) -> Affine:
    """a + times * b."""
    out = dict(a)
    for k, c in b.items():
        out[k] = out.get(k, 0) + times * c
    return {k: c for k, c in out.items() if c}


def scale(a: Known, c: int) -> Affine:
    """c * a."""
    return {k: c * v for k, v in a.items() if c * v}


def order(t: Any) -> tuple[int, str, int]:
    """A canonical order of the terms of a sum: those that vary first, then scalars, by content."""
    return (0 if t.lanes else 1, type(t).__name__, t.digest)


def from_affine(form: Known) -> Value:
    """The sum in canonical order, negative terms subtracted."""
    total: Value | None = None
    positive = sorted((k for k in form if k is not None and form[k] > 0), key=order)
    negative = sorted((k for k in form if k is not None and form[k] < 0), key=order)
    for k in positive:
        part = k if form[k] == 1 else mul(k, const(form[k]))
        total = part if total is None else add(total, part)
    constant = form.get(None, 0)
    if total is None:
        total = const(constant)
        constant = 0
    for k in negative:
        part = k if form[k] == -1 else mul(k, const(-form[k]))
        total = sub(total, part)
    if constant > 0:
        total = add(total, const(constant))
    elif constant < 0:
        total = sub(total, const(-constant))
    return total


def difference(a: Value, b: Value) -> Affine:
    """The affine form of a - b."""
    return combine(affine(a), affine(b), -1)


__all__ = ["Affine", "affine", "combine", "difference", "from_affine", "is_const", "scale"]
