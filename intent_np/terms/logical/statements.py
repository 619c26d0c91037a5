"""Statements: effects in order, and structured control."""

from __future__ import annotations

from typing import Any

from ..core import term
from ..dtypes import DType, bool_
from ..index import Value
from ..normal import Effect, Memory
from .domains import LoopVar, Subscript, indexed
from .tensors import check_lanes
from .types import TensorType


@term
class Write(Effect):
    """Assign to elements of a view or buffer, each once: axes match by position, the value broadcasts to the indexed
    shape.  Lanes that are not `valid` touch nothing.  `again` counts the same statements before this one."""

    view: Memory
    subscripts: tuple[Subscript, ...]
    value: Value
    valid: Value | None = None
    again: int = 0
    syntax = "write {view}[{subscripts}] = {value}{ valid (|valid|)}{ again |again|}"

    def infer(self) -> None:
        shape = indexed(len(self.view.shape), self.subscripts, self.view.name)
        check_lanes(shape, (self.valid, bool_), (self.value, self.view.dtype))


@term
class Parallel(Effect):
    """Perform the body once per point, unordered."""

    points: tuple[LoopVar, ...]
    body: tuple[Effect, ...]
    syntax = "parallel {points}:{body:block}"


@term
class State(Value):
    """Carried value `position` of the ordered loop called `loop`, before the iteration in hand."""

    loop: str
    position: int
    dtype: DType
    extents: tuple[Value, ...] = ()
    scalar: bool = False
    syntax = "state {position} of {loop} {dtype}[{extents}]{ scalar|scalar|}"
    binds = True

    @property
    def name(self) -> str:
        return f"{self.loop}_{self.position}"

    def infer(self) -> Any:
        return self.dtype if self.scalar else TensorType(self.dtype, self.extents)


@term
class Ordered(Effect):
    """An ordered loop with carries: over the members of `point`, while `condition` holds, or both.

    `states` start as `inits` and become `yields` after each iteration; the condition is asked before each one, of the
    states as they are then.  What leaves a loop early (`break`, `return`) is a carried flag that the condition asks.
    """

    name: str
    states: tuple[State, ...]
    inits: tuple[Value, ...]
    yields: tuple[Value, ...]
    body: tuple[Effect, ...]
    point: LoopVar | None = None
    condition: Value | None = None
    syntax = (
        "for {name}{ over |point|}{ while |condition|}{ carrying |states|}{ from |inits|}{ yielding |yields|}"
        ":{body:block}"
    )

    def infer(self) -> None:
        types = [tuple(v.type for v in vs) for vs in (self.states, self.inits, self.yields)]
        if types[0] != types[1] or types[0] != types[2]:
            raise TypeError(f"carries of {types[0]} start as {types[1]} and become {types[2]}")
        if self.point is None and self.condition is None:
            raise TypeError("a loop over nothing, without a condition, has no end")
        if self.condition is not None and self.condition.type is not bool_:
            raise TypeError(f"a condition is {self.condition.type}, not bool")


@term
class Start(Effect):
    """The start of an iteration of the ordered loop called `loop`: where a read stands that sees what earlier
    iterations wrote, so that it differs from the same read before the loop."""

    loop: str
    syntax = "start of {loop}"


class Outcome(Value):
    """Sort: a value that an earlier statement left, which evaluating it does not perform again."""

    __slots__ = ()


@term
class Assert(Effect):
    """`I.debug_assert`: where `condition` does not hold, a run that checks stops with `text`."""

    condition: Value
    text: str
    syntax = "assert {condition} else {text}"

    def infer(self) -> None:
        if self.condition.type is not bool_:
            raise TypeError(f"a condition is {self.condition.type}, not bool")


@term
class Print(Effect):
    """`I.debug_print`: `text`, where each {} is a value, once for each point."""

    text: str
    values: tuple[Value, ...] = ()
    syntax = "print {text}{ of |values|}"


@term
class After(Outcome):
    """The final value of a carry."""

    loop: Ordered
    position: int
    syntax = "after {loop} carry {position}"

    def infer(self) -> Any:
        return self.loop.states[self.position].type


@term
class Branch(Effect):
    """Statements under a runtime scalar condition; values that differ are merged by select."""

    condition: Value
    then: tuple[Effect, ...]
    otherwise: tuple[Effect, ...] = ()
    syntax = "branch {condition}:{then:block}else:{otherwise:block}"

    def infer(self) -> None:
        if self.condition.type is not bool_:
            raise TypeError(f"a condition is {self.condition.type}, not bool")
