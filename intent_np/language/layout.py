"""Joining, cutting and turning tensors: elements of values at other coordinates, so that nothing is copied."""

from __future__ import annotations

from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.dtypes import bool_
from intent_np.terms.index import Value, add, const, is_const, mul, sub
from intent_np.terms.logical import Domain, Indices, element, shape_of

from . import indexing
from .context import fail, static
from .declare import intrinsic
from .elaborate import Operand, describe, extent_text, index_value, select, shape_text
from .elaborate import pointwise as apply
from .indexing import Slice
from .shapes import axis_of, quotient, reshape, tensor

WHOLE = Slice(None, None, None)


def _along(n: Value) -> Value:
    return Indices(Domain(const(0), n))


def _at(v: Value, axis: int, place: Value, valid: Value | None = None, fill: Any = None) -> Value:
    """`v` with coordinate `place` along one axis; where that is not valid, the fill."""
    items = (*[WHOLE] * axis, place)
    if valid is None:
        return indexing.read(v, items)
    spread = indexing.read(valid, (WHOLE, *[None] * (len(shape_of(v)) - axis - 1)))
    return indexing.read(v, items, spread, fill)


def _parts(name: str, arrays: Any) -> list[Value]:
    if not isinstance(arrays, tuple) or not arrays:
        raise fail("E113", name=f"I.{name}", signature=f"I.{name}((a, b), axis=0)", found=describe(arrays))
    return [tensor(name, a) for a in arrays]


def _flat(v: Value) -> Value:
    return v if len(shape_of(v)) == 1 else reshape.meaning(v, -1)  # type: ignore[no-any-return]


@intrinsic
def concat(arrays: Any, axis: int | None = 0) -> Value:
    """Tensors of one dtype, one behind the other along an axis; their other extents are equal.  With axis None, all
    their elements in row-major order."""
    parts = _parts("concat", arrays)
    if axis is None:
        parts, axis = [_flat(v) for v in parts], 0
    rank = len(shape_of(parts[0]))
    a = axis_of(axis, rank)
    rest = [shape_of(v)[:a] + shape_of(v)[a + 1 :] for v in parts]
    for v, r in zip(parts, rest, strict=True):
        if len(shape_of(v)) != rank or r != rest[0]:
            left, right = shape_text(shape_of(parts[0])), shape_text(shape_of(v))
            raise fail("E204", left=left, right=right, found=f"I.concat of {left} and {right}")
        if element(v.type) is not element(parts[0].type):
            raise fail(
                "E201", operator="I.concat", left=element(parts[0].type), right=element(v.type), found=describe(v)
            )
    starts: list[Value] = [const(0)]
    for v in parts:
        starts.append(simplify(add(starts[-1], shape_of(v)[a])))
    i = _along(starts[-1])
    nothing = False if element(parts[0].type) is bool_ else 0
    found: Any = None
    for v, begin, end in reversed(list(zip(parts, starts, starts[1:], strict=False))):
        place, below = apply("sub", i, begin), apply("lt", i, end)
        valid = apply("and", apply("le", begin, i), below)
        own = _at(v, a, place, valid, nothing)
        before = indexing.read(below, (WHOLE, *[None] * (rank - a - 1)))
        found = own if found is None else select(before, own, found)
    return found  # type: ignore[no-any-return]


@intrinsic
def join(a: Operand, b: Operand) -> Value:
    """Two tensors of one dtype and shape, with a new last axis of 2 that tells them apart."""
    left, right = tensor("join", a), tensor("join", b)
    if shape_of(left) != shape_of(right):
        texts = shape_text(shape_of(left)), shape_text(shape_of(right))
        raise fail("E204", left=texts[0], right=texts[1], found=f"I.join of {texts[0]} and {texts[1]}")
    sides = (indexing.read(v, (..., None)) for v in (left, right))
    return select(apply("eq", _along(const(2)), 0), *sides)


@intrinsic
def flip(value: Operand, axis: Any = None) -> Value:
    """The members of an axis, of several, or of all (None), in reverse order."""
    v = tensor("flip", value)
    rank = len(shape_of(v))
    for a in range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,):
        d = axis_of(a, rank)
        n = shape_of(v)[d]
        v = _at(v, d, apply("sub", simplify(sub(n, const(1))), _along(n)))
    return v


@intrinsic
def roll(value: Operand, shift: Any, axis: Any = None) -> Value:
    """The members of an axis moved by `shift` places, those that leave at the end coming back at the front; tuples of
    shifts, of axes, or of both for several.  With axis None, all elements in row-major order."""
    v = tensor("roll", value)
    if axis is None:
        return reshape.meaning(roll.meaning(_flat(v), shift, 0), shape_of(v))  # type: ignore[no-any-return]
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    axes, shifts = axes * (len(shifts) if len(axes) == 1 else 1), shifts * (len(axes) if len(shifts) == 1 else 1)
    if len(shifts) != len(axes):
        found = f"{len(shifts)} shifts and {len(axes)} axes"
        raise fail("E113", name="I.roll", signature="I.roll(value, shift, axis)", found=found)
    for by, a in zip(shifts, axes, strict=True):
        d = axis_of(a, len(shape_of(v)))
        n = shape_of(v)[d]
        v = _at(v, d, apply("mod", apply("sub", _along(n), index_value(static(by))), n))
    return v


@intrinsic
def split(value: Operand, indices: Any, axis: int = 0) -> tuple[Value, ...]:
    """The tensor cut along an axis: into `indices` equal parts, which must divide the extent provably, or in front of
    each of the indices of a tuple, which are in order."""
    v = tensor("split", value)
    d = axis_of(axis, len(shape_of(v)))
    n, cuts = shape_of(v)[d], static(indices)
    if not isinstance(cuts, tuple):
        part = None
        if isinstance(cuts, int) and not isinstance(cuts, bool) and cuts > 0:
            part = const(0) if is_const(n, 0) else quotient((n,), (index_value(cuts),))
        if part is None:
            found = f"{describe(cuts)} parts of {extent_text(n)}"
            raise fail("E113", name="I.split", signature="I.split(value, (first, second), axis)", found=found)
        cuts = tuple(static(simplify(mul(part, const(k)))) for k in range(1, cuts))
    ends = (0, *cuts, static(n))
    return tuple(indexing.read(v, (*[WHOLE] * d, Slice(b, e, None))) for b, e in zip(ends, ends[1:], strict=False))
