"""Atomic accesses: indivisible, in one order for each element, with the old value as their result."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import bool_
from intent_np.terms.index import Value
from intent_np.terms.logical import Atomic, Old, Succeeded, orders

from . import indexing
from .context import capture, fail
from .declare import Intrinsic, declared, intrinsic
from .elaborate import Operand, called, describe
from .memory import memory
from .products import Record

INTEGERS = ("and", "or", "xor")
NUMBERS = ("add", "max", "min")


@intrinsic
def atomic() -> None:
    """Atomic accesses, `I.atomic.add(target, index=..., value=...)`.  The old value is the result; lanes that are not
    `valid` touch nothing and give 0."""
    raise fail("E113", name="I.atomic", signature="I.atomic.add(target, index=..., value=...)", found="no operation")


def _performed(operation: str, target: Any, index: Any, operands: tuple[Operand, ...], valid: Any, order: Any) -> Any:
    """The access as a statement of the kernel."""
    name = f"atomic.{operation}{'_' if operation in ('and', 'or') else ''}"
    where = memory(name, target)
    if order not in orders(operation):
        choices = " or ".join(orders(operation))
        raise fail("E310", operation=f"I.{name}", expected=f"the order {choices}", found=f"order={describe(order)}")
    d = where.dtype  # type: ignore[attr-defined]
    if operation in NUMBERS and d is bool_ or operation in INTEGERS and d.is_float:
        needed = "a number" if operation in NUMBERS else "an integer or bool"
        raise fail("E202", operation=f"I.{name}", dtype=d, expected=needed, found=f"elements of {d}")
    if operation == "load":
        if capture().pure:
            raise fail("E306", effect=f"I.{name}", found=capture().pure)
        mask = None if valid is None else indexing.condition(valid)
        entries = indexing.subscripts(called(where), where.shape, index, mask)  # type: ignore[attr-defined]
        given: tuple[Value, ...] = ()
    else:
        entries, given, mask = indexing.destination(where, index, operands, valid)
    if operation != "store":
        indexing.initialised(where)
    return capture().emit(Atomic(operation, where, entries, given, order, mask))


def _exchanging(operation: str, about: str) -> Intrinsic:
    def meaning(target: Any, index: Any, value: Operand, valid: Operand = None, order: str = "relaxed") -> Value:
        return Old(_performed(operation, target, index, (value,), valid, order))

    meaning.__doc__ = f"{about}; the old value.  Orders: relaxed, acquire, release, acq_rel."
    return declared(f"atomic.{operation}{'_' if operation in ('and', 'or') else ''}", meaning)


def _load(target: Any, index: Any, valid: Operand = None, order: str = "relaxed") -> Value:
    """The value of each element.  Orders: relaxed, acquire."""
    return Old(_performed("load", target, index, (), valid, order))


def _store(target: Any, index: Any, value: Operand, valid: Operand = None, order: str = "relaxed") -> None:
    """Put a value in place.  Orders: relaxed, release."""
    _performed("store", target, index, (value,), valid, order)


def _compare_exchange(
    target: Any, index: Any, expected: Operand, desired: Operand, valid: Operand = None, order: str = "relaxed"
) -> Record:
    """Put `desired` in place of an element whose bits are those of `expected`: a record of the `old_value` and of
    `success`.  Orders: relaxed, acquire, release, acq_rel; where it fails, the release part is dropped."""
    made = _performed("compare_exchange", target, index, (expected, desired), valid, order)
    return Record(("old_value", "success"), (Old(made), Succeeded(made)))


load, store = declared("atomic.load", _load), declared("atomic.store", _store)
exchange = _exchanging("exchange", "Put a value in place")
add = _exchanging("add", "Add")
max, min = _exchanging("max", "Take the maximum"), _exchanging("min", "Take the minimum")
and_, or_ = _exchanging("and", "Bitwise and, or and of bools"), _exchanging("or", "Bitwise or, or or of bools")
xor = _exchanging("xor", "Bitwise exclusive or")
compare_exchange = declared("atomic.compare_exchange", _compare_exchange)
