"""The element of a tensor value at given positions, as a scalar: what proofs about whole tensors are about.

An index tensor such as `I.indices(rows)[:, None] * 2` becomes `rows.lo + i * 2`, over a position i that stands for any
of its own; what has no such form is an unknown element of the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intent_np.rules import elements
from intent_np.rules.elements import Numbers, Positions, finished
from intent_np.rules.simplify import simplify
from intent_np.terms.index import Value, apply, const, is_const
from intent_np.terms.logical import At, Domain, InBounds, LoopVar, Read, Subscript, Take, Unique, shape_of

NUMBERS = Numbers(made=simplify)


def positions(shape: Sequence[Value]) -> Positions:
    """Any position in a tensor of this shape.  The depths of loop variables begin at 0, so these are none of them."""
    return tuple(const(0) if is_const(e, 1) else LoopVar(Domain(const(0), e), -1 - d) for d, e in enumerate(shape))


def fitted(v: Value, where: Positions) -> Value:
    """The element of a value that is broadcast to the shape that `where` stands in."""
    return at(*elements.fitted(v, where))


def at(v: Any, where: Positions) -> Value:
    """The element of `v` at these positions, one for each of its axes."""
    if not shape_of(v):
        return v  # type: ignore[no-any-return]
    match v:
        case InBounds(value, extent):
            return InBounds(at(value, where), extent)
        case Unique(values, position) if all(len(shape_of(x)) == len(where) for x in values):
            return Unique(tuple(at(x, where) for x in values), position)
        case Read(view, subscripts, after, None):
            return Read(view, tuple(map(At, coordinates(subscripts, where))), after)
        case Take(value, subscripts, Value() as valid, Value() as fill):
            element = at(value, coordinates(subscripts, where))
            return apply("select", fitted(valid, where), element, fitted(fill, where))
    found = finished(elements.element(v, where, NUMBERS), at)
    return Take(v, tuple(map(At, where))) if found is None else found


def coordinates(subscripts: tuple[Subscript, ...], where: Positions) -> Positions:
    """The coordinate in each axis of what is indexed, for an element of the result."""
    return finished(elements.coordinates(subscripts, where, NUMBERS), at)  # type: ignore[no-any-return]
