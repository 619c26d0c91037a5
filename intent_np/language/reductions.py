"""Reductions: the builtin ones, `reduce` over any associative and commutative combine, and the place of an extreme."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType, bool_, dtype, index
from intent_np.terms.index import Const, Value, apply, select
from intent_np.terms.logical import Along, Indices, NewAxis, Take, TensorReduce, element, shape_of
from intent_np.terms.normal import Arg, Combine, Proj, builtin, identity

from .combines import combined
from .context import fail
from .declare import declared, intrinsic, member_of
from .elaborate import Operand, convert, describe, is_tensor, show
from .indexing import whole
from .products import refilled
from .shapes import axis_of, tensor

# What `sum` accumulates in where the author says nothing; other dtypes keep theirs.
ACCUMULATORS = {
    "i8": "i32",
    "i16": "i32",
    "u8": "u32",
    "u16": "u32",
    "f16": "f32",
    "bf16": "f32",
    "f8e4m3fn": "f32",
    "f8e5m2": "f32",
}


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes as written (None: all), the highest first, so that taking one away leaves the others in place."""
    if axis is None:
        return tuple(reversed(range(rank)))
    axes = [axis_of(a, rank) for a in (axis if isinstance(axis, tuple) else (axis,))]
    if len(set(axes)) != len(axes):
        raise fail("E208", operation="the axes of a reduction", suggestion="name each axis once", found=str(axis))
    return tuple(sorted(axes, reverse=True))


def one_axis(name: str, axis: Any, rank: int) -> int:
    """The axis of an operation along one; that of a vector need not be named."""
    if axis is None and rank == 1:
        return 0
    if axis is None:
        raise fail("E113", name=f"I.{name}", signature=f"I.{name}(value, axis)", found=f"no axis of {rank}")
    return axis_of(axis, rank)


def flag(name: str, parameter: str, v: Any) -> bool:
    """A bool that is known when compiling."""
    if not isinstance(v, bool):
        raise fail(
            "E113",
            name=f"I.{name}",
            signature=f"I.{name}(value, axis, {parameter}=True)",
            found=f"{parameter}={describe(v)}",
        )
    return v


def accumulated(name: str, kind: str, v: Value, acc_dtype: Any = None) -> Value:
    """The operand of the builtin reduction `kind`, in the dtype that it accumulates in; `name` is that of the call."""
    d = element(v.type)
    if kind in ("any", "all") and d is not bool_:
        raise fail(
            "E202",
            operation=f"I.{name}",
            dtype=d,
            expected="bool",
            found=show(v),
            fix="compare first: value != 0",
        )
    if acc_dtype is not None:
        if not isinstance(acc_dtype, DType) or acc_dtype is bool_ or d.is_float and not acc_dtype.is_float:
            raise fail(
                "E202",
                operation=f"I.{name} of {d} with acc_dtype",
                dtype=describe(acc_dtype),
                expected="a number type that holds the values",
                found=describe(acc_dtype),
                fix="name a wider dtype",
            )
        return convert(v, acc_dtype)
    if kind not in ("any", "all") and d is bool_:
        raise fail(
            "E202",
            operation=f"I.{name}",
            dtype=d,
            found=show(v),
            fix=f"name the accumulator, for example I.{name}(value, axis, acc_dtype=I.i32)"
            if kind in ("sum", "prod")
            else "use I.reduce.any or I.reduce.all",
        )
    if kind == "sum" and d.name in ACCUMULATORS:
        return convert(v, dtype(ACCUMULATORS[d.name]))
    return v


def _builtin(kind: str, v: Operand, axis: Any, keepdims: Any, acc_dtype: Any = None) -> Value:
    name = f"reduce.{kind}"
    v = tensor(name, v)
    flag(name, "keepdims", keepdims)
    v = accumulated(name, kind, v, acc_dtype)
    d = element(v.type)
    for a in axes_of(axis, len(shape_of(v))):
        v = TensorReduce((v,), a, builtin(kind, d), (identity(kind, d),), keepdims)
    return _reduced(v, keepdims)


def _reduced(v: Value, keepdims: bool) -> Value:
    """What is left of a value: without axes a scalar, also where it had none to take away."""
    return Take(v, ()) if is_tensor(v) and not shape_of(v) and not keepdims else v


@intrinsic
def reduce(
    value: Any, axis: Any = None, *, identity: Any, combine: Any, combine_operands: Any = (), keepdims: bool = False
) -> Any:
    """Combine the members along `axis` (None: all axes; or several) in any order.

    `combine(a, b, *combine_operands)` is associative and commutative; each side is one scalar, tuple or record, like
    `value` and `identity`.  Nothing gives the identity."""
    flag("reduce", "keepdims", keepdims)
    c = combined("I.reduce", value, identity, combine, combine_operands)
    values = list(c.values)
    for a in axes_of(axis, len(c.shape)):
        made = TensorReduce(tuple(values), a, c.combine, c.identities, keepdims, c.operands)
        values = [made] if len(values) == 1 else [Proj(made, i) for i in range(len(values))]
    return refilled(value, [_reduced(v, keepdims) for v in values])


@member_of(reduce)
def _sum(value: Operand, axis: Any = None, keepdims: bool = False, acc_dtype: DType | None = None) -> Value:
    """Sum along an axis, several, or all; narrow types accumulate in 32 bits unless `acc_dtype` says otherwise."""
    return _builtin("sum", value, axis, keepdims, acc_dtype)


@member_of(reduce)
def _max(value: Operand, axis: Any = None, keepdims: bool = False) -> Value:
    """Largest member; NaN propagates; the maximum of nothing is -inf, or the smallest integer."""
    return _builtin("max", value, axis, keepdims)


@member_of(reduce)
def _min(value: Operand, axis: Any = None, keepdims: bool = False) -> Value:
    """Smallest member; NaN propagates; the minimum of nothing is inf, or the largest integer."""
    return _builtin("min", value, axis, keepdims)


@member_of(reduce)
def _prod(value: Operand, axis: Any = None, keepdims: bool = False, acc_dtype: DType | None = None) -> Value:
    """Product along an axis, several, or all, in the value's dtype or `acc_dtype`."""
    return _builtin("prod", value, axis, keepdims, acc_dtype)


@member_of(reduce)
def _any(value: Operand, axis: Any = None, keepdims: bool = False) -> Value:
    """Whether some member is true."""
    return _builtin("any", value, axis, keepdims)


@member_of(reduce)
def _all(value: Operand, axis: Any = None, keepdims: bool = False) -> Value:
    """Whether every member is true."""
    return _builtin("all", value, axis, keepdims)


# ---- the place of an extreme


@intrinsic
def arg_reduce(*_: Any) -> Any:
    """The two operations `I.arg_reduce.max` and `I.arg_reduce.min`."""
    raise fail("E113", name="I.arg_reduce", signature="I.arg_reduce.max(value, axis) or I.arg_reduce.min(value, axis)")


def _arg_reduce(kind: str, value: Operand, axis: Any, keepdims: Any) -> tuple[Value, Value]:
    name = f"arg_reduce.{kind}"
    v = tensor(name, value)
    shape, d = shape_of(v), element(v.type)
    flag(name, "keepdims", keepdims)
    a = one_axis(name, axis, len(shape))
    places: Value = Indices(whole(shape[a]))
    if behind := len(shape) - 1 - a:  # a column that broadcasts over the axes behind it
        places = Take(places, (Along(whole(shape[a])), *[NewAxis()] * behind))
    neutral = identity({"max": "any", "min": "all"}[kind] if d is bool_ else kind, d)
    made = TensorReduce((v, places), a, _winner(kind, d), (neutral, Const(index.range[1], index)), keepdims)
    return Proj(made, 0), Proj(made, 1)


def _winner(kind: str, d: DType) -> Combine:
    """The larger (smaller) value with its position: NaN before all others, the lower position of equal ones."""
    a, b = Arg("a", 0, d), Arg("b", 0, d)
    at, bt = Arg("a", 1, index), Arg("b", 1, index)
    low, high = (a, b) if kind == "max" else (b, a)
    if d is bool_:
        better, same = apply("and", apply("not", low), high), apply("eq", a, b)
    else:
        better, same = apply("lt", low, high), apply("eq", a, b)
    if d.is_float:
        nan_a, nan_b = apply("isnan", a), apply("isnan", b)
        better = apply("or", better, apply("and", nan_b, apply("not", nan_a)))
        same = apply("or", same, apply("and", nan_a, nan_b))
    take = apply("or", better, apply("and", same, apply("lt", bt, at)))
    return Combine((d, index), (select(take, b, a), select(take, bt, at)))


def _argmax(value: Operand, axis: Any = None, keepdims: bool = False) -> tuple[Value, Value]:
    """(largest members, their positions) along an axis: the lowest position of equal ones, NaN before all others.  Of
    nothing, -inf (or the smallest integer) and the largest index."""
    return _arg_reduce("max", value, axis, keepdims)


def _argmin(value: Operand, axis: Any = None, keepdims: bool = False) -> tuple[Value, Value]:
    """(smallest members, their positions) along an axis: the lowest position of equal ones, NaN before all others.  Of
    nothing, inf (or the largest integer) and the largest index."""
    return _arg_reduce("min", value, axis, keepdims)


declared("arg_reduce.max", _argmax)
declared("arg_reduce.min", _argmin)
