"""Whether an index certainly stays inside an extent: logical coordinates replaced by the ends of their axes."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from ..terms.index import AxisLike, Value, add, const, mul, sub
from ..terms.normal import Axis, Coord, Turn
from .affine import affine
from .facts import at_most
from .simplify import simplify


def inside(index: Value, extent: Value) -> bool:
    """Proof of 0 <= index < extent for every member of the axes that it varies along."""
    return at_most(const(0), end(index, last=False)) and at_most(add(end(index, last=True), const(1)), extent)


def end(t: Value, last: bool, fixed: Container[Any] = ()) -> Value:
    """A bound of `t` over its axes but `fixed` ones: exact for a sum of coordinates, `t` itself where nothing is
    known."""
    total: Value = const(affine(t).get(None, 0))
    for k, c in affine(t).items():
        if k is None:
            continue
        if isinstance(k, Coord) and k.axis not in fixed and (axis := _members(k.axis)) is not None:
            k = sub(axis.hi, const(1)) if (c > 0) == last else axis.lo
        total = add(total, mul(k, const(c)))
    return simplify(total)  # type: ignore[no-any-return]


def _members(axis: AxisLike) -> Axis | None:
    """The axis whose members the coordinate along `axis` is one of."""
    axis = axis.axis if isinstance(axis, Turn) else axis  # type: ignore[assignment]
    return axis if isinstance(axis, Axis) else None
