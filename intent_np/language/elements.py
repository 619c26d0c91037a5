"""The element of a tensor value at given positions, as a scalar: what proofs about whole tensors are about.

An index tensor such as `I.indices(rows)[:, None] * 2` becomes `rows.lo + i * 2`, over a position i that stands for any
of its own; what has no such form is an unknown element of the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.index import Cast, Value, add, apply, const, is_const, mul
from intent_np.terms.logical import (
    Along,
    At,
    AtEach,
    Convert,
    Domain,
    Filled,
    InBounds,
    Indices,
    LoopVar,
    Pointwise,
    Read,
    Subscript,
    Take,
    Transpose,
    Unique,
    placed,
    shape_of,
)

Positions = tuple[Value, ...]


def positions(shape: Sequence[Value]) -> Positions:
    """Any position in a tensor of this shape.  The depths of loop variables begin at 0, so these are none of them."""
    return tuple(const(0) if is_const(e, 1) else LoopVar(Domain(const(0), e), -1 - d) for d, e in enumerate(shape))


def fitted(v: Value, where: Positions) -> Value:
    """The element of a value that is broadcast to the shape that `where` stands in."""
    shape = shape_of(v)
    tail = where[len(where) - len(shape) :]
    return at(v, tuple(const(0) if is_const(e, 1) else p for e, p in zip(shape, tail, strict=True)))


def at(v: Any, where: Positions) -> Value:
    """The element of `v` at these positions, one for each of its axes."""
    if not shape_of(v):
        return v  # type: ignore[no-any-return]
    match v:
        case Indices(domain):
            return _coordinate(domain, where[0])
        case Pointwise(op, args):
            return apply(op, *(fitted(a, where) for a in args))
        case Convert(value, d, mode):
            return Cast(at(value, where), d, mode)
        case Filled(value):
            return value
        case Transpose(value, permutation):
            inner = dict(zip(permutation, where, strict=True))
            return at(value, tuple(inner[i] for i in range(len(where))))
        case InBounds(value, extent):
            return InBounds(at(value, where), extent)
        case Unique(values, position) if all(len(shape_of(x)) == len(where) for x in values):
            return Unique(tuple(at(x, where) for x in values), position)
        case Take(value, subscripts, None):
            return at(value, coordinates(subscripts, where))
        case Read(view, subscripts, after, None):
            return Read(view, tuple(map(At, coordinates(subscripts, where))), after)
    return Take(v, tuple(map(At, where)))


def coordinates(subscripts: tuple[Subscript, ...], where: Positions) -> Positions:
    """The coordinate in each axis of what is indexed, for an element of the result."""
    made: list[Value] = []
    for s, axes in zip(subscripts, placed(subscripts).axes, strict=True):
        match s:
            case At(value):
                made.append(value)
            case Along(domain):
                made.append(_coordinate(domain, where[axes[0]]))
            case AtEach(value):
                made.append(fitted(value, tuple(where[a] for a in axes)))
    return tuple(made)


def _coordinate(d: Domain, position: Value) -> Value:
    return simplify(add(position if d.step is None else mul(position, d.step), d.lo))
