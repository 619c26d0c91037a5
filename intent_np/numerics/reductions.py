"""Reductions and scans by an operator that is associative and commutative.

Floats below f64 are accumulated in f64 (f16 and below: in f32) and rounded once, whatever the order: a reassociation
that the language allows, and the one that differs least from all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..terms.dtypes import DType, bool_, f32, f64
from ..terms.operators import OPERATORS, Op
from .casts import narrow
from .literals import FORMATS
from .storage import Array, computing, quiet, storage, widen

_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "maximum_num": np.fmax,
    "minimum_num": np.fmin,
    "and": np.logical_and,
    "or": np.logical_or,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
}


def reducible(op: Op) -> bool:
    """Whether `reduce` and `accumulate` know `op`."""
    return op.name in _UFUNCS


def identity(op: Op, dtype: DType) -> bool | int | float:
    """The neutral element: what a reduction of nothing gives.

    f8e4m3fn has no infinity: its largest finite values stand for it.  Of `maximum_num` it is NaN, which is ignored.
    """
    match op.name:
        case "and" | "or":
            return op.name == "and"
        case "add" | "mul" if dtype.is_float:
            return float(op.name == "mul")
        case "add" | "mul":
            return int(op.name == "mul")
        case "maximum" | "minimum" if dtype.is_float:
            form = FORMATS[dtype.name]
            top = float("inf") if form.infinite else form.largest
            return -top if op.name == "maximum" else top
        case "maximum_num" | "minimum_num" if dtype.is_float:
            return float("nan")
        case "maximum" | "maximum_num":
            return dtype.range[0]
        case "minimum" | "minimum_num":
            return dtype.range[1]
        case "bit_and":
            return True if dtype is bool_ else -1 if dtype.is_signed else dtype.range[1]
        case "bit_or" | "bit_xor":
            return False if dtype is bool_ else 0
    raise KeyError(f"{op.name} has no identity")


@quiet
def reduce(op: Op, x: Array, axes: int | Sequence[int], dtype: DType, keepdims: bool = False) -> Array:
    """`x`, of element type `dtype`, combined by `op` along `axes`; the identity where they are empty."""
    x = np.asarray(x, storage(dtype))
    over = (axes,) if isinstance(axes, int) else tuple(axes)
    ufunc, start = _UFUNCS[op.name], identity(op, dtype)
    if not dtype.is_float:
        result = ufunc.reduce(x, over, dtype=x.dtype, keepdims=keepdims, initial=x.dtype.type(start))
        return np.asarray(result)
    wide = widen(x, dtype)
    if op.name in ("add", "mul"):
        return narrow(np.asarray(ufunc.reduce(wide, over, dtype=_accumulator(dtype), keepdims=keepdims)), dtype)
    result = np.asarray(ufunc.reduce(wide, over, keepdims=keepdims, initial=wide.dtype.type(start)))
    if (result == 0).any():  # NumPy takes whichever zero it meets
        upper = op.name.startswith("max")
        wanted = (wide == 0) & (np.signbit(wide) != upper)
        zero = wide.dtype.type(0.0 if upper else -0.0)
        result = np.where((result == 0) & np.any(wanted, over, keepdims=keepdims), zero, result)
    return narrow(result, dtype)


@quiet
def accumulate(op: Op, x: Array, axis: int, dtype: DType, reverse: bool = False) -> Array:
    """The inclusive scan of `x` by `op` along `axis`; `reverse` scans from the end."""
    x = np.asarray(x, storage(dtype))
    x = np.flip(x, axis) if reverse else x
    ufunc = _UFUNCS[op.name]
    if not dtype.is_float:
        result = ufunc.accumulate(x, axis, dtype=x.dtype)
    elif op.name in ("add", "mul"):
        result = narrow(ufunc.accumulate(widen(x, dtype), axis, dtype=_accumulator(dtype)), dtype)
    else:
        result = narrow(_running_extreme(op, widen(x, dtype), axis), dtype)
    return np.flip(result, axis) if reverse else result


def _accumulator(dtype: DType) -> np.dtype[Any]:
    return storage(f64 if dtype in (f32, f64) else computing(dtype))


def _running_extreme(op: Op, x: Array, axis: int) -> Array:
    result = _UFUNCS[op.name].accumulate(x, axis)
    if not (result == 0).any():
        return result
    # where the extreme is a zero, the upper (lower) one as soon as it was met
    upper = op.name.startswith("max")
    seen = np.logical_or.accumulate((x == 0) & (np.signbit(x) != upper), axis)
    other = x.dtype.type(-0.0 if upper else 0.0)
    return np.where(result == 0, np.where(seen, -other, other), result)


def reduce_sum(x: Array, axes: int | Sequence[int], dtype: DType, keepdims: bool = False) -> Array:
    """The sum along axes, as `reduce` takes it."""
    return reduce(OPERATORS["add"], x, axes, dtype, keepdims)


def reduce_prod(x: Array, axes: int | Sequence[int], dtype: DType, keepdims: bool = False) -> Array:
    """The product along axes, as `reduce` takes it."""
    return reduce(OPERATORS["mul"], x, axes, dtype, keepdims)


def reduce_max(x: Array, axes: int | Sequence[int], dtype: DType, keepdims: bool = False) -> Array:
    """The maximum along axes; a NaN wins."""
    return reduce(OPERATORS["maximum"], x, axes, dtype, keepdims)


def reduce_min(x: Array, axes: int | Sequence[int], dtype: DType, keepdims: bool = False) -> Array:
    """The minimum along axes; a NaN wins."""
    return reduce(OPERATORS["minimum"], x, axes, dtype, keepdims)


def reduce_any(x: Array, axes: int | Sequence[int], keepdims: bool = False) -> Array:
    """Whether any element along axes is true."""
    return reduce(OPERATORS["or"], x, axes, bool_, keepdims)


def reduce_all(x: Array, axes: int | Sequence[int], keepdims: bool = False) -> Array:
    """Whether all elements along axes are true."""
    return reduce(OPERATORS["and"], x, axes, bool_, keepdims)
