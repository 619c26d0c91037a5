"""Reductions: the builtin ones, and `reduce` over any associative and commutative combine."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType, bool_, dtype
from intent_np.terms.index import Const, Value
from intent_np.terms.logical import TensorReduce, element, shape_of
from intent_np.terms.normal import Arg, Combine, Proj, builtin, identity

from . import calls
from .context import capture, fail, static
from .declare import Intrinsic, intrinsic, member_of
from .elaborate import Operand, convert, describe, fit, is_tensor, literal, show
from .products import Record, alike, leaves, refilled
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


def _builtin(name: str, v: Operand, axis: Any, keepdims: Any, acc_dtype: Any = None) -> Value:
    v = tensor(f"reduce.{name}", v)
    if not isinstance(keepdims, bool):
        raise fail(
            "E113",
            name=f"I.reduce.{name}",
            signature=f"I.reduce.{name}(value, axis, keepdims=True)",
            found=describe(keepdims),
        )
    d = element(v.type)
    if name in ("any", "all") and d is not bool_:
        raise fail(
            "E202",
            operation=f"I.reduce.{name}",
            dtype=d,
            expected="bool",
            found=show(v),
            fix="compare first: value != 0",
        )
    if acc_dtype is not None:
        if not isinstance(acc_dtype, DType) or acc_dtype is bool_ or d.is_float and not acc_dtype.is_float:
            raise fail(
                "E202",
                operation=f"I.reduce.{name} of {d} with acc_dtype",
                dtype=describe(acc_dtype),
                expected="a number type that holds the values",
                found=describe(acc_dtype),
                fix="name a wider dtype",
            )
        v = convert(v, acc_dtype)
    elif name not in ("any", "all") and d is bool_:
        raise fail(
            "E202",
            operation=f"I.reduce.{name}",
            dtype=d,
            found=show(v),
            fix=f"name the accumulator, for example I.reduce.{name}(value, axis, acc_dtype=I.i32)"
            if name in ("sum", "prod")
            else "use I.reduce.any or I.reduce.all",
        )
    elif name == "sum" and d.name in ACCUMULATORS:
        v = convert(v, dtype(ACCUMULATORS[d.name]))
    d = element(v.type)
    for a in axes_of(axis, len(shape_of(v))):
        v = TensorReduce((v,), a, builtin(name, d), (identity(name, d),), keepdims)
    return v


@intrinsic
def reduce(value: Any, axis: Any = None, *, identity: Any, combine: Any, combine_operands: Any = ()) -> Any:
    """Combine the members along `axis` (None: all axes) in any order.

    `combine(a, b, *combine_operands)` is associative and commutative; each side is one scalar, tuple or record, like
    `value` and `identity`.  Nothing gives the identity."""
    values = [tensor("reduce", v) for v in leaves(value)]
    starts = list(leaves(identity))
    if not alike(value, identity):
        raise fail(
            "E208",
            operation="I.reduce",
            suggestion="give one identity for each component of the value",
            expected=f"an identity like {describe(value)}",
            found=describe(identity),
        )
    shape = fit(values, "I.reduce")
    for v in values:
        if shape_of(v) != shape:
            raise fail("E204", left=str(describe(values[0])), right=describe(v), found="components of different shapes")
    dtypes = tuple(element(v.type) for v in values)
    identities = tuple(_identity(i, d) for i, d in zip(starts, dtypes, strict=True))
    region = _combine(value, dtypes, combine, combine_operands)
    for a in axes_of(axis, len(shape)):
        made = TensorReduce(tuple(values), a, region, identities)
        values = [made] if len(values) == 1 else [Proj(made, i) for i in range(len(values))]
    return refilled(value, values)


def _identity(v: Any, d: DType) -> Const:
    v = static(v)
    if isinstance(v, Const) and v.dtype is d:
        return v
    if isinstance(v, bool | int | float):
        return literal(v, d)
    raise fail(
        "E113",
        name="I.reduce",
        signature="I.reduce(value, axis, identity=0.0, combine=helper)",
        found=f"identity={describe(v)}",
        expected="an identity that is known when compiling",
    )


def _combine(value: Any, dtypes: tuple[DType, ...], combine: Any, operands: Any) -> Combine:
    """The combine read over arguments: closed, pure, one body a component."""
    operands = operands if isinstance(operands, tuple) else (operands,)
    if any(isinstance(x, Value) and not isinstance(x, Const) for v in operands for x in leaves(v)):
        raise fail(
            "E102", construct="a runtime combine operand", suggestion="make it a component of the value, or a Constexpr"
        )
    if not isinstance(combine, Intrinsic | calls.Callee):
        raise fail(
            "E113",
            name="I.reduce",
            signature="I.reduce(value, axis, identity=..., combine=helper)",
            found=f"combine={describe(combine)}",
            expected="a helper decorated with @intent.fn, or an operation such as I.maximum",
        )
    sides = []
    for side in "ab":
        sides.append(refilled(value, [Arg(side, i, d) for i, d in enumerate(dtypes)]))
    state = capture()
    outer, state.pure = state.pure, "the combine of a reduction"
    try:
        result = calls.call(combine, (*sides, *operands), {})
    finally:
        state.pure = outer
    if (
        isinstance(value, Record)
        and isinstance(result, Record)
        and value.names != result.names
        and set(value.names) == set(result.names)
    ):
        result = Record(value.names, tuple(result.values[result.names.index(n)] for n in value.names))
    bodies = [b if isinstance(b, Value) else literal(b, d) for b, d in zip(leaves(result), dtypes, strict=False)]
    found = tuple(b.type for b in bodies)
    if not alike(value, result) or found != dtypes or any(map(is_tensor, bodies)):
        raise fail(
            "E208",
            operation="the combine of I.reduce",
            suggestion="return one scalar for each component, in its dtype",
            expected=f"({', '.join(map(str, dtypes))})",
            found=f"({', '.join(show(b) for b in bodies)})",
        )
    return Combine(dtypes, tuple(bodies))


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
