"""legalize_reduce: gpu -> gpu.  Reductions over dtypes that Triton's reductions promote or refuse.

    reduce any over k of (p)     ->   reduce max over k of cast(p, i32)  !=  0
    reduce sum over k of x:i8    ->   cast(reduce sum over k of cast(x, i32), i8)
    reduce max over k of x:f8    ->   cast(reduce max over k of cast(x, f32), f8)
    reduce c over k of x:f8      ->   cast(reduce c' over k of cast(x, f32), f8)   c' as c, on what f32 holds

Triton's own reductions silently return i32 for narrower integers, predicates pass through shared memory best as 32-bit
integers, and floats of 8 bits end its compiler.  Float maxima keep their combine: Triton's drop NaN, so the next pass
makes them helpers.
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import simplify, substitute
from ..terms.core import replace, rewrite
from ..terms.dtypes import bool_, f32, i32
from ..terms.gpu import GPU, Kernel, Reduce, Scan
from ..terms.index import Cast, Value, apply, const
from ..terms.normal import Arg, Combine, builtin, builtin_name, identity
from .base import nanopass


@nanopass(GPU, GPU)
def legalize_reduce(kernel: Kernel) -> Kernel:
    """Reduce predicates and narrow integers as 32-bit integers, floats of 8 bits in f32, and convert back.

    Stands before lowering, because it says with terms what Triton would do silently.
    Preserves values: wrapping sums and products commute with truncation, maxima of the wider type are the same.
    """
    (new,) = rewrite((kernel,), lambda t: legal(t) if isinstance(t, (Reduce, Scan)) else t)
    return new  # type: ignore[no-any-return]


def legal(t: Reduce | Scan) -> Value:
    """The reduction (or scan) over 32-bit operands, where its dtype is too narrow and the combine a builtin."""
    dtype: Any = t.type
    name = builtin_name(t.combine)
    if len(t.values) == 1 and dtype.is_float and dtype.bits < 16:
        return Cast(in_f32(t, name), dtype)
    if name is None:
        return t
    if dtype is bool_:
        return apply("ne", over_i32(t, "max" if name == "any" else "min"), const(0, i32))
    if dtype.is_integer and dtype.bits < 32:
        return Cast(over_i32(t, name), dtype)
    return t


def in_f32(t: Reduce | Scan, name: str | None) -> Value:
    """The reduction (or scan) of 8-bit floats that are held in f32; what combines them rounds as before."""
    values, identities = tuple(Cast(v, f32) for v in t.values), tuple(simplify(Cast(v, f32)) for v in t.identities)
    if name in ("max", "min"):
        combine = builtin(name, f32)
    else:
        narrow = t.combine.dtypes[0]
        held = {Arg(side, 0, narrow): Cast(Arg(side, 0, f32), narrow) for side in ("a", "b")}
        combine = Combine((f32,), tuple(Cast(substitute(b, held, everywhere=True), f32) for b in t.combine.bodies))
    return replace(t, combine=combine, values=values, identities=identities)  # type: ignore[no-any-return]


def over_i32(t: Reduce | Scan, name: str) -> Value:
    """The builtin reduction (or scan) `name` of the operand as 32-bit integers."""
    return replace(t, combine=builtin(name, i32), values=(Cast(t.values[0], i32),), identities=(identity(name, i32),))  # type: ignore[no-any-return]
