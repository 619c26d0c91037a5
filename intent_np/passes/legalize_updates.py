"""legalize_updates: gpu -> gpu.  Updates that the target has no instruction for become combines, which a loop of
compare-exchanges performs.

    update y[i] by max of (v:f32) …      ->    update y[i] by combine of (v:f32) … as maximum
    update y[i] by combine … as add      ->    update y[i] by add of (v:f32) …

A maximum of floats propagates NaN here and not in the instruction; 16 bits have an addition and a compare-exchange.
"""

from __future__ import annotations

from typing import Any

from ..errors import error
from ..terms.core import arena, replace, rewrite
from ..terms.dtypes import DType, bf16, bool_, f16, f32, f64
from ..terms.gpu import GPU, Kernel, Update
from ..terms.index import apply
from ..terms.normal import Arg, Combine, Target, builtin_name
from .base import nanopass

NAMES = {"sum": "add", "max": "max", "min": "min"}
BODIES = {"add": "add", "max": "maximum", "min": "minimum", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}
BF16_ADDS = 90
"""The first compute capability that adds to bfloat16 in memory."""


@nanopass(GPU, GPU, needed="gives each update the instruction or the loop that lowering spells")
def legalize_updates(kernel: Kernel) -> Kernel:
    """Choose for each update an instruction or a loop.

    Stands before lowering, which spells either; E713 where elements are too narrow for both.
    Preserves what elements become, and what each update finds.
    """
    (new,) = rewrite((kernel,), lambda t: legal(t, kernel.target) if isinstance(t, Update) else t, Update)
    return new  # type: ignore[no-any-return]


def legal(t: Update, target: Target | None) -> Update:
    """The update by an operation that an instruction does, else by a combine."""
    d, operation = t.view.dtype, t.operation
    if d.bits < 16 or d is bool_:
        span = next(iter(arena().spans.get(t, ())), None)
        raise error("E713", span, name=t.view.name, dtype=d)
    if t.combine is not None:
        name = NAMES.get(builtin_name(t.combine) or "")
        return by(t, name) if name and native(name, d, target) else t
    if native(operation, d, target) or operation == "compare_exchange":
        return t
    return replace(t, operation="combine", combine=_combine(operation, d), operands=t.operands or (_zero(d),))  # type: ignore[no-any-return]


def by(t: Update, operation: str) -> Update:
    """The update by the instruction that does `operation`."""
    return replace(t, operation=operation, combine=None)  # type: ignore[no-any-return]


def native(operation: str, d: DType, target: Target | None) -> bool:
    """Whether one instruction does it, with the meaning that the language gives it."""
    if operation == "add":
        return d in (f16, f32, f64) or d is bf16 and (target is None or target.capability >= BF16_ADDS) or wide(d)
    if operation in ("load", "store", "exchange"):
        return d.bits >= 32
    return wide(d)


def wide(d: DType) -> bool:
    """Whether it is an integer that atomic instructions take."""
    return d.is_integer and d.bits >= 32


def _combine(operation: str, d: DType) -> Combine:
    """What becomes of an element `a` and what is brought to it, `b`."""
    a, b = Arg("a", 0, d), Arg("b", 0, d)
    body: Any = {"load": a, "store": b, "exchange": b}.get(operation)
    return Combine((d,), (apply(BODIES[operation], a, b) if body is None else body,))


def _zero(d: DType) -> Any:
    from ..terms.index import const

    return const(0, d)
