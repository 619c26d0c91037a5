"""Where the coordinates in a value come from: the domain of each axis, and each element as an expression of positions.

    i = I.indices(rows); c = i[:, None] * N + i[None, ::2]
    axes (rows, None), element p0 * N + 2 * p1       for rows = domain 0..M

Read off terms, never kept beside them; a call is what its helper returns over the call's arguments, so that a helper
outlined and expanded gives one answer.  What no expression says exactly is unknown, and never guessed from a shape or a
name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..terms.core import find
from ..terms.dtypes import DType, index
from ..terms.index import Value, add, const, is_const, mul, sub
from ..terms.logical import (
    Along,
    At,
    Convert,
    Domain,
    Formal,
    Indices,
    LoopVar,
    NewAxis,
    Pointwise,
    Read,
    Reshape,
    State,
    Take,
    Transpose,
    element,
    inlined,
    shape_of,
)
from .elements import Numbers, Positions, coordinates, finished
from .elements import element as element_of
from .simplify import simplify

Axes = tuple[Domain | None, ...]
NUMBERS = Numbers()


@dataclass(frozen=True)
class Provenance:
    """What is known of a value of integers or truths.

    axes:     the domain that each axis runs over, its identity kept; None where the axis is that of no domain
    element:  the value at position (p0, p1, …), exactly; None where no expression says so
    """

    axes: Axes
    element: Value | None

    @property
    def depends(self) -> tuple[Value, ...]:
        """What the element depends on besides its position: members in hand, carries, and elements in memory."""
        found = () if self.element is None else find(self.element, (LoopVar, State, Read))
        return tuple(t for t in found if not is_position(t))


def provenance(v: Value) -> Provenance:
    """Where the elements of `v` come from."""
    v = inlined(v)
    where = tuple(map(position, range(len(shape_of(v)))))
    found = at(v, where) if _exact(v) else None
    return Provenance(axes(v), None if found is None else simplify(found))


def position(axis: int) -> Formal:
    """The position along an axis of the value that is asked about."""
    return Formal(f":{axis}", axis, index, (), True)  # no name of an author


def is_position(t: Any) -> bool:
    """Whether a term is such a position."""
    return isinstance(t, Formal) and t.name.startswith(":")


def _exact(v: Value) -> bool:
    d = element(v.type)
    return isinstance(d, DType) and not d.is_float


# ---- one element


def at(v: Value, where: Positions) -> Value | None:
    """The element of `v` at these positions, one for each of its axes; None where no expression says it exactly."""
    if not _exact(v):
        return None
    if not shape_of(v):
        return v
    if isinstance(v, Read) and v.valid is None:
        placed = finished(coordinates(v.subscripts, where, NUMBERS), at)
        return None if placed is None else Read(v.view, tuple(map(At, placed)), v.after)
    return finished(element_of(v, where, NUMBERS), at)  # type: ignore[no-any-return]


# ---- domains


def axes(v: Value) -> Axes:
    """The domain that each axis of `v` runs over, of which every member is one position, in order."""
    shape = shape_of(v)
    match v:
        case Indices(domain):
            return (domain,)
        case Read(_, subscripts) | Take(_, subscripts):
            if not all(isinstance(s, At | Along | NewAxis) for s in subscripts):
                return (None,) * len(shape)
            found = _kept(subscripts, axes(v.value) if isinstance(v, Take) else (None,) * len(subscripts))
        case Convert(value):
            return axes(value)
        case Transpose(value, permutation):
            inner = axes(value)
            return tuple(inner[p] for p in permutation)
        case Pointwise(_, args):
            found = _merged(args, len(shape))
        case Reshape(value):
            inner, old = axes(value), shape_of(value)
            same = 0
            while same < min(len(old), len(shape)) and old[same] is shape[same]:
                same += 1
            found = (*inner[:same], *(None for _ in shape[same:]))
        case _:
            return (None,) * len(shape)
    return tuple(d if d is not None and d.extent is e else None for d, e in zip(found, shape, strict=True))


def _kept(subscripts: tuple[Any, ...], inner: Axes) -> Axes:
    """The domains of the axes that subscripts leave.  A part of an axis whose domain is known is a subregion of it: its
    members are those of the source, not new ones that count from 0."""
    found: list[Domain | None] = []
    rest = iter(inner)
    for s in subscripts:
        source = None if isinstance(s, NewAxis) else next(rest, None)
        if isinstance(s, At):
            continue
        if isinstance(s, NewAxis):
            found.append(None)
        elif source is None:
            found.append(s.domain)
        elif s.domain.extent is source.extent and is_const(s.domain.lo, 0) and s.domain.step is None:
            found.append(source)
        else:
            found.append(_part(source, s.domain))
    return tuple(found)


def _part(source: Domain, positions: Domain) -> Domain:
    """The members of `source` at these positions."""
    scale = const(1) if source.step is None else source.step
    step = scale if positions.step is None else simplify(mul(scale, positions.step))
    low = simplify(add(source.lo, mul(scale, positions.lo)))
    # the last position is one before the end
    high = simplify(add(source.lo, mul(scale, positions.hi)))
    high = high if source.step is None else simplify(sub(high, sub(scale, const(1))))
    return Domain(low, high, None if is_const(step, 1) else step, source.source or source)


def _merged(values: tuple[Value, ...], rank: int) -> Axes:
    """The domains of a broadcast: of the first operand that has the axis."""
    found: list[Domain | None] = [None] * rank
    for a in values:
        for i, (d, e) in enumerate(zip(reversed(axes(a)), reversed(shape_of(a)), strict=True), 1):
            if found[-i] is None and not is_const(e, 1):
                found[-i] = d
    return tuple(found)
