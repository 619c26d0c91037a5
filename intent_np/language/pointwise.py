"""Operations element by element: every operator that has no symbol of its own, casts, and selection."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType, bool_, f32
from intent_np.terms.index import Value
from intent_np.terms.logical import element
from intent_np.terms.operators import OPERATORS

from . import elaborate
from .context import fail
from .declare import Intrinsic, declared, intrinsic
from .elaborate import Operand, describe, is_literal, value


def _operator(name: str) -> Intrinsic:
    """The operation that is one operator and nothing else; its table says what it means."""

    def unary(value: Operand) -> Value:
        return elaborate.pointwise(name, value)

    def binary(a: Operand, b: Operand) -> Value:
        return elaborate.pointwise(name, a, b)

    def ternary(a: Operand, b: Operand, c: Operand) -> Value:
        return elaborate.pointwise(name, a, b, c)

    meaning = (unary, binary, ternary)[OPERATORS[name].arity - 1]
    meaning.__doc__ = OPERATORS[name].about
    return declared(name, meaning)


maximum, minimum = _operator("maximum"), _operator("minimum")
maximum_num, minimum_num = _operator("maximum_num"), _operator("minimum_num")
fma, fmod, ceil_div = _operator("fma"), _operator("fmod"), _operator("ceil_div")
abs, sign = _operator("abs"), _operator("sign")
floor, ceil, round = _operator("floor"), _operator("ceil"), _operator("round")
log, log1p, log2, sqrt = _operator("log"), _operator("log1p"), _operator("log2"), _operator("sqrt")
sin, cos, asin = _operator("sin"), _operator("cos"), _operator("asin")
erf, erfc, i0, lgamma = _operator("erf"), _operator("erfc"), _operator("i0"), _operator("lgamma")
isnan, isinf = _operator("isnan"), _operator("isinf")


def _approximated(name: str, v: Operand, approximate: Any) -> Value:
    """Operator `name`, or its approximate form, which is f32 and asked for by the author."""
    if not _flag(name, "approximate", approximate):
        return elaborate.pointwise(name, v)
    v = value(v, f32)
    _only_f32(name, v)
    return elaborate.pointwise(f"{name}_approx", v, spelled=f"I.{name}")


def _flag(name: str, option: str, v: Any) -> bool:
    if not isinstance(v, bool):
        raise fail("E113", name=f"I.{name}", signature=f"I.{name}(..., {option}=True)", found=f"{option}={describe(v)}")
    return v


def _only_f32(name: str, v: Value) -> None:
    if element(v.type) is not f32:
        raise fail(
            "E202",
            operation=f"approximate I.{name}",
            dtype=element(v.type),
            expected="f32",
            found=elaborate.show(v),
            fix="cast the operand: I.cast(value, I.f32), or drop approximate=True",
        )


@intrinsic
def exp(value: Operand, *, approximate: bool = False) -> Value:
    """Exponential, 2 ULP; `approximate` goes through the approximate `exp2`."""
    return _approximated("exp", value, approximate)


@intrinsic
def exp2(value: Operand, *, approximate: bool = False, flush_to_zero: bool = False) -> Value:
    """Power of two, 2 ULP.  Approximate results that are subnormal may be flushed, with or without `flush_to_zero`,
    which therefore needs `approximate`."""
    _flushes("exp2", approximate, flush_to_zero)
    return _approximated("exp2", value, approximate)


@intrinsic
def tanh(value: Operand, *, approximate: bool = False) -> Value:
    """Hyperbolic tangent, 2 ULP; approximate within a relative 2^-11."""
    return _approximated("tanh", value, approximate)


@intrinsic
def rsqrt(value: Operand, *, approximate: bool = False) -> Value:
    """Reciprocal square root, 2 ULP, approximate or not."""
    return _approximated("rsqrt", value, approximate)


@intrinsic
def sigmoid(value: Operand, *, approximate: bool = False) -> Value:
    """1 / (1 + exp(-value)), 4 ULP; `approximate` goes through the approximate `exp2` and `fdiv`."""
    return _approximated("sigmoid", value, approximate)


def _flushes(name: str, approximate: Any, flush_to_zero: Any) -> None:
    if _flag(name, "flush_to_zero", flush_to_zero) and not _flag(name, "approximate", approximate):
        raise fail(
            "E113",
            name=f"I.{name}",
            signature=f"I.{name}(..., approximate=True, flush_to_zero=True)",
            found="flush_to_zero without approximate: exact results keep their subnormals",
        )


@intrinsic
def fdiv(a: Operand, b: Operand, *, approximate: bool = False, flush_to_zero: bool = False) -> Value:
    """a / b; approximate within 2 ULP where 2^-126 <= |b| <= 2^126."""
    _flushes("fdiv", approximate, flush_to_zero)
    if not _flag("fdiv", "approximate", approximate):
        return elaborate.pointwise("div", a, b, spelled="I.fdiv")
    a, b = (
        elaborate.unify("I.fdiv", (a, b)) if not (is_literal(a) and is_literal(b)) else (value(a, f32), value(b, f32))
    )
    _only_f32("fdiv", a)
    return elaborate.pointwise("div_approx", a, b, spelled="I.fdiv")


@intrinsic
def select(condition: Operand, then: Operand, otherwise: Operand) -> Value:
    """`then` where the condition holds, else `otherwise`."""
    return elaborate.select(condition, then, otherwise)


@intrinsic
def mask(value: Operand, valid: Operand, fill: Operand) -> Value:
    """`value` where `valid`, else `fill`; suppresses no write."""
    return elaborate.select(valid, value, fill)


@intrinsic
def clamp(value: Operand, low: Operand, high: Operand) -> Value:
    """`value` limited to low..high; NaN stays NaN."""
    value, low, high = elaborate.unify("I.clamp", (value, low, high))
    return elaborate.pointwise("minimum", elaborate.pointwise("maximum", value, low), high)


@intrinsic
def cast(value: Operand, dtype: DType) -> Value:
    """`value` in another dtype: integers wrap, floats round to nearest even, floats to integers truncate."""
    return elaborate.convert(value, dtype)


@intrinsic
def saturate_cast(value: Operand, dtype: DType) -> Value:
    """`value` in another dtype, limited to its finite range; NaN becomes 0 in an integer."""
    return elaborate.convert(value, dtype, "saturate")


@intrinsic
def bitcast(value: Operand, dtype: DType) -> Value:
    """The same bits read as another dtype of the same width; a bool is a truth value and has none."""
    v = elaborate.value(value)
    source = element(v.type)
    widths = [d.bits if isinstance(d, DType) and d is not bool_ else None for d in (source, dtype)]
    if source is not dtype and (None in widths or widths[0] != widths[1]):
        truth = bool_ in (source, dtype)
        raise fail(
            "E202",
            operation="I.bitcast",
            dtype=f"{elaborate.show(v)} to {describe(dtype)}",
            expected="two dtypes of one width, neither of them bool",
            found=elaborate.show(v),
            fix="use I.cast(value, dtype), which takes a bool as 0 or 1"
            if truth
            else "bitcast to a dtype of the same width, then I.cast",
        )
    return elaborate.convert(v, dtype, "bits")
