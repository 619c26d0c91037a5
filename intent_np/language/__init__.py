"""The language of kernels, imported as `I`.

Dtypes, annotations and `I.Enum` are ordinary Python objects; every other name is an operation, which has a meaning
only in the source of a kernel or helper.  `OPERATIONS` lists them all, with signature and documentation.
"""

from __future__ import annotations

from typing import Any

# The names below hide builtins on purpose: they are read with `I.` in front.
from ..terms.dtypes import bf16, f8e4m3fn, f8e5m2, f16, f32, f64, i8, i16, i32, i64, index, u8, u16, u32, u64
from ..terms.dtypes import bool_ as bool
from .annotations import Constexpr, Enum, In, InOut, Out, constraints
from .atomics import atomic
from .compressed import quantize, quantized_dot, scaled_contract, scaled_matmul, sparse_contract, sparse_matmul
from .contractions import contract, dot, matmul, matvec, outer, vecmat
from .debug import debug_assert, debug_print
from .declare import OPERATIONS, Intrinsic, unknown
from .definition import Helper, Kernel, fn, kernel
from .domains import domain, end, indices, parallel, record, require_equal
from .formats import e2m1, e4m3, e5m2, e8m0, quant, sparse
from .just_in_time import Jit, jit
from .layout import concat, flip, join, roll, split
from .memory import buffer, gather, scatter_reduce, scatter_unique
from .padding import pad
from .pointwise import (
    abs,
    asin,
    bitcast,
    cast,
    ceil,
    ceil_div,
    clamp,
    cos,
    erf,
    erfc,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    fmod,
    i0,
    isinf,
    isnan,
    lgamma,
    log,
    log1p,
    log2,
    mask,
    maximum,
    maximum_num,
    minimum,
    minimum_num,
    round,
    rsqrt,
    saturate_cast,
    select,
    sigmoid,
    sign,
    sin,
    sqrt,
    tanh,
)  # fmt: skip
from .promises import assume_in_bounds, assume_unique
from .ragged import members, ragged
from .random import random
from .reductions import arg_reduce, reduce
from .regions import region_fold, region_scan
from .scans import argsort, cummax, cummin, cumprod, cumsum, histogram, scan, sort, topk
from .shapes import full, reshape, transpose, zeros

__all__ = [
    "OPERATIONS", "Constexpr", "Enum", "Helper", "In", "InOut", "Intrinsic", "Jit", "Kernel", "Out", "abs",
    "arg_reduce", "argsort", "asin", "assume_in_bounds", "assume_unique", "atomic", "bf16", "bitcast", "bool", "buffer",
    "cast", "ceil", "ceil_div", "clamp", "concat", "constraints", "contract", "cos", "cummax", "cummin", "cumprod",
    "cumsum", "debug_assert", "debug_print", "domain", "dot", "e2m1", "e4m3", "e5m2", "e8m0", "end", "erf", "erfc",
    "exp", "exp2", "f8e4m3fn", "f8e5m2", "f16", "f32", "f64", "fdiv", "flip", "floor", "fma", "fmod", "fn", "full",
    "gather", "histogram", "i0", "i8", "i16", "i32", "i64", "index", "indices", "isinf", "isnan", "jit", "join",
    "kernel", "lgamma", "log", "log1p", "log2", "mask", "matmul", "matvec", "maximum", "maximum_num", "members",
    "minimum", "minimum_num", "outer", "pad", "parallel", "quant", "quantize", "quantized_dot", "ragged", "random",
    "record", "reduce", "region_fold", "region_scan", "require_equal", "reshape", "roll", "round", "rsqrt",
    "saturate_cast", "scaled_contract", "scaled_matmul", "scan", "scatter_reduce", "scatter_unique", "select",
    "sigmoid", "sign", "sin", "sort", "sparse", "sparse_contract", "sparse_matmul", "split", "sqrt", "tanh", "topk",
    "transpose", "u8", "u16", "u32", "u64", "vecmat", "zeros",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise unknown(name, __all__)
