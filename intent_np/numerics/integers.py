"""Operators on integers, `index` and bool: two's complement, Python's division.

NumPy's integer ufuncs already wrap, floor, and give some value for an invalid lane; what they would warn of is
`invalid`, asked separately.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from ..terms.dtypes import DType
from .storage import Array

Function = Callable[..., Array]

COMPARISONS: dict[str, Function] = {"lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal}

_BITWISE: dict[str, Function] = {
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "bit_not": np.invert,
}


def ceil_div(a: Array, b: Array) -> Array:
    """The quotient rounded up, from the floor and the remainder: no sum that could overflow."""
    return np.asarray(np.floor_divide(a, b) + (np.remainder(a, b) != 0).astype(b.dtype))


INTEGER: dict[str, Function] = {
    **COMPARISONS,
    **_BITWISE,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "ceil_div": ceil_div,
    "mod": np.remainder,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "maximum_num": np.maximum,
    "minimum_num": np.minimum,
    "shl": np.left_shift,
    "shr": np.right_shift,
}

BOOL: dict[str, Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    **_BITWISE,
    "and": lambda *arrays: reduce(np.logical_and, arrays),
    "or": lambda *arrays: reduce(np.logical_or, arrays),
    "not": np.logical_not,
}


def division_invalid(a: Array, b: Array, dtype: DType) -> Array:
    """Where `a // b` is invalid, however rounded: by zero, and the one quotient that overflows."""
    overflows = (a == dtype.range[0]) & (b == -1) if dtype.is_signed else np.zeros(a.shape, np.bool_)
    return np.asarray(overflows | (b == 0))


def remainder_invalid(a: Array, b: Array, dtype: DType) -> Array:
    """Where `a % b` is invalid: by zero; `min % -1` is 0."""
    return np.broadcast_to(b == 0, np.broadcast_shapes(a.shape, b.shape))


def shift_invalid(a: Array, amount: Array, dtype: DType) -> Array:
    """Where a shift is invalid: by less than 0 or by the width or more."""
    return np.broadcast_to((amount < 0) | (amount >= dtype.bits), np.broadcast_shapes(a.shape, amount.shape))


INVALID: dict[str, Function] = {
    "floordiv": division_invalid,
    "ceil_div": division_invalid,
    "mod": remainder_invalid,
    "shl": shift_invalid,
    "shr": shift_invalid,
}
