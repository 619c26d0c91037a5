"""legalize_reduce: gpu -> gpu.  Reductions over dtypes that Triton's reductions promote or refuse.

    reduce any over k of (p)     ->   reduce max over k of cast(p, i32)  !=  0
    reduce sum over k of x:i8    ->   cast(reduce sum over k of cast(x, i32), i8)

Triton's own reductions silently return i32 for narrower integers, and predicates pass through shared memory best as
32-bit integers.  Float maxima keep their combine: Triton's drop NaN, so the next pass makes them helpers.
"""

from __future__ import annotations

from typing import Any

from ..terms.core import replace, rewrite
from ..terms.dtypes import bool_, i32
from ..terms.gpu import GPU, Kernel, Reduce, Scan
from ..terms.index import Cast, Value, apply, const
from ..terms.normal import builtin, builtin_name, identity
from .base import nanopass


@nanopass(GPU, GPU)
def legalize_reduce(kernel: Kernel) -> Kernel:
    """Reduce predicates and narrow integers as 32-bit integers, and convert the result back.

    Stands before lowering, because it says with terms what Triton would do silently.
    Preserves values: wrapping sums and products commute with truncation, maxima of the wider type are the same.
    """
    (new,) = rewrite((kernel,), lambda t: legal(t) if isinstance(t, (Reduce, Scan)) else t)
    return new  # type: ignore[no-any-return]


def legal(t: Reduce | Scan) -> Value:
    """The reduction (or scan) over 32-bit operands, where its dtype is narrower and the combine a builtin."""
    name = builtin_name(t.combine)
    if name is None:
        return t
    dtype: Any = t.type
    if dtype is bool_:
        return apply("ne", over_i32(t, "max" if name == "any" else "min"), const(0, i32))
    if dtype.is_integer and dtype.bits < 32:
        return Cast(over_i32(t, name), dtype)
    return t


def over_i32(t: Reduce | Scan, name: str) -> Value:
    """The builtin reduction (or scan) `name` of the operand as 32-bit integers."""
    return replace(t, combine=builtin(name, i32), values=(Cast(t.values[0], i32),), identities=(identity(name, i32),))  # type: ignore[no-any-return]
