"""Updates as Triton's atomic operations, or as a loop of compare-exchanges around a helper.

Used by `lower_to_triton`.
"""

from __future__ import annotations

from typing import Any

from ..terms.dtypes import DType, bool_, i16, i32, i64, index
from ..terms.gpu import Update, Var
from ..terms.index import Const, Value, is_const
from ..terms.operators import OPERATORS
from ..terms.triton import Assign, AtomicAt, ConvertTo, Expr, FullBlock, Pointwise
from .triton_values import Values

FUNCTIONS = {
    "load": "atomic_or", "store": "atomic_xchg", "exchange": "atomic_xchg", "compare_exchange": "atomic_cas",
    "combine": "update_at", **{name: f"atomic_{name}" for name in ("add", "max", "min", "and", "or", "xor")},
}  # fmt: skip
BITWISE = ("load", "store", "exchange", "compare_exchange")
"""Operations on the bits of an element, whatever its dtype."""

WORDS: dict[int, DType] = {16: i16, 32: i32, 64: i64}


def update(values: Values, t: Update, var: Var | None, spell: Any) -> list[Any]:
    """The statements of an update; `var` names what it finds, `spell` makes names."""
    element = i64 if t.view.dtype is index else t.view.dtype
    word = WORDS[element.bits] if t.operation in BITWISE and element.is_float else element
    dims = values.dims(t.lanes)
    masked = t.valid is not None and not is_const(t.valid, True)
    mask = _spread(values, t.valid, t, bool_) if masked else None  # type: ignore[arg-type]
    if t.operation == "load":
        operands: list[Any] = [FullBlock(0, word, dims)]
    else:
        captures = t.operands[1:] if t.combine is not None else ()
        operands = [_spread(values, v, t, element) for v in t.operands[: len(t.operands) - len(captures)]]
        operands = [e if word is element else ConvertTo(e, word, "bits") for e in operands]
        operands += [_spread(values, v, t, i64 if v.type is index else v.type) for v in captures]  # type: ignore[arg-type]
    function, helper = FUNCTIONS[t.operation], None
    if t.combine is not None:
        function = "update_with_at" if len(operands) > 1 else function
        helper = values.helper(t.combine, (element,), tuple(e.type.dtype for e in operands[1:]))
        mask = mask or FullBlock(True, bool_, dims)
    elif function == "atomic_cas" and mask is not None:
        function = "compare_exchange_at"
    address = values.address(t, dims)
    if var is None:
        return [AtomicAt(function, address, tuple(operands), word, mask, t.order, helper)]
    plain = not masked and word is element is values.dtype(t.view.dtype)
    raw = spell(var.name if plain else "found", word, dims)
    lines: list[Any] = [AtomicAt(function, address, tuple(operands), word, mask, t.order, helper, raw)]
    found: Expr = raw if word is element else ConvertTo(raw, element, "bits")
    if masked:
        found = Pointwise(OPERATORS["select"], (mask, found, FullBlock(0, element, dims)))  # type: ignore[arg-type]
    if not plain:
        found = values.hold(found, values.held) if t.view.dtype is index else found
        lines.append(Assign(spell(var.name, found.type.dtype, dims), found))
    values.names[var] = raw if plain else lines[-1].target
    return lines


def _spread(values: Values, v: Value, t: Update, element: DType) -> Any:
    """An operand with all lanes of the update."""
    if isinstance(v, Const):
        e = values.full(v.value, v.dtype, t.lanes)
    else:
        e = values.spread(v, t.lanes)
    return values.hold(e, element) if v.type is index else e
