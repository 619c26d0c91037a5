"""Operators on integers, `index` and bool: two's complement, Python's division.

NumPy's integer ufuncs already wrap, floor, and give some value for an invalid lane; which lanes those are is said in
`invalidity.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

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
