"""What each axis of a program is for: program, resident or traversal.  Asked by the grouping and blocking passes.

An axis is *program* when it is free in every store, its bounds are launch expressions, and no structured value that
reads memory lacks it (else every block would repeat that work, which is only little where the axis is free in a
contraction and the value is a reduction without one); or both operands of a contraction vary along it, so that no
matrix instruction could have it in a fragment.  Any other axis is *resident* where its extent class fits one
fragment, else a *traversal*.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..rules.facts import upper
from ..rules.simplify import simplify
from ..runtime.classes import RESIDENT_LIMIT
from ..terms.core import Finding, contains, find, once
from ..terms.index import is_const, is_op, sub
from ..terms.normal import (
    Axis,
    Carry,
    Contract,
    Coord,
    Effect,
    Final,
    Load,
    Part,
    Recur,
    Reduce,
    Region,
    Scan,
    Store,
    Update,
    varying,
)
from ..terms.ordered import asked_for
from .one_hot import bins_of

STRIDED_LIMIT = 64  # lanes of an axis along which no view is contiguous: its rows are read a tile at a time
CONTRACTED_LIMIT = 256  # lanes of an axis that is summed by a contraction, whose operands are two-dimensional


@once
def extent_bound(axis: Axis) -> int | None:
    """A proved upper bound of the number of members; of those that an iteration decides, by each end they may have."""
    ends = axis.hi.args if axis.needs and is_op(axis.hi, "minimum") else (axis.hi,)  # type: ignore[attr-defined]
    known = [n for n in (upper(simplify(sub(end, axis.lo))) for end in ends) if n is not None]
    return min(known, default=None)


def may_be_resident(axis: Axis, roots: Iterable[Any]) -> bool:
    """Whether a fragment can hold the whole axis, by its extent class and what is done with it."""
    bound = extent_bound(axis)
    return bound is not None and bound <= resident_limit(axis, tuple(roots))


def resident_limit(axis: Axis, roots: tuple[Any, ...]) -> int:
    """The longest extent of the axis that a fragment should hold."""
    if any(t.axis in (axis, Part(axis)) for t in find(roots, Contract)):
        return CONTRACTED_LIMIT
    return RESIDENT_LIMIT if axis in contiguous(roots) else STRIDED_LIMIT


def contiguous(roots: Iterable[Any]) -> dict[Any, int]:
    """How many accesses run contiguously along each axis: where the stride is 1, else along the last dimension.  What
    runs along a part of an axis runs along the axis."""
    count: dict[Any, int] = {}
    for t in find(tuple(roots), (Load, Store, Update)):  # type: ignore[arg-type]
        strides = t.view.strides
        unit = [i for i, s in enumerate(strides) if is_const(s, 1)] or ([len(strides) - 1] if strides else [])
        for i in unit:
            for a in sorted(t.index[i].lanes, key=lambda a: a.digest):
                for along in (a, a.axis) if isinstance(a, Part) else (a,):
                    count[along] = count.get(along, 0) + 1
    return count


STRUCTURED = (Reduce, Scan, Contract, Region)
"""Whose work a program block could repeat."""


def program_axes(*parts: tuple[Effect, ...]) -> tuple[Axis, ...]:
    """The axes to spread over the grid, in the order of the stores' indices.  Each part is an effect with the loops
    that it needs the results of."""
    eligible: dict[Any, None] | None = None
    for part in parts:
        terms = _deciding()(*part)
        inner: list[Any] = [t for t in terms if isinstance(t, (*STRUCTURED, Recur)) and contains(t, Load)]
        bound = {getattr(t.axis, "axis", t.axis) for t in terms if isinstance(t, STRUCTURED)}
        apart = {a for t in inner if isinstance(t, Contract) for a in t.left.lanes & t.right.lanes}
        bins = {bins_of(t) for t in inner}  # one instance counts all of them as fast as one
        free = {a for t in inner if isinstance(t, Contract) for a in t.left.lanes ^ t.right.lanes}
        little = [t for t in inner if isinstance(t, Reduce) and not contains(t, Contract)]  # beside a product
        for e in (t for t in terms if isinstance(t, (Store, Update))):
            found = [
                a for a in in_index_order(e)
                if not (reads_memory(a) or a.lanes | a.needs or a in bound or a in bins)
                and (a in apart or all(a in varying(t) or (a in free and t in little) for t in inner))
            ]  # fmt: skip
            eligible = {a: None for a in (found if eligible is None else eligible) if a in found}
    return tuple(eligible or ())


@once
def _deciding() -> Finding:
    """What decides on the axes of a program."""
    return Finding(*STRUCTURED, Recur, Store, Update, below=asked_for)


@once
def _along() -> Finding:
    """What is along an axis, or says that it is."""
    return Finding(Update, Coord, *STRUCTURED, Carry, Final)


def in_index_order(e: Any) -> list[Any]:
    """The axes that tell the elements of an effect apart: those of its index, each behind those that it begins at."""
    if isinstance(e, Update):  # at each of its points, wherever that leads
        return list(dict.fromkeys(b for a in e.over for b in (*sorted(a.lanes, key=lambda b: (b.use, b.digest)), a)))  # type: ignore[attr-defined]
    inner = (a for i in e.index for a in sorted(i.lanes, key=lambda a: (a.use, a.digest)))
    return list(dict.fromkeys(b for a in inner for b in (*sorted(a.lanes, key=lambda b: (b.use, b.digest)), a)))


def reads_memory(axis: Axis) -> bool:
    """Whether only the device knows the bounds of an axis."""
    return contains(axis.lo, Load) or contains(axis.hi, Load)


def axes(roots: Iterable[Any]) -> list[Axis]:
    """Every logical axis below the roots, in first-use order; behind them those that states are said to vary along."""
    return list(_axes(tuple(roots)))


@once
def _axes(roots: tuple[Any, ...]) -> tuple[Axis, ...]:
    found: dict[Axis, None] = {}
    terms = _along()(*roots)
    for t in terms:
        if isinstance(t, Update):
            found |= dict.fromkeys(a for a in t.over if isinstance(a, Axis))
        a = t.axis if isinstance(t, (Coord, Reduce, Scan, Contract, Region)) else None
        a = a.axis if isinstance(a, Part) else a
        if isinstance(a, Axis):
            found[a] = None
    varied = (a for t in terms if isinstance(t, (Carry, Final)) for a in t.varies)
    return tuple(found | dict.fromkeys(a for a in varied if isinstance(a, Axis)))


def is_resident(axis: Axis, roots: Iterable[Any]) -> bool:
    """Whether an inner axis is held whole in a fragment; a region's axis is always traversed."""
    if axis.role:
        return axis.role == "whole"
    roots = tuple(roots)
    return may_be_resident(axis, roots) and not any(r.axis is axis for r in find(roots, Region))
