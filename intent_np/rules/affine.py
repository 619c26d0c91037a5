"""Affine forms of index terms: integer combinations of terms that are not sums themselves."""

from __future__ import annotations

from typing import Any

from ..terms.index import Apply, Const, Value, add, const, is_const, mul

Affine = dict[Any, int]  # term -> coefficient; the key None holds the constant


def affine(t: Value) -> Affine:
    """`t` as a sum of coefficient * term; a term that is no sum, difference or constant multiple is one of its own."""
    if isinstance(t, Const):
        return {None: int(t.value)}  # type: ignore[call-overload]
    if isinstance(t, Apply):
        name = t.op.name
        if name in ("add", "sub"):
            return combine(affine(t.args[0]), affine(t.args[1]), 1 if name == "add" else -1)
        if name == "neg":
            return scale(affine(t.args[0]), -1)
        if name == "mul":
            for a, b in (t.args, t.args[::-1]):
                if isinstance(b, Const):
                    return scale(affine(a), int(b.value))  # type: ignore[call-overload]
    return {t: 1}


def combine(a: Affine, b: Affine, times: int = 1) -> Affine:
    out = dict(a)
    for k, c in b.items():
        out[k] = out.get(k, 0) + times * c
    return {k: c for k, c in out.items() if c}


def scale(a: Affine, c: int) -> Affine:
    return {k: c * v for k, v in a.items() if c * v}


def order(t: Any) -> tuple[int, str, int]:
    """A canonical order of the terms of a sum: those that vary first, then scalars, by content."""
    return (0 if t.lanes else 1, type(t).__name__, t.digest)


def from_affine(form: Affine) -> Value:
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
    from ..terms.index import sub

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
