"""Scalar arguments: Python and NumPy numbers as values that a parameter's dtype holds."""

from __future__ import annotations

import math
import struct
from typing import Any, Final

import numpy as np

from intent_np.errors import error
from intent_np.runtime.plan import ScalarPlan

_FLOAT_MAX: Final = {"f16": 65504.0, "bf16": float.fromhex("0x1.fep127"), "f32": float.fromhex("0x1.fffffep127")}
_FLOAT_BITS: Final = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # significand, the implicit one included


def scalar_value(parameter: ScalarPlan, value: Any) -> int | float:
    """The value as a Python number that the parameter's dtype holds.

    A float is rounded to the dtype later; it may not overflow, and an integer must be exact.  A bool is no int.
    """
    dtype = parameter.dtype
    if isinstance(value, np.generic):
        value = value.item()
    if dtype == "bool":
        if isinstance(value, bool):
            return value
    elif isinstance(value, bool):
        pass
    elif dtype in _FLOAT_BITS:
        if isinstance(value, int) and _significant_bits(value) <= _FLOAT_BITS[dtype]:
            value = float(value)
        if isinstance(value, float) and (not math.isfinite(value) or abs(value) <= _FLOAT_MAX.get(dtype, math.inf)):
            return value
    elif isinstance(value, int):
        low, high = _integer_range(dtype)
        if low <= value <= high:
            return value
    fix = f"pass the number in it: {parameter.name}.item()" if isinstance(value, np.ndarray) and value.size == 1 else ""
    found = f"{value!r} ({type(value).__name__})"
    raise error("E411", parameter=parameter.name, dtype=dtype, expected=_held_by(dtype), found=found, fix=fix)


def _held_by(dtype: str) -> str:
    """What a scalar parameter takes."""
    if dtype == "bool":
        return "True or False"
    if dtype in _FLOAT_BITS:
        return f"a float, or an int that {dtype} holds exactly" + (
            f", of at most {_FLOAT_MAX[dtype]:g}" if dtype in _FLOAT_MAX else ""
        )
    low, high = _integer_range(dtype)
    return f"an int from {low} to {high}"


def _significant_bits(value: int) -> int:
    value = abs(value)
    return (value // (value & -value)).bit_length() if value else 0


def _integer_range(dtype: str) -> tuple[int, int]:
    if dtype.startswith("u"):
        return 0, 2 ** int(dtype[1:]) - 1
    bits = 64 if dtype == "index" else int(dtype[1:])
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def bfloat16_bits(value: float) -> int:
    """The bits of `value` as bf16, rounded once to nearest even; `OverflowError` if it does not fit."""
    if not math.isfinite(value) or value == 0.0:
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
        return bits >> 16 | (0x40 if math.isnan(value) else 0)
    quantum = max(math.frexp(value)[1] - 8, -133)
    rounded = math.ldexp(round(math.ldexp(value, -quantum)), quantum)
    encoded: int = struct.unpack("<I", struct.pack("<f", rounded))[0]
    return encoded >> 16
