"""What a function of a slice may do along the axis that is cut: nothing that tells where the slice begins or ends."""

from __future__ import annotations

from typing import Any

from intent_np.terms.core import Term, arena, children, find, walk
from intent_np.terms.index import Value
from intent_np.terms.logical import (
    Along,
    At,
    Convert,
    Domain,
    Filled,
    Formal,
    Indices,
    LoopVar,
    NewAxis,
    Pointwise,
    RegionFold,
    RegionScan,
    Reshape,
    Take,
    TensorContract,
    TensorReduce,
    TensorScan,
    Transpose,
    shape_of,
)
from intent_np.terms.normal import Proj

from .context import fail
from .indexing import whole

_FREE = (Pointwise, Convert, TensorReduce, TensorScan, TensorContract, Transpose, Proj)


def uncut(operation: str, results: tuple[Value, ...], extent: Formal) -> None:
    """E211 where a term below `results` meets the axis of `extent` in another way than the language allows."""
    for t in walk(*results):
        if construct := _meets(t, extent):
            spans = arena().spans.get(t)
            where = {"span": spans[0]} if spans else {}
            raise fail("E211", operation=operation, construct=construct, **where)


def _meets(t: Term, extent: Formal) -> str:
    """In words, what is wrong with `t` itself; nothing where it is in order."""
    match t:
        case Formal() | Domain() | Along():
            return ""  # what uses them is judged
        case Indices(domain) | LoopVar(domain):
            return "positions in a slice" if extent in find(domain, Formal) else ""
        case Take(value, subscripts):
            return _taken(value, subscripts, extent)
        case Filled(value, shape):
            return "the extent of a slice as a number" if value is extent else _computed(shape, extent)
        case Reshape(value, shape):
            return _reshaped(shape_of(value), shape, extent) or _computed(shape, extent)
    if extent in children(t):
        return "the extent of a slice as a number"
    if isinstance(t, _FREE) or not isinstance(t, Value):
        return ""
    along = [e for v, d in _operated(t) for e in shape_of(v)[d : d + 1]]
    if along and extent not in along:
        return ""  # it works along another axis
    crossed = any(extent in shape_of(v) for v in (t, *children(t)) if isinstance(v, Value))
    return getattr(t, "spelled", f"a {type(t).__name__}") if crossed else ""


def _operated(t: Any) -> list[tuple[Value, int]]:
    """The operands of an operation along one axis, each with that axis."""
    if isinstance(t, RegionFold | RegionScan):
        return list(zip(t.sources, t.dimensions, strict=True))
    return [(t.value, t.dimension)] if hasattr(t, "dimension") and hasattr(t, "value") else []


def _taken(value: Value, subscripts: tuple[Any, ...], extent: Formal) -> str:
    for e, s in zip(shape_of(value), (s for s in subscripts if not isinstance(s, NewAxis)), strict=True):
        if e is extent:
            if not isinstance(s, Along) or s.domain is not whole(extent):
                return "a coordinate in a slice" if isinstance(s, At) else "a part of a slice"
        elif extent in find(s, Formal):
            return "the extent of a slice as a number"
    return ""


def _computed(shape: tuple[Value, ...], extent: Formal) -> str:
    computed = any(e is not extent and extent in find(e, Formal) for e in shape)
    return "an extent computed from that of a slice" if computed else ""


def _reshaped(old: tuple[Value, ...], new: tuple[Value, ...], extent: Formal) -> str:
    """The axis stays an axis: what is in front of it, or what is behind it, stays as it is."""
    if extent not in old and extent not in new:
        return ""
    at = old.index(extent) if extent in old else 0
    behind = len(old) - at
    kept = new[: at + 1] == old[: at + 1] or new[-behind:] == old[at:]
    return "" if kept else "I.reshape"
