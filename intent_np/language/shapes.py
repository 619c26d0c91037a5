"""Shape operations and constant tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.dtypes import DType, i32, i64, index
from intent_np.terms.index import Const, Value, apply, const
from intent_np.terms.logical import Filled, Reshape, Transpose, element, shape_of

from .context import fail, static
from .declare import intrinsic
from .elaborate import Operand, convert, describe, index_value, is_literal, is_tensor, shape_text, value
from .polynomials import Monomial, from_polynomial, polynomial


@intrinsic
def full(shape: Any, fill: Operand, dtype: DType) -> Value:
    """A tensor that holds `fill` everywhere."""
    if not isinstance(dtype, DType):
        raise fail("E113", name="I.full", signature="I.full(shape, fill, dtype)", found=f"dtype={describe(dtype)}")
    filled = convert(fill, dtype) if is_literal(fill) else value(fill)
    if is_tensor(filled):
        raise fail("E113", name="I.full", signature="I.full(shape, fill, dtype)", found=f"fill={describe(fill)}")
    if element(filled.type) is not dtype:
        raise fail("E201", operator="I.full", left=element(filled.type), right=dtype, found=describe(fill))
    return Filled(filled, extents(shape))


@intrinsic
def zeros(shape: Any, dtype: DType) -> Value:
    """A tensor of zeros (false for bool)."""
    if not isinstance(dtype, DType):
        raise fail("E113", name="I.zeros", signature="I.zeros(shape, dtype)", found=f"dtype={describe(dtype)}")
    return Filled(const(0, dtype), extents(shape))


def extents(shape: Any) -> tuple[Value, ...]:
    """A shape as written: an int, an index scalar, or a tuple of them."""
    made = []
    for e in shape if isinstance(shape, tuple) else (shape,):
        e = static(e)
        if is_literal(e) and isinstance(e, int) and e < 0:
            wanted, fix = "an extent of 0 or more", "count the members: an axis has 0 or more"
            raise fail("E203", value=e, dtype="an extent", expected=wanted, found=f"the extent {e}", fix=fix)
        made.append(simplify(index_value(e)))
    return tuple(made)


def tensor(name: str, v: Any) -> Value:
    """An operand that must be a tensor."""
    if not is_tensor(v):
        raise fail(
            "E202",
            operation=f"I.{name}",
            dtype=describe(v),
            expected="a tensor",
            found=describe(v),
            fix="read it with a domain or a slice",
        )
    return v


def axis_of(v: Any, rank: int) -> int:
    """An axis as written, negative from the end."""
    v = static(v)
    if not isinstance(v, int) or isinstance(v, bool):
        operand = isinstance(v, float) or isinstance(v, Value) and (is_tensor(v) or v.type not in (index, i32, i64))
        fix = "write the axis as a number, or make it an I.Constexpr[int]"
        if operand:
            fix = "write the axis as a number; two operands are combined by a + b, or I.maximum(a, b)"
        raise fail(
            "E206",
            axis=describe(v),
            rank=rank,
            low=-rank,
            high=rank - 1,
            expected="one axis that is known when compiling",
            fix=fix,
        )
    if not -rank <= v < rank:
        raise fail("E206", axis=v, rank=rank, low=-rank, high=rank - 1)
    return v % rank


@intrinsic
def transpose(value: Operand, permutation: Any = None) -> Value:
    """Axis i of the result is axis permutation[i] of the value; all axes reversed by default."""
    v = tensor("transpose", value)
    rank = len(shape_of(v))
    order = tuple(reversed(range(rank))) if permutation is None else permutation
    if not isinstance(order, tuple):
        raise fail("E113", name="I.transpose", signature="I.transpose(value, (1, 0))", found=describe(order))
    axes = tuple(axis_of(a, rank) for a in order)
    if sorted(axes) != list(range(rank)):
        raise fail(
            "E208",
            operation="I.transpose",
            suggestion="name every axis once",
            expected=f"a permutation of {rank} axes",
            found=str(axes),
        )
    return v if axes == tuple(range(rank)) else Transpose(v, axes)


@intrinsic
def reshape(value: Operand, shape: Any) -> Value:
    """The same elements in row-major order under another shape; one extent may be -1, and is inferred."""
    v = tensor("reshape", value)
    wanted = tuple(map(static, shape if isinstance(shape, tuple) else (shape,)))
    old, holes = shape_of(v), [i for i, e in enumerate(wanted) if is_literal(e) and e == -1]
    if len(holes) > 1:
        raise fail(
            "E208",
            operation="I.reshape",
            suggestion="give all extents but one",
            expected="at most one -1",
            found=f"{len(holes)} of them",
        )
    known = extents(tuple(e for i, e in enumerate(wanted) if i not in holes))
    if holes:
        inferred = quotient(old, known)
        if inferred is None:
            raise _mismatch(old, known, "the extent of -1 does not follow")
        known = (*known[: holes[0]], inferred, *known[holes[0] :])
    elif polynomial(_product(old)) != polynomial(_product(known)):
        raise _mismatch(old, known, "the numbers of elements are not known to be equal")
    return v if known == old else Reshape(v, known)


def _mismatch(old: Sequence[Value], new: Sequence[Value], found: str) -> Exception:
    return fail(
        "E208",
        operation="I.reshape",
        suggestion="name extents whose product is that of the value's",
        expected=f"as many elements as {shape_text(old)} has",
        found=f"{shape_text(new)}: {found}",
    )


def _product(shape: Sequence[Value]) -> Value:
    total: Value = const(1)
    for e in shape:
        total = apply("mul", total, e)
    return total


def quotient(old: Sequence[Value], known: Sequence[Value]) -> Value | None:
    """What is left of the old extents once the known ones are taken out; None where that is not certain."""
    rest = [e for e in old if not isinstance(e, Const)]
    number = math.prod(static(e) for e in old if isinstance(e, Const))
    by = math.prod(static(e) for e in known if isinstance(e, Const))
    for e in known:
        if not isinstance(e, Const):
            if e not in rest:
                return _divided(old, known)
            rest.remove(e)
    if by == 0:
        return None
    if number % by == 0:
        return simplify(_product([*rest, const(number // by)]))
    return _divided(old, known)


def _divided(old: Sequence[Value], known: Sequence[Value]) -> Value | None:
    """By polynomials, for extents such as GROUP * HK and 4 * N + 4."""
    whole, part = polynomial(_product(old)), polynomial(_product(known))
    if not whole or len(part) != 1:
        return None
    ((few, d),) = part.items()
    total: dict[Monomial, int] = {}
    for many, c in whole.items():
        left = list(many)
        for a in few:
            if a not in left:
                return None
            left.remove(a)
        if not d or c % d:
            return None
        total[tuple(left)] = c // d
    return simplify(from_polynomial(total))
