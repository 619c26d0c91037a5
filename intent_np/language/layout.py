"""Joining, cutting and turning tensors: elements of values at other coordinates, so that nothing is copied."""

from __future__ import annotations

from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.dtypes import bool_
from intent_np.terms.index import Value, add, const, sub
from intent_np.terms.logical import Domain, Indices, element, shape_of

from . import indexing
from .context import fail, static
from .declare import intrinsic
from .elaborate import Operand, describe, index_value, select, shape_text
from .elaborate import pointwise as apply
from .elaborate import value as term
from .indexing import Slice
from .shapes import axis_of, tensor

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


@intrinsic
def concat(arrays: Any, axis: int = 0) -> Value:
    """Tensors of one dtype, one behind the other along an axis; their other extents are equal."""
    parts = _parts("concat", arrays)
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
def roll(value: Operand, shift: Any, axis: Any) -> Value:
    """The members of an axis moved by `shift` places, those that leave at the end coming back at the front; tuples of
    both for several axes."""
    v = tensor("roll", value)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise fail("E113", name="I.roll", signature="I.roll(value, shift, axis)", found=f"{len(shifts)} shifts")
    for by, a in zip(shifts, axes, strict=True):
        d = axis_of(a, len(shape_of(v)))
        n = shape_of(v)[d]
        v = _at(v, d, apply("mod", apply("sub", _along(n), index_value(static(by))), n))
    return v


@intrinsic
def pad(value: Operand, pad_width: Any, constant_values: Operand = 0) -> Value:
    """The tensor with `constant_values` around it: `pad_width` is one number for all, (before, after), or a pair for
    each axis."""
    v = tensor("pad", value)
    rank = len(shape_of(v))
    pair = pad_width if isinstance(pad_width, tuple) else (pad_width, pad_width)
    pairs = pair if all(isinstance(p, tuple) for p in pair) else (pair,) * rank
    if len(pairs) != rank or any(len(p) != 2 for p in pairs):
        raise fail("E113", name="I.pad", signature="I.pad(value, ((1, 1), (0, 2)))", found=describe(pad_width))
    fill = term(constant_values, element(v.type))  # type: ignore[arg-type]
    for d, (before, after) in enumerate(pairs):
        lo, hi = (index_value(static(b)) for b in (before, after))
        n = shape_of(v)[d]
        i = apply("sub", _along(simplify(add(add(n, lo), hi))), lo)
        v = _at(v, d, i, apply("and", apply("le", 0, i), apply("lt", i, n)), fill)
    return v


@intrinsic
def split(value: Operand, indices: Any, axis: int = 0) -> tuple[Value, ...]:
    """The tensor cut along an axis: into `indices` equal parts of a static extent, or in front of each of the indices
    of a tuple, which are in order."""
    v = tensor("split", value)
    d = axis_of(axis, len(shape_of(v)))
    n, cuts = static(shape_of(v)[d]), static(indices)
    if not isinstance(cuts, tuple):
        if not isinstance(cuts, int) or not isinstance(n, int) or cuts < 1 or n % cuts:
            found = f"{describe(cuts)} parts of {describe(n)}"
            raise fail("E113", name="I.split", signature="I.split(value, (first, second), axis)", found=found)
        cuts = tuple(range(n // cuts, n, n // cuts)) if n else (0,) * (cuts - 1)
    ends = (0, *cuts, n)
    return tuple(indexing.read(v, (*[WHOLE] * d, Slice(b, e, None))) for b, e in zip(ends, ends[1:], strict=False))
