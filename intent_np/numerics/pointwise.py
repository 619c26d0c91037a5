"""The NumPy meaning of every pointwise operator on every element type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..terms.dtypes import DType, bool_, f8e4m3fn, f8e5m2, f32, f64
from ..terms.operators import Op
from .casts import narrow
from .floats import FLOAT, LIBRARY
from .fma import fma64, fma_odd, fma_single
from .integers import BOOL, INTEGER
from .storage import Array, quiet, storage, widen

BLOCK = 1 << 14  # elements of f64 that stay in the first levels of cache through the many steps of a function
_FP8 = (f8e4m3fn, f8e5m2)


@quiet
def apply(op: Op, *arrays: Array, dtype: DType) -> Array:
    """`op` on broadcast operands of element type `dtype` (of `select`, that of the two values).

    Nothing warns or raises; lanes that are `invalid` get some value.
    """
    if op.name == "select":
        one, other = (np.asarray(a, storage(dtype)) for a in arrays[1:])
        return np.where(np.asarray(arrays[0], np.bool_), one, other)
    operands = [np.asarray(a, storage(dtype)) for a in arrays]
    if dtype.is_float:
        return evaluate(op, operands, dtype, dtype)
    return np.asarray((BOOL if dtype is bool_ else INTEGER)[op.name](*operands))


def evaluate(op: Op, operands: list[Array], dtype: DType, to: DType) -> Array:
    """A float operator on `dtype`, its result rounded to `to`."""
    if op.name in LIBRARY:
        return _in_f64(LIBRARY[op.name], operands, to)
    if op.name == "fma":
        if dtype is f64:
            return fma64(*operands)
        # fp8 is evaluated in f32, as every operator on it
        exact = _in_f64(fma_single if dtype in (f32, *_FP8) else fma_odd, operands, f32 if dtype in _FP8 else to)
        return narrow(exact, to)
    result = FLOAT[op.name](*(widen(a, dtype) for a in operands))
    return np.asarray(result) if op.result == "bool" else narrow(np.asarray(result), to)


def _in_f64(function: Callable[..., Array], operands: list[Array], to: DType) -> Array:
    """`function` on f64, rounded once to `to`; a block at a time."""
    shape = operands[0].shape if len(operands) == 1 else np.broadcast_shapes(*(a.shape for a in operands))
    flat = [np.broadcast_to(a, shape).reshape(-1) for a in operands]
    if flat[0].size <= BLOCK:
        return narrow(function(*(a.astype(np.float64) for a in flat)), to).reshape(shape)
    result = np.empty(flat[0].size, storage(to))
    for start in range(0, result.size, BLOCK):
        block = [a[start : start + BLOCK].astype(np.float64) for a in flat]
        result[start : start + BLOCK] = narrow(function(*block), to)
    return result.reshape(shape)
