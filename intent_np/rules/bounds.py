"""Whether an index certainly stays inside an extent: logical coordinates replaced by the ends of their axes."""

from __future__ import annotations

from ..terms.index import Value, add, const, mul, sub
from ..terms.normal import Axis, Coord
from .affine import affine
from .facts import at_most
from .simplify import simplify


def inside(index: Value, extent: Value) -> bool:
    """Proof of 0 <= index < extent for every member of the axes that it varies along."""
    return at_most(const(0), end(index, last=False)) and at_most(add(end(index, last=True), const(1)), extent)


def end(t: Value, last: bool) -> Value:
    """A bound of `t` over its axes: exact for a sum of coordinates, `t` itself where nothing is known."""
    total: Value = const(affine(t).get(None, 0))
    for k, c in affine(t).items():
        if k is None:
            continue
        if isinstance(k, Coord) and isinstance(k.axis, Axis):
            k = sub(k.axis.hi, const(1)) if (c > 0) == last else k.axis.lo
        total = add(total, mul(k, const(c)))
    return simplify(total)  # type: ignore[no-any-return]
