"""The language of kernels, imported as `I`.

Dtypes, annotations and `I.Enum` are ordinary Python objects; every other name is an operation, which has a meaning
only in the source of a kernel or helper.  `OPERATIONS` lists them all with signature and documentation.
"""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import (
    bf16, f8e4m3fn, f8e5m2, f16, f32, f64, i8, i16, i32, i64, index, u8, u16, u32, u64,
)  # fmt: skip
from intent_np.terms.dtypes import bool_ as bool

from . import contractions, domains, pointwise, reductions, shapes
from .annotations import Constexpr, Enum, In, InOut, Out, constraints
from .declare import OPERATIONS, Intrinsic, top_level, unknown
from .definition import Helper, Kernel, fn, kernel

globals().update(top_level())

_PYTHON = (
    "bool", "index", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2",
    "In", "Out", "InOut", "Constexpr", "Enum", "constraints",
)  # fmt: skip

__all__ = [*_PYTHON, *(name for name, _ in top_level())]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise unknown(name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
