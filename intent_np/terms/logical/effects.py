"""Effects beyond plain writes: memory of the kernel's own, combining writes, atomic accesses; and who touches what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import updates
from ..core import Term, term
from ..dtypes import DType, bool_
from ..index import Value, apply
from ..normal import Combine, Effect, Memory
from .domains import Subscript, indexed
from .procedures import Perform, opened, performed
from .statements import Branch, Ordered, Outcome, Parallel, Write
from .structured import check_combine
from .tensors import Read, check_lanes
from .types import TensorType


@term
class Buffer(Memory):
    """Memory of the kernel's own, by a name that no other of its buffers has."""

    name: str
    dtype: DType
    shape: tuple[Value, ...]
    syntax = "buffer {dtype}[{shape}]"
    binds = True

    mode = "buffer"

    def infer(self) -> DType:
        return self.dtype


@term
class Allocate(Effect):
    """Make a buffer of unspecified contents.  It lasts as long as the statements that it stands among, and each time
    these are performed they have one of their own: the kernel, a point, an iteration."""

    buffer: Buffer
    syntax = "allocate {buffer}"
    spelled = "I.buffer"


@term
class Accumulate(Effect):
    """Combine values into elements, in any order; lanes and points may meet.  `again` as in `Write`."""

    view: Memory
    subscripts: tuple[Subscript, ...]
    value: Value
    combine: Combine
    valid: Value | None = None
    operands: tuple[Value, ...] = ()
    again: int = 0
    syntax = (
        "accumulate {view}[{subscripts}] of {value} by {combine}{ valid (|valid|)}{ with (|operands|)}{ again |again|}"
    )
    spelled = "I.scatter_reduce"

    def infer(self) -> None:
        shape = indexed(len(self.view.shape), self.subscripts, self.view.name)
        check_lanes(shape, (self.valid, bool_), (self.value, self.view.dtype))
        check_combine(self.combine, (self.view.dtype,), self.operands)


OPERATIONS = tuple(o for o in updates.OPERATIONS if o != "combine")
ORDERS = ("relaxed", "acquire", "release", "acq_rel")


def orders(operation: str) -> tuple[str, ...]:
    """The memory orders of an operation: what does not write can't release, what does not read can't acquire."""
    return {"load": ORDERS[:2], "store": ("relaxed", "release")}.get(operation, ORDERS)


@term
class Atomic(Effect):
    """An indivisible access to each element, in the modification order of that element."""

    operation: str
    view: Memory
    subscripts: tuple[Subscript, ...]
    operands: tuple[Value, ...]
    order: str = "relaxed"
    valid: Value | None = None
    again: int = 0
    syntax = "atomic {operation} {view}[{subscripts}] of ({operands}) {order}{ valid (|valid|)}{ again |again|}"

    def infer(self) -> None:
        if self.operation not in OPERATIONS or self.order not in orders(self.operation):
            raise TypeError(f"no atomic {self.operation} is {self.order}")
        if len(self.operands) != updates.OPERANDS.get(self.operation, 1):
            raise TypeError(f"atomic {self.operation} of {len(self.operands)} operands")
        check_lanes(self.lanes_shape(), (self.valid, bool_), *((v, self.view.dtype) for v in self.operands))

    @property
    def spelled(self) -> str:
        return f"I.atomic.{self.operation}{'_' if self.operation in ('and', 'or') else ''}"

    def lanes_shape(self) -> tuple[Value, ...]:
        return indexed(len(self.view.shape), self.subscripts, self.view.name)


@term
class Old(Outcome):
    """What an atomic access found before it; 0 in lanes that are not valid."""

    access: Atomic
    syntax = "old of {access}"

    def infer(self) -> Any:
        shape = self.access.lanes_shape()
        return TensorType(self.access.view.dtype, shape) if shape else self.access.view.dtype


@term
class Succeeded(Outcome):
    """Whether a compare-exchange found the bits that it expected; false in lanes that are not valid."""

    access: Atomic
    syntax = "success of {access}"

    def infer(self) -> Any:
        if self.access.operation != "compare_exchange":
            raise TypeError(f"an atomic {self.access.operation} always succeeds")
        shape = self.access.lanes_shape()
        return TensorType(bool_, shape) if shape else bool_


def written(e: Term) -> Memory | None:
    """The memory that a statement itself changes."""
    if isinstance(e, Allocate):
        return e.buffer
    if isinstance(e, (Write, Accumulate)) or isinstance(e, Atomic) and e.operation != "load":
        return e.view
    return None


# ---- who touches what


@dataclass(frozen=True)
class Access:
    """One access of a statement to memory, under the conditions of the branches around it."""

    term: Any
    conditions: tuple[Value, ...]

    @property
    def view(self) -> Memory:
        """The memory that is accessed."""
        return self.term.view  # type: ignore[no-any-return]

    @property
    def subscripts(self) -> tuple[Subscript, ...]:
        """Which of its elements."""
        return self.term.subscripts  # type: ignore[no-any-return]

    @property
    def writes(self) -> bool:
        """Whether it stores or updates."""
        return written(self.term) is not None

    def meets(self, other: Access) -> bool:
        """Whether points that make both accesses to one element are in conflict: not two reads, two atomic accesses, or
        two combinations by one combine."""
        if not (self.writes or other.writes) or self.view is not other.view:
            return False
        a, b = self.term, other.term
        if isinstance(a, Atomic) and isinstance(b, Atomic):
            return False
        return not (isinstance(a, Accumulate) and isinstance(b, Accumulate) and a.combine is b.combine)


def accesses(body: Iterable[Any], conditions: tuple[Value, ...] = ()) -> Iterator[Access]:
    """The accesses that performing statements makes, each as often as it stands under other conditions."""
    for e in body:
        parts: tuple[Any, ...] = (e,)
        match e:
            case Branch(condition, then, otherwise):
                parts = (condition,)
                yield from accesses(then, (*conditions, condition))
                yield from accesses(otherwise, (*conditions, apply("not", condition)))
            case Perform():
                parts = ()  # its results are evaluated where they are used
                yield from accesses(opened(e).body, conditions)
            case Parallel():
                parts = e.points
                yield from accesses(e.body, conditions)
            case Ordered():
                parts = tuple(t for t in (e.point, e.condition, *e.inits, *e.yields) if t is not None)
                yield from accesses(e.body, conditions)
        for t in performed(*parts):
            if isinstance(t, (Read, Write, Accumulate, Atomic)):
                yield Access(t, conditions)
