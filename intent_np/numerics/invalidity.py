"""Which operands are invalid, for every operator and conversion: what the meaning calls poison.

An invalid lane has some value on every machine and never traps; a program must not depend on it.  A row names the
rule and finds its lanes; what has no row is valid on all bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..terms.dtypes import DType, bool_, f32
from ..terms.operators import OPERATORS, Op
from .casts import in_range
from .literals import FORMATS
from .pointwise import evaluate
from .storage import Array, quiet, storage, widen


@dataclass(frozen=True)
class Rule:
    """What makes an integer operator's operands invalid, in words, and `lanes(a, b, dtype)` where they are."""

    about: str
    lanes: Callable[[Array, Array, DType], Array]


def _divides_by_zero_or_overflows(a: Array, b: Array, dtype: DType) -> Array:
    if not dtype.is_signed:
        return _divides_by_zero(a, b, dtype)
    return np.asarray((b == 0) | (a == dtype.range[0]) & (b == -1))


def _divides_by_zero(a: Array, b: Array, dtype: DType) -> Array:
    return np.broadcast_to(b == 0, np.broadcast_shapes(a.shape, b.shape))


def _shifts_outside(a: Array, amount: Array, dtype: DType) -> Array:
    return np.broadcast_to((amount < 0) | (amount >= dtype.bits), np.broadcast_shapes(a.shape, amount.shape))


_DIVISION = Rule("division by zero; the smallest value by -1", _divides_by_zero_or_overflows)
_SHIFT = Rule("a shift by less than 0, or by the width or more", _shifts_outside)

INTEGER: dict[str, Rule] = {
    "floordiv": _DIVISION,
    "ceil_div": _DIVISION,
    "mod": Rule("division by zero", _divides_by_zero),
    "shl": _SHIFT,
    "shr": _SHIFT,
}

# float operators of which no finite operands have a result past 448
_BOUNDED = {
    "select", "neg", "abs", "sign", "maximum", "minimum", "maximum_num", "minimum_num", "fmod",
    "floor", "ceil", "round", "sqrt", "sin", "cos", "asin", "tanh", "erf", "erfc", "sigmoid",
    "tanh_approx", "sigmoid_approx",
}  # fmt: skip
NO_INFINITY = "a result that rounds past the largest finite value: there is no infinity"
NOT_AN_INTEGER = "NaN, an infinity, or a truncated value outside the range"


def about(op: Op, dtype: DType) -> str:
    """What is invalid for `op` on operands of `dtype`, in words; empty where nothing is."""
    if dtype.is_float:
        grows = op.result == "same" and op.name not in _BOUNDED
        return NO_INFINITY if grows and not FORMATS[dtype.name].infinite else ""
    return INTEGER[op.name].about if dtype is not bool_ and op.name in INTEGER else ""


def about_cast(dst: DType, src: DType) -> str:
    """What is invalid for a cast from `src` to `dst`, in words; empty where nothing is."""
    if src.is_float and dst.is_integer:
        return NOT_AN_INTEGER
    if src is dst or src is bool_ or not dst.is_float or FORMATS[dst.name].infinite:
        return ""
    return NO_INFINITY if src.is_float or src.range[1] >= FORMATS[dst.name].limit else ""


def may_be_invalid(op: Op, dtype: DType) -> bool:
    """Whether any operands of element type `dtype` are invalid for `op`."""
    return about(op, dtype) != ""


@quiet
def invalid(op: Op, *arrays: Array, dtype: DType) -> Array:
    """The lanes where `op` is invalid on operands of `dtype`, broadcast; a rank-0 False where no lane can be."""
    if not may_be_invalid(op, dtype):
        return np.zeros((), np.bool_)
    operands = [np.asarray(a, storage(dtype)) for a in arrays]
    if dtype.is_float:
        return np.asarray(np.abs(evaluate(op, operands, dtype, f32)) >= FORMATS[dtype.name].limit)
    a, b = operands
    return np.asarray(INTEGER[op.name].lanes(a, b, dtype))


@quiet
def invalid_cast(x: Array, dst: DType, src: DType) -> Array:
    """The lanes where `cast` from `src` to `dst` is invalid; a rank-0 False where no lane can be."""
    rule = about_cast(dst, src)
    if not rule:
        return np.zeros((), np.bool_)
    x = widen(np.asarray(x, storage(src)), src)
    if rule is NOT_AN_INTEGER:
        return ~in_range(x, dst)
    return np.asarray(np.abs(x.astype(np.float64)) >= FORMATS[dst.name].limit)


@quiet
def invalid_reduction(op: Op, x: Array, axis: int, dtype: DType, keepdims: bool = False) -> Array:
    """Where reducing `x` along `axis` by `op`, which `reduce` knows, is invalid: in some order of the members, what
    some of them give."""
    if not may_be_invalid(op, dtype):
        return np.zeros((), np.bool_)
    x = widen(np.asarray(x, storage(dtype)), dtype).astype(np.float64)
    if op.name == "mul":
        return np.asarray(np.prod(np.fmax(np.abs(x), 1.0), axis, keepdims=keepdims) >= FORMATS[dtype.name].limit)
    high, low = (np.sum(part, axis, keepdims=keepdims) for part in (np.fmax(x, 0.0), np.fmin(x, 0.0)))
    return _too_large(high, low, dtype)


@quiet
def invalid_scan(op: Op, x: Array, axis: int, dtype: DType) -> Array:
    """The members of `x` up to which scanning along `axis` by `op` is invalid: what some neighbours among them give."""
    if not may_be_invalid(op, dtype):
        return np.zeros((), np.bool_)
    x = np.moveaxis(widen(np.asarray(x, storage(dtype)), dtype).astype(np.float64), axis, 0)
    wrong = np.zeros(x.shape, np.bool_)
    high = low = np.full(x.shape[1:], 1.0 if op.name == "mul" else 0.0)
    for k, member in enumerate(x):  # the largest and the least of the neighbours that end here
        if op.name == "mul":
            high = np.fmax(high, 1.0) * np.abs(member)
            low = -high
        else:
            high, low = np.fmax(high, 0.0) + member, np.fmin(low, 0.0) + member
        wrong[k] = _too_large(high, low, dtype)
    return np.moveaxis(np.logical_or.accumulate(wrong, axis=0), 0, axis)


@quiet
def invalid_contraction(total: Array, magnitude: Array, acc: DType) -> Array:
    """Where a sum of products in `acc` is invalid in some order: `total` is the sum, `magnitude` that of the absolute
    products, both in f64."""
    if not may_be_invalid(OPERATORS["add"], acc):
        return np.zeros((), np.bool_)
    return _too_large((magnitude + total) / 2, (total - magnitude) / 2, acc)


def _too_large(high: Array, low: Array, dtype: DType) -> Array:
    limit = FORMATS[dtype.name].limit
    return np.asarray((high >= limit) | (low <= -limit))
