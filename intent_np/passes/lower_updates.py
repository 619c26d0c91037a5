"""Combining and atomic accesses as updates over coordinates: at every point of the loops and lanes around them.

    for i in parallel: atomic.add(count, 0, 1)      update count[0] by add of (1) over (i) relaxed
    scatter_reduce(y, b[:], x[:], combine)          update y[b[n]] by combine of (x[n]) over (n) as combine relaxed

What an access found is the value `Found`, which has the coordinates of its points.  At other places, and where its
points are combined, it is asked for in memory of the kernel's own, in which it is stored behind the access.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import children, find, inherit
from ..terms.dtypes import DType, i8, i16, i32, i64
from ..terms.index import Cast, Value, apply, conjunction, const
from ..terms.normal import Axis, Contract, Effect, Load, Part, Reduce, Region, Scan, Store, Turn, View
from ..terms.ordered import evaluated
from ..terms.updates import Found, Update
from .lower_buffers import Buffers
from .lower_regions import Positions
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
        self.left_by: dict[Any, tuple[View, Positions, Store]] = {}  # what accesses found, in memory
        self.loops = 0  # outermost parallel loops so far
        self.points: tuple[Axis, ...] = ()  # of the loops around the statement in hand
        self.within: tuple[int, ...] = ()

    indices_at: Callable[[tuple[L.Subscript, ...], Positions], Positions]
    inside: Callable[[Any, Value | None], Any]
    turn: Turn | None

    @abstractmethod
    def lanes(self, subscripts: tuple[L.Subscript, ...]) -> tuple[Positions, tuple[Axis, ...]]:
        """The positions of an access along its dimensions, and their axes."""

    @abstractmethod
    def allocated(self, like: Value, name: str, shape: tuple[Value, ...]) -> L.Buffer:
        """Memory of the kernel's own for a tensor of the dtype of `like`."""

    def update(self, s: L.Accumulate | L.Atomic, guards: tuple[Value, ...]) -> list[Effect]:
        """The update that a statement makes under these conditions, and the stores of what it found."""
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
        effects: list[Effect] = [inherit(s, made)]  # type: ignore[list-item]
        if isinstance(s, L.Atomic):
            self.updates[s] = made, positions
            effects += (self._kept(v, positions, under) for v in self.ways.found if v.access is s)
        self.performed[s] = made
        return effects

    def _kept(self, v: Any, positions: Positions, under: Value | None) -> Store:
        """The store of what an access found at all of its places."""
        value = self.found(v, positions)
        view, place = self.buffers.place(self.allocated(v, "found", L.shape_of(v)))
        store = inherit(v, Store(view, (*place, *positions), value, under, self.count.setdefault(view, 0)))
        self.count[view] += 1
        self.left_by[v] = view, place, store  # type: ignore[assignment]
        return store  # type: ignore[return-value]

    def found(self, v: L.Old | L.Succeeded, where: Positions) -> Any:
        """What an access found, or whether that was what it expected."""
        if v.access not in self.updates:  # it stands where no statement is ever performed
            return const(0, L.element(v.type))
        if v in self.left_by:
            view, place, store = self.left_by[v]
            return Load(view, (*place, *where), after=store)
        update, positions = self.updates[v.access]
        if where != positions:
            self.ways.found[v] = None
            self.again = True
            return const(0, L.element(v.type))
        found = Found(update)
        if isinstance(v, L.Old):
            return found
        return conjunction(update.valid, node(apply("eq", _bits(found), _bits(update.operands[0]))))

    def combined(self, effects: list[Any]) -> bool:
        """Whether points combine what others found, which is in none of them: it will be asked for in memory."""
        before = len(self.ways.found)
        accesses = {update: s for s, (update, _) in self.updates.items()}
        for t in evaluated(*effects) if any(True for _ in find(effects, Found)) else ():
            if isinstance(t, (Reduce, Scan, Contract, Region)):
                across = {t.axis, Part(t.axis)} if isinstance(t, Region) else {t.axis}  # type: ignore[arg-type]
                for x in evaluated(*children(t)):
                    if isinstance(x, Found) and not across.isdisjoint(x.lanes):
                        s = accesses[x.update]
                        succeeds = (L.Succeeded(s),) if s.operation == "compare_exchange" else ()
                        self.ways.found |= dict.fromkeys((L.Old(s), *succeeds))
        return len(self.ways.found) > before


def _bits(v: Any) -> Value:
    d = v.type
    return node(Cast(v, WORDS[d.bits], "bits")) if d.is_float else v  # type: ignore[no-any-return]
