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
from ..terms.core import contains, find, replace, rewrite
from ..terms.dtypes import DType, bool_, f32, i32
from ..terms.gpu import GPU, Kernel, Let, Reduce, Scan, Var
from ..terms.index import Cast, Value, apply, const
from ..terms.normal import Arg, Combine, Proj, builtin, builtin_name, identity
from .base import nanopass


@nanopass(GPU, GPU)
def legalize_reduce(kernel: Kernel) -> Kernel:
    """Reduce predicates and narrow integers as 32-bit integers, floats of 8 bits in f32, and convert back.

    Stands before lowering, because it says with terms what Triton would do silently.
    Preserves values: wrapping sums and products commute with truncation, maxima of the wider type are the same.
    """
    if not contains(kernel, Reduce, Scan):
        return kernel
    names = set(find(kernel, Var))
    reduced = (x.var for x in find(kernel, Let) if isinstance(x.value, (Reduce, Scan)))
    wide = {v: _widened(v, names) for v in dict.fromkeys(reduced) if isinstance(v.dtype, tuple)}
    held: dict[Value, tuple[DType, ...]] = {}  # tuples of what is held in a wider type

    def step(t: Any) -> Any:
        if isinstance(t, (Reduce, Scan)):
            new = legal(t)
        elif isinstance(t, Proj) and t.value in held and in_registers(held[t.value][t.position]) is f32:
            return Cast(t, held[t.value][t.position])
        else:
            new = wide.get(t, t)
        if new is not t and isinstance(t.type, tuple):
            held[new] = t.type
        return new

    (new,) = rewrite((kernel,), step)
    return new  # type: ignore[no-any-return]


def in_registers(d: DType) -> DType:
    """What a component of a tuple is held in while it is reduced."""
    return f32 if d.is_float and d.bits < 16 else d


def _widened(v: Any, names: set[Var]) -> Var:
    """The name for a tuple's wider components, which no other tuple has: another group may use the same names."""
    made = Var(v.name, tuple(map(in_registers, v.dtype)), v.varies)
    while made is not v and made in names:
        made = Var(f"{made.name}_wide", made.dtype, made.varies)
    names.add(made)
    return made


def legal(t: Reduce | Scan) -> Value:
    """The reduction (or scan) over 32-bit operands, where its dtype is too narrow and the combine a builtin."""
    dtype: Any = t.type
    name = builtin_name(t.combine)
    if len(t.values) > 1:
        return in_f32(t, None) if any(in_registers(d) is not d for d in dtype) else t
    if dtype.is_float and dtype.bits < 16:
        return Cast(in_f32(t, name), dtype)
    if name is None:
        return t
    if dtype is bool_:
        return apply("ne", over_i32(t, "max" if name == "any" else "min"), const(0, i32))
    if dtype.is_integer and dtype.bits < 32:
        return Cast(over_i32(t, name), dtype)
    return t


def in_f32(t: Reduce | Scan, name: str | None) -> Value:
    """The reduction (or scan) with 8-bit floats held in f32; what combines them rounds as before."""
    narrow = t.combine.dtypes
    kept = tuple(map(in_registers, narrow))

    values = tuple(v if v.type is d else Cast(v, d) for v, d in zip(t.values, kept, strict=True))
    identities = tuple(v if v.type is d else simplify(Cast(v, d)) for v, d in zip(t.identities, kept, strict=True))
    if name in ("max", "min"):
        combine = builtin(name, f32)
    else:
        held = {
            Arg(side, i, d): Cast(Arg(side, i, f32), d)
            for side in ("a", "b")
            for i, d in enumerate(narrow)
            if d is not kept[i]
        }
        bodies = (substitute(b, held, everywhere=True) for b in t.combine.bodies)
        combine = Combine(
            kept, tuple(b if d is k else Cast(b, k) for b, d, k in zip(bodies, narrow, kept, strict=True))
        )
    return replace(t, combine=combine, values=values, identities=identities)  # type: ignore[no-any-return]


def over_i32(t: Reduce | Scan, name: str) -> Value:
    """The builtin reduction (or scan) `name` of the operand as 32-bit integers."""
    return replace(t, combine=builtin(name, i32), values=(Cast(t.values[0], i32),), identities=(identity(name, i32),))  # type: ignore[no-any-return]
