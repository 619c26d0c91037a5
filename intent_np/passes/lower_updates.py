"""Combining and atomic accesses as updates over coordinates: at every point of the loops and lanes around them.

    for i in parallel: atomic.add(count, 0, 1)      update count[0] by add of (1) over (i) relaxed
    scatter_reduce(y, b[:], x[:], combine)          update y[b[n]] by combine of (x[n]) over (n) as combine relaxed

What an access found is the value `Found`, which has the coordinates of its points.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import inherit
from ..terms.dtypes import DType, i8, i16, i32, i64
from ..terms.index import Cast, Value, apply, conjunction, const
from ..terms.normal import Axis, Effect, Turn, View
from ..terms.updates import Found, Update
from .lower_buffers import Buffers
from .lower_regions import Positions, refused
from .lower_sorts import SortLowering

WORDS: dict[int, DType] = {8: i8, 16: i16, 32: i32, 64: i64}


class UpdateLowering(SortLowering):
    """The part of the lowering that knows effects which combine."""

    performed: dict[Any, Effect]
    count: dict[View, int]
    buffers: Buffers

    def __init__(self) -> None:
        super().__init__()
        self.updates: dict[L.Atomic, tuple[Update, Positions]] = {}
        self.loops = 0  # outermost parallel loops so far
        self.points: tuple[Axis, ...] = ()  # of the loops around the statement in hand
        self.within: tuple[int, ...] = ()

    indices_at: Callable[[tuple[L.Subscript, ...], Positions], Positions]
    inside: Callable[[Any, Value | None], Any]
    turn: Turn | None

    @abstractmethod
    def lanes(self, subscripts: tuple[L.Subscript, ...]) -> tuple[Positions, tuple[Axis, ...]]:
        """The positions of an access along its dimensions, and their axes."""

    def update(self, s: L.Accumulate | L.Atomic, guards: tuple[Value, ...]) -> Update:
        """The update that a statement makes under these conditions."""
        view, place = self.buffers.place(s.view)
        combine, operation, order = None, "combine", "relaxed"
        if isinstance(s, L.Atomic):
            operation, order, given = s.operation, s.order, s.operands
        else:
            combine, given = s.combine, (s.value, *s.operands)
        positions, axes = self.lanes(s.subscripts)
        over = tuple(dict.fromkeys((*self.points, *axes)))
        with self.varying_along(frozenset(over)):
            values: list[Any] = [self.at(*self.fitted(v, positions)) for v in given]
            valid = None if s.valid is None else self.at(*self.fitted(s.valid, positions))
            index = (*place, *self.indices_at(s.subscripts, positions))
        under = conjunction(*guards)
        condition = conjunction(under, None if valid is None else self.inside(valid, under))
        values = [self.inside(v, condition) for v in values]
        index = tuple(self.inside(i, condition) for i in index)
        again = self.count.setdefault(view, 0)
        self.count[view] += 1
        made = Update(
            view, index, operation, tuple(values), over, combine, order, condition, self.within, again, self.turn
        )  # fmt: skip
        if isinstance(s, L.Atomic):
            self.updates[s] = made, positions
        self.performed[s] = made
        return inherit(s, made)  # type: ignore[return-value]

    def found(self, v: L.Old | L.Succeeded, where: Positions) -> Any:
        """What an access found, or whether that was what it expected."""
        if v.access not in self.updates:  # it stands where no statement is ever performed
            return const(0, L.element(v.type))
        update, positions = self.updates[v.access]
        if where != positions:
            raise refused(v, "what an atomic access found, at other places than its own")
        found = Found(update)
        if isinstance(v, L.Old):
            return found
        return conjunction(update.valid, node(apply("eq", _bits(found), _bits(update.operands[0]))))


def _bits(v: Any) -> Value:
    d = v.type
    return node(Cast(v, WORDS[d.bits], "bits")) if d.is_float else v  # type: ignore[no-any-return]
