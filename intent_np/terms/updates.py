"""Effects that combine: each changes an element in one indivisible step, in an order of the element's own."""

from __future__ import annotations

from typing import Any

from .accesses import Effect, View, check_access
from .combines import Combine, check_captures
from .core import NO_AXES, Term, term
from .dtypes import DType
from .index import AxisLike, Value
from .ordered import Turn

OPERATIONS = (
    "load", "store", "exchange", "add", "max", "min", "and", "or", "xor", "compare_exchange", "combine",
)  # fmt: skip
"""What an update may do; `combine` by a combine region, all others as the atomic accesses of these names."""

OPERANDS = {"load": 0, "compare_exchange": 2}
"""How many values an operation takes; all others one."""

ACQUIRING, RELEASING = ("acquire", "acq_rel"), ("release", "acq_rel")
"""Memory orders that keep what is behind an access behind it, and what is before it before."""


@term
class Update(Effect):
    """Change an element in one indivisible step, once at each point of `over`; points may meet at an element, in any
    order.  Lanes that are not `valid` touch nothing.

    `order` is the memory order.  `within` names the outermost `parallel` around it and counts the axes of `over` that
    are its points: updates of different points of one have no order.  `again` counts as that of a store.  In an ordered
    loop it happens in each iteration, `turn`.  The operands of a combine are what is brought, and what its arguments of
    side `c` are.
    """

    view: View
    index: tuple[Value, ...]
    operation: str
    operands: tuple[Value, ...]
    over: tuple[AxisLike, ...]
    combine: Combine | None = None
    order: str = "relaxed"
    valid: Value | None = None
    within: tuple[int, ...] = ()
    again: int = 0
    turn: Turn | None = None
    syntax = (
        "update {view}[{index}] by {operation} of ({operands}) over ({over}){ as |combine|} {order}{ valid (|valid|)}"
        "{ within |within|}{ again |again|}{ in |turn|}"
    )

    def infer(self) -> None:
        check_access(self.view, self.index, self.valid)
        dtype = self.view.dtype
        if self.operation not in OPERATIONS or (self.operation == "combine") is (self.combine is None):
            raise TypeError(f"no update by {self.operation}{' as a combine' if self.combine else ''}")
        given = self.operands if self.combine is None else self.operands[:1]
        if [v.type for v in given] != [dtype] * OPERANDS.get(self.operation, 1):
            raise TypeError(f"{self.operation} of {[v.type for v in self.operands]} into {self.view.name} of {dtype}")
        if self.combine is not None:
            if self.combine.dtypes != (dtype,):
                raise TypeError(f"a combine of {self.combine.dtypes} into {self.view.name} of {dtype}")
            check_captures(self.combine, self.operands[1:])
        if self.within and (len(self.within) != 2 or self.within[1] > len(self.over)):
            raise TypeError(f"{self.within} are no number of a loop and of its points")

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        lanes, needs = Term.axes(self)
        own = [a.coordinate_axes() for a in self.over]
        inside = NO_AXES if self.turn is None else frozenset((self.turn,))
        return lanes.union(*(lane for lane, _ in own)), needs.union(inside, *(need for _, need in own))


@term
class Found(Value):
    """What an update found before it; 0 in lanes that are not valid."""

    update: Update
    syntax = "found by {update}"

    def infer(self) -> DType:
        return self.update.view.dtype


def ordered(a: Update, b: Update) -> bool:
    """Whether two updates of one element show in which order they are: not two by one combine and what it uses."""
    return a.combine is None or a.combine is not b.combine or a.operands[1:] != b.operands[1:]


def fenced(a: Any, b: Any) -> bool:
    """Whether the memory orders of two accesses of one point keep the second behind the first: that one acquires, or
    the second releases.  Other points see no order but that of updates, which alone they may meet."""
    if not isinstance(a, Update) or not isinstance(b, Update) or not a.within or not b.within:
        return False
    return a.within[0] == b.within[0] and (a.order in ACQUIRING or b.order in RELEASING)


__all__ = ["ACQUIRING", "OPERANDS", "OPERATIONS", "RELEASING", "Found", "Update", "fenced", "ordered"]
