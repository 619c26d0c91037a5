"""How each element type is held in a NumPy array, and in which type it is computed.

bf16 and fp8 are `ml_dtypes` arrays.  That package is imported at the first use of such a type, so programs without
them never need it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..terms.dtypes import DTYPES, DType, f32, f64

Array: TypeAlias = NDArray[Any]
quiet = np.errstate(all="ignore")  # decorates what computes with any bits whatever; an invalid lane is no warning

_NUMPY = {
    "bool": "bool", "index": "int64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64",
}  # fmt: skip
_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
_DTYPE_OF = {numpy: DTYPES[name] for name, numpy in (_NUMPY | _ML_DTYPES).items() if name != "index"}


@cache
def storage(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds elements of `dtype`."""
    if dtype.name in _NUMPY:
        return np.dtype(_NUMPY[dtype.name])
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, _ML_DTYPES[dtype.name]))


@cache
def dtype_of(numpy_dtype: np.dtype[Any]) -> DType:
    """The element type of an array's dtype; `TypeError` when the language has none.  int64 is `i64`, never `index`."""
    found = _DTYPE_OF.get(numpy_dtype.name)
    if found is None or not numpy_dtype.isnative:
        raise TypeError(f"arrays of {numpy_dtype} have no element type in the language")
    return found


@cache
def bits(dtype: DType) -> np.dtype[Any]:
    """The unsigned integer dtype as wide as an element of `dtype`."""
    return np.dtype(f"uint{dtype.bits}")


@cache
def computing(dtype: DType) -> DType:
    """The type in which arithmetic on floats of `dtype` is evaluated: f32 for every type below it."""
    return dtype if dtype in (f32, f64) or not dtype.is_float else f32


@quiet
def widen(x: Array, dtype: DType) -> Array:
    """`x`, of element type `dtype`, in the type in which it is computed; exact."""
    return x.astype(storage(computing(dtype)), copy=False)
