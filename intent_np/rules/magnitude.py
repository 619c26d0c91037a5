"""How large index arithmetic may become at a call, as launch expressions: what narrow offsets are checked against.

Sums and products are exact modulo 2^32 whatever happens in between, so that an address needs only its final offset to
fit.  Everything else that looks at an index, a comparison, a quotient, a conversion, needs the index itself to fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..terms.core import replace, walk
from ..terms.dtypes import DType, bool_, index
from ..terms.index import Apply, Cast, Const, Extent, Param, Physical, Value, add, apply, const, is_op, mul
from ..terms.normal import Axis, Coord, Load, Store, View
from .affine import affine
from .simplify import node

RING = ("add", "sub", "mul", "neg")
COMPARISONS = ("lt", "le", "eq", "ne")
SMALL = 64
"""A constant that may be added to an extent without a check of its own: blocks reach further past it."""


def large_indices(roots: Iterable[Any]) -> tuple[Value | None, ...]:
    """Bounds of the indices that have to fit into the integers which hold them; None for one that has no bound."""
    found: dict[Value | None, None] = {}
    for t in walk(*roots):
        for parts in _looked_at(t):
            sizes = [magnitude(p) for p in parts]
            total: Any = None if None in sizes else sizes[0] if len(sizes) == 1 else node(add(*sizes))  # type: ignore[arg-type]
            if total is None or not _is_extent(total):
                found[total] = None
    return tuple(found)


def _looked_at(t: Any) -> Iterator[tuple[Value, ...]]:
    """The indices whose very value `t` depends on: one by one, or two together whose difference is taken."""
    if isinstance(t, View) or is_op(t, *RING) and t.type is index:
        return
    parts = [c for c in t.children() if isinstance(c, Value) and c.type is index]
    if isinstance(t, (Load, Store)):
        parts = [t.value] if isinstance(t, Store) and t.value.type is index else []
    if is_op(t, *COMPARISONS) or isinstance(t, Axis):
        if any(map(_may_grow, parts)):
            yield tuple(parts)
        return
    for p in parts:
        if _may_grow(p):
            yield (p,)


def _may_grow(t: Any) -> bool:
    """Whether an index may be larger than every extent."""
    if isinstance(t, Cast):
        source: Any = t.value.type
        return source is not bool_ and (source.bits > 32 or source.bits == 32 and not source.is_signed)
    if isinstance(t, Const):
        return abs(int(t.value)) >= 2**31  # type: ignore[call-overload, no-any-return]
    return isinstance(t, (Param, Load)) or is_op(t, *RING, "shl", "select", "minimum", "maximum", "abs")


def magnitude(t: Any) -> Value | None:
    """A launch expression that |t| does not exceed in any lane that is a member; None where nothing is known."""
    done: dict[Any, Value | None] = {}
    for u in walk(t):
        if isinstance(u, Value):
            done[u] = _magnitude(u, done)
    return done[t]


def _magnitude(t: Any, done: dict[Any, Any]) -> Value | None:
    match t:
        case Const():
            return const(min(abs(int(t.value)), index.range[1])) if t.dtype is index else None  # type: ignore[call-overload]
        case Extent() | Physical():
            return t  # type: ignore[no-any-return]
        case Param():
            return apply("abs", t) if t.type is index else None
        case Coord():
            axis: Any = getattr(t.axis, "axis", t.axis)
            return _largest(done.get(axis.lo), done.get(axis.hi))
        case Cast(value, to) if to is index:
            return _converted(t, value)
        case Apply() if t.type is index:
            return _applied(t, [done.get(a) for a in t.args])
    return None


def _converted(t: Cast, value: Any) -> Value | None:
    source: DType = value.type
    if source is bool_:
        return const(1)
    if not source.is_integer:
        return None
    if isinstance(value, Param) and t.mode != "saturate":  # the bits of an integer are what it is modulo their number
        return apply("abs", replace(t, mode="wrap"))
    low, high = source.range
    return const(max(-low, high)) if source.bits <= 32 else None


def _applied(t: Apply, sizes: list[Any]) -> Value | None:
    name = t.op.name
    if name == "select":
        return _largest(*sizes[1:])
    if name == "mod":
        return sizes[1]  # type: ignore[no-any-return]
    if None in sizes:
        return None
    if name in ("add", "sub"):
        return node(add(*sizes))  # type: ignore[no-any-return]
    if name == "mul":
        return node(mul(*sizes))  # type: ignore[no-any-return]
    if name in ("neg", "abs", "floordiv", "ceil_div"):
        return sizes[0]  # type: ignore[no-any-return]
    return _largest(*sizes) if name in ("minimum", "maximum") else None


def _largest(*sizes: Any) -> Value | None:
    if None in sizes:
        return None
    first, *rest = dict.fromkeys(sizes)
    for s in rest:
        first = node(apply("maximum", first, s))
    return first  # type: ignore[no-any-return]


def _is_extent(t: Value) -> bool:
    """Whether a bound is an extent or a constant, but for little: those are checked anyway."""
    form = dict(affine(t))
    offset = form.pop(None, 0)
    return abs(offset) <= SMALL and (not form or list(form.values()) == [1] and isinstance(next(iter(form)), Extent))
