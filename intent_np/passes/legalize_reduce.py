"""legalize_reduce: gpu -> gpu.  Reductions over dtypes that Triton's reductions promote or refuse.

    reduce any over k of (p)     ->   reduce max over k of cast(p, i32)  !=  0
    reduce sum over k of x:i8    ->   cast(reduce sum over k of cast(x, i32), i8)
    reduce max over k of x:f8    ->   cast(reduce max over k of cast(x, f32), f8)

Triton's own reductions silently return i32 for narrower integers, predicates pass through shared memory best as 32-bit
integers, and floats of 8 bits end its compiler.  Float maxima keep their combine: Triton's drop NaN, so the next pass
makes them helpers.
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import simplify
from ..terms.core import replace, rewrite
from ..terms.dtypes import bool_, f32, i32
from ..terms.gpu import GPU, Kernel, Reduce, Scan
from ..terms.index import Cast, Value, apply, const
from ..terms.normal import builtin, builtin_name, identity
from .base import nanopass


@nanopass(GPU, GPU)
def legalize_reduce(kernel: Kernel) -> Kernel:
    """Reduce predicates and narrow integers as 32-bit integers, extremes of narrow floats in f32, and convert back.

    Stands before lowering, because it says with terms what Triton would do silently.
    Preserves values: wrapping sums and products commute with truncation, maxima of the wider type are the same.
    """
    (new,) = rewrite((kernel,), lambda t: legal(t) if isinstance(t, (Reduce, Scan)) else t)
    return new  # type: ignore[no-any-return]


def legal(t: Reduce | Scan) -> Value:
    """The reduction (or scan) over 32-bit operands, where its dtype is too narrow and the combine a builtin."""
    name = builtin_name(t.combine)
    if name is None:
        return t
    dtype: Any = t.type
    if dtype is bool_:
        return apply("ne", over_i32(t, "max" if name == "any" else "min"), const(0, i32))
    if dtype.is_integer and dtype.bits < 32:
        return Cast(over_i32(t, name), dtype)
    if dtype.is_float and dtype.bits < 16 and name in ("max", "min"):
        wide = tuple(Cast(v, f32) for v in t.values), tuple(simplify(Cast(v, f32)) for v in t.identities)
        return Cast(replace(t, combine=builtin(name, f32), values=wide[0], identities=wide[1]), dtype)
    return t


def over_i32(t: Reduce | Scan, name: str) -> Value:
    """The builtin reduction (or scan) `name` of the operand as 32-bit integers."""
    return replace(t, combine=builtin(name, i32), values=(Cast(t.values[0], i32),), identities=(identity(name, i32),))  # type: ignore[no-any-return]
