"""Counts: sums of what is 1 where a member's number is that of a bin.

    reduce sum over n of cast(x[n] == bin, i32)      of each bin, how many members are its number

Every member is compared with every bin, as it stands.  Where the bins are few enough for one fragment, a provider adds
up a block of members at once instead (`tl.histogram`), in one pass over them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..terms.blocked import Whole
from ..terms.dtypes import bool_
from ..terms.index import Cast, Value, conjunction, is_const, is_op
from ..terms.normal import Axis, Coord, Part, Reduce, builtin_name

BINS: Final = range(17, 4097)
"""Numbers of bins that are counted so: fewer are compared as fast, more need a counter for many a member."""


class OneHot(NamedTuple):
    """The operand of such a sum: it is 1 where `key` is the number that `bin` is, and `valid` holds."""

    key: Value
    bin: Value
    valid: Value | None

    @property
    def members(self) -> frozenset[Any]:
        """The axes that the members are along."""
        return self.key.lanes | (self.valid.lanes if self.valid is not None else frozenset())


def one_hot(t: Any, is_bin: Callable[[Any], bool]) -> OneHot | None:
    """The sum's operand in parts, if the sum counts and `is_bin` holds of what is compared with."""
    if not isinstance(t, Reduce) or len(t.values) != 1 or builtin_name(t.combine) != "sum" or not t.type.is_integer:  # type: ignore[union-attr]
        return None
    operand: Any = t.values[0]
    valid: Any = None
    while not (isinstance(operand, Cast) and operand.value.type is bool_):
        if is_op(operand, "select") and is_const(operand.args[2], 0):
            valid, operand = conjunction(valid, operand.args[0]), operand.args[1]
        elif isinstance(operand, Cast) and operand.value.type.is_integer:  # type: ignore[union-attr]
            operand = operand.value  # 0 and 1 are the same in every type
        else:
            return None
    tests = operand.value.args if is_op(operand.value, "and") else (operand.value,)  # type: ignore[attr-defined]
    found = None
    for test in tests:
        sides = test.args if is_op(test, "eq") else ()  # type: ignore[union-attr]
        bins = [s for s in sides if is_bin(s)]
        if bins and found is None:
            found = next(s for s in sides if s is not bins[0]), bins[0]
        else:
            valid = conjunction(valid, test)
    if found is None or found[1].lanes & found[0].lanes or valid is not None and found[1].lanes & valid.lanes:
        return None
    return OneHot(*found, valid)


def uncast(v: Any) -> Any:
    """The number of a bin that stands in a type which holds all of them."""
    while isinstance(v, Cast) and v.dtype.is_integer and v.dtype.bits >= 16 and v.mode == "wrap":
        v = v.value
    return v


def counted(t: Any) -> OneHot | None:
    """The operand of a sum over members, logical or in blocks, if the sum counts them by their numbers and one fragment
    holds all bins."""
    from .roles import extent_bound

    def is_bin(v: Any) -> bool:
        a = uncast(v).axis if isinstance(uncast(v), Coord) else None
        held = a.axis if isinstance(a, Whole) else a
        return isinstance(held, Axis) and a is not t.axis and is_const(held.lo, 0) and extent_bound(held) in BINS

    if not isinstance(t, Reduce) or isinstance(t.axis, Part):
        return None
    parts = one_hot(t, is_bin)
    return parts if parts is not None and parts.members == {t.axis} else None  # a provider counts along one axis


def bins_of(t: Any) -> Any:
    """The axis of the bins of a sum that counts so, None of anything else."""
    parts = counted(t)
    return None if parts is None else uncast(parts.bin).axis
