"""Operators on captured values, and on Python values that are known while compiling."""

from __future__ import annotations

import ast
import enum
import functools
import operator
from collections.abc import Callable
from typing import Any

from intent_np.terms.core import Term
from intent_np.terms.dtypes import DType, bool_
from intent_np.terms.index import Const, Value
from intent_np.terms.logical import element

from .context import fail, static
from .elaborate import describe, is_literal, pointwise

_BINARY: dict[type, tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", "+", operator.add),
    ast.Sub: ("sub", "-", operator.sub),
    ast.Mult: ("mul", "*", operator.mul),
    ast.Div: ("div", "/", operator.truediv),
    ast.FloorDiv: ("floordiv", "//", operator.floordiv),
    ast.Mod: ("mod", "%", operator.mod),
    ast.Pow: ("pow", "**", operator.pow),
    ast.BitAnd: ("bit_and", "&", operator.and_),
    ast.BitOr: ("bit_or", "|", operator.or_),
    ast.BitXor: ("bit_xor", "^", operator.xor),
    ast.LShift: ("shl", "<<", operator.lshift),
    ast.RShift: ("shr", ">>", operator.rshift),
}


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """`left op right`."""
    if isinstance(op, ast.MatMult):
        raise fail(
            "E102",
            construct="the operator @",
            suggestion="use I.matmul(left, right, acc_dtype=...), which names the accumulator",
        )
    name, symbol, meaning = _BINARY[type(op)]
    left, right = static(left), static(right)
    if is_literal(left) and is_literal(right):
        return known(symbol, meaning, left, right)
    if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(op, ast.Add):
        return left + right
    if name in ("bit_and", "bit_or") and all(is_bool(v) for v in (left, right)):
        name = {"bit_and": "and", "bit_or": "or"}[name]
        return logic(name, (left, right), symbol)
    made = pointwise(name, left, right, spelled=symbol)
    if is_literal(right) and not made_of_floats(made):
        _defined(name, symbol, left, right, element(made.type))
    return made


def made_of_floats(v: Value) -> bool:
    """Whether the elements of a value are floats."""
    d = element(v.type)
    return isinstance(d, DType) and d.is_float


def _defined(name: str, symbol: str, left: Any, right: Any, d: Any) -> None:
    """E115 for an integer operation whose literal right side leaves it without a value."""
    reason = ""
    if name in ("floordiv", "mod") and right == 0:
        reason = "division by zero"
    elif name in ("shl", "shr") and not 0 <= right < d.bits:
        reason = f"{d} has {d.bits} bits"
    if reason:
        what = f"{describe(left)} {symbol} {right}"
        raise fail("E115", what=what, reason=reason, fix="use another right side, or guard with I.select or if")


def is_bool(v: Any) -> bool:
    """Whether it is a Python bool, or a value or tensor of bools."""
    return isinstance(v, bool) or (isinstance(v, Value) and element(v.type) is bool_)


def _shown(v: Any) -> str:
    return repr(v) if isinstance(v, str) else describe(v)


def known(symbol: str, meaning: Callable[..., Any], *operands: Any) -> Any:
    """An operator or function on Python numbers, computed now."""
    spelled = (
        f" {symbol} ".join(map(_shown, operands))
        if not symbol[0].isalpha()
        else f"{symbol}({', '.join(map(_shown, operands))})"
    )
    try:
        result = meaning(*operands)
    except (ArithmeticError, ValueError, TypeError, MemoryError) as problem:
        raise fail("E115", what=spelled, reason=str(problem.args[-1] if problem.args else "too large")) from None
    if not is_literal(result):
        raise fail("E115", what=spelled, reason=f"the result is a {type(result).__name__}")
    return result


_UNARY: dict[type, tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("negative", operator.neg),
    ast.Not: ("not", operator.not_),
    ast.Invert: ("invert", operator.invert),
}


def unary(op: ast.unaryop, v: Any) -> Any:
    """`+v`, `-v`, `~v` or `not v`, of Python numbers or of values; E202 where the dtype has no such operator."""
    v = static(v)
    if isinstance(op, ast.UAdd):
        return v
    if is_literal(v):
        symbol, meaning = _UNARY[type(op)]
        return known(symbol, meaning, v)
    match op:
        case ast.USub():
            return pointwise("neg", v, spelled="-")
        case ast.Not():
            return pointwise("not", v, spelled="not")
    return pointwise("not" if is_bool(v) else "bit_not", v, spelled="~")


def logic(name: str, parts: tuple[Any, ...], spelled: str) -> Value:
    """`and` or `or` of bools, which evaluates all parts; E202 for a part that is none."""
    for p in parts:
        if not is_bool(p):
            found = describe(p)
            raise fail(
                "E202", operation=spelled, dtype=found, found=found, fix="compare first: value != 0", expected="bool"
            )
    return functools.reduce(lambda a, b: pointwise(name, a, b, spelled=spelled), parts)


_COMPARE: dict[type, tuple[str, str, bool, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("lt", "<", False, operator.lt),
    ast.LtE: ("le", "<=", False, operator.le),
    ast.Gt: ("lt", ">", True, operator.gt),
    ast.GtE: ("le", ">=", True, operator.ge),
    ast.Eq: ("eq", "==", False, operator.eq),
    ast.NotEq: ("ne", "!=", False, operator.ne),
}


def compare(op: ast.cmpop, left: Any, right: Any) -> Any:
    """One link of a comparison."""
    if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
        return (left is right) is isinstance(op, ast.Is)
    if isinstance(op, ast.Eq | ast.NotEq) and (left is None or right is None):
        return (left is right) is isinstance(op, ast.Eq)
    if type(op) not in _COMPARE:
        word = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}[type(op)]
        hint = "compare with == or !=" if word.startswith("is") else "compare with each candidate and join with or"
        raise fail("E102", construct=f"the operator {word}", suggestion=hint)
    name, symbol, swapped, meaning = _COMPARE[type(op)]
    left, right = static(left), static(right)
    if is_literal(left) and is_literal(right):
        return known(symbol, meaning, left, right)
    if isinstance(left, tuple) and isinstance(right, tuple) and name in ("eq", "ne"):
        return _same(left, right) if name == "eq" else _inverted(_same(left, right))
    if not isinstance(left, Value) and not isinstance(right, Value) and name in ("eq", "ne"):
        if _sort(left) is not _sort(right):
            raise _apart(symbol, left, right)
        return meaning(left, right) if not isinstance(left, Term) else (left is right) is (name == "eq")
    pair = (right, left) if swapped else (left, right)
    return pointwise(name, *pair, spelled=symbol)


def _sort(v: Any) -> Any:
    """What a thing that is known now may be equal to: things of the same sort."""
    return "number" if is_literal(v) else type(v)


def _apart(symbol: str, left: Any, right: Any) -> Exception:
    """E201 for a comparison whose outcome would be the same whatever the values are."""
    found = f"{describe(left)} and {describe(right)}"
    member = next((v for v in (left, right) if isinstance(v, enum.Enum)), None)
    fix = f"compare it with a member of its class: {describe(member)}" if member else "compare things of one sort"
    sides = {"left": describe(left), "right": describe(right)}
    return fail("E201", operator=symbol, **sides, expected="both sides of one sort", found=found, fix=fix)


def _same(left: tuple[Any, ...], right: tuple[Any, ...]) -> Any:
    """Whether two tuples, such as shapes, are equal component by component; extents may turn out equal at run time."""
    if len(left) != len(right):
        return False
    links = [True if a is b else compare(ast.Eq(), a, b) for a, b in zip(left, right, strict=True)]
    if False in links:
        return False
    runtime = tuple(p for p in links if p is not True)
    return logic("and", runtime, "==") if runtime else True


def _inverted(v: Any) -> Any:
    return not v if isinstance(v, bool) else negated(v)


def negated(condition: Value) -> Value:
    """What holds where a condition does not."""
    return pointwise("not", condition)


def truth(v: Any) -> bool:
    """The truth of a value that is known now."""
    if isinstance(v, Const):
        return bool(v.value)
    if is_literal(v) or v is None or isinstance(v, str | tuple):
        return bool(v)
    raise fail(
        "E202",
        operation="a condition",
        dtype=describe(v),
        expected="bool",
        found=describe(v),
        fix="compare it with something",
    )
