"""Executes `gpu` programs: statements over fragments, in order, for all instances in hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...numerics import Array, apply, storage
from ...terms.core import Term
from ...terms.gpu import Broadcast, ContractInto, Dispatch, Fetch, For, Full, If, Kernel, Let, Range, Sync, Var, While
from ...terms.index import Physical, Value
from ...terms.normal import Load, Reduce, Scan, Store, Update
from ...terms.operators import OPERATORS
from ...terms.text import brief
from ..arrays.arguments import bind, element
from ..arrays.counters import Counters
from ..arrays.memory import Memory
from ..arrays.schedule import BUDGET, temporaries
from ..arrays.values import Values, malformed
from ..arrays.versions import performed
from .launch import both, each, hold, launched, memory_of, trips


def run(
    program: Kernel,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    order: str = "forward",
    counters: Counters | None = None,
    budget: int = BUDGET,
) -> None:
    """Execute `program` on `arrays`; see `machine.run`."""
    arguments = bind(program, arrays, scalars or {})
    memory = memory_of(program, arguments, counters, strict)
    terms = performed(program)
    sizes = list(dict.fromkeys([*program.physical, *(t for t in terms if isinstance(t, Physical))]))
    instances = len(program.coordinates)
    positions = {p: instances + d for d, p in enumerate(sizes)}
    rank = instances + len(sizes)
    extents = [max(0, int(arguments.scalar(g))) for g in program.grid]
    bytes_each = temporaries(terms, {p: p.value for p in sizes})
    for piece in launched(memory, extents, rank, each(bytes_each), order, budget):
        machine = Statements(memory, positions, rank)
        for d, (var, line) in enumerate(zip(program.coordinates, piece, strict=True)):
            machine.names[var.name] = line.reshape([-1 if i == d else 1 for i in range(rank)])
        machine.perform(program.body)


class Statements(Values):
    """The names of the instances in hand, and which of the instances perform the statement in hand."""

    def __init__(self, memory: Memory, positions: Mapping[Any, int], rank: int) -> None:
        super().__init__(memory, positions, rank)
        self.names: dict[str, Any] = {}
        self.meant: dict[str, Var] = {}  # a name may be that of another variable in another loop
        self.running: Array | None = None
        self._known: dict[Value, Any] = {}

    # ---- statements

    def perform(self, body: Iterable[Term]) -> None:
        """Perform statements in order."""
        for s in body:
            self._known = {}
            match s:
                case Let(var, value):
                    self._assign(var, self.value(value))
                case Store(_, indices, value, valid):
                    at = [self.value(i) for i in indices]
                    lanes = None if valid is None else self.value(valid)
                    self.memory.store(s, at, self.value(value), lanes, self.running)
                case Update():
                    self._update(s)
                case Fetch(var, update):
                    self._assign(var, self._update(update))
                case For():
                    self._loop(s)
                case While():
                    self._while(s)
                case If(condition, inner):
                    self._branch(self.value(condition), inner)
                case Dispatch():
                    self._group(s)
                case Sync():
                    pass  # stores happen at once
                case _:
                    raise malformed(f"a {type(s).__name__} among the statements", "gpu")

    def _update(self, t: Update) -> Array:
        full = [*self.memory.instances, *[1] * (self.rank - len(self.memory.instances))]
        for p in t.over:
            full[self.position(p)] = p.value  # type: ignore[attr-defined]
        lanes = None if t.valid is None else self.value(t.valid)
        if self.running is not None:
            lanes = self.running if lanes is None else lanes & self.running
        indices, values = [self.value(i) for i in t.index], [self.value(v) for v in t.operands]
        return self.memory.update(t, indices, values, lanes, full, self.combining(t))

    def _assign(self, var: Var, value: Any) -> None:
        """Name a value.  A name that has one already keeps it where the instance is not running."""
        old = self.names.get(var.name) if self.meant.get(var.name) is var else None
        self.meant[var.name] = var
        if self.running is not None and old is not None:
            parts = (value, old) if isinstance(value, list) else ([value], [old])
            held = hold(self.running, *parts)
            value = held if isinstance(value, list) else held[0]
        self.names[var.name] = value

    def _loop(self, s: For) -> None:
        lo, hi, step = self.value(s.lo), self.value(s.hi), self.value(s.step)
        missing = [v.name for v in s.carries if v.name not in self.names]
        if missing:
            raise malformed(f"{', '.join(missing)} carried by a loop, without a first value", "gpu")
        outer = self.running
        for i, active in trips(self.memory, lo, hi, step, outer):
            self.names[s.var.name] = lo + i * step
            self.running = active
            self.perform(s.body)
        self.running = outer

    def _while(self, s: While) -> None:
        outer = self.running
        while True:
            goes = both(self.value(s.condition), outer)
            self._known = {}
            if goes is None or not goes.any():
                break
            self.memory.counters.iterations += self.memory.spread(goes)
            self.running = None if goes.all() else goes
            self.perform(s.body)
        self.running = outer

    def _branch(self, condition: Array, body: Iterable[Term]) -> None:
        outer = self.running
        inside = condition if outer is None else condition & outer
        if inside.any():
            self.running = None if inside.all() else inside
            self.perform(body)
        self.running = outer

    def _group(self, s: Dispatch) -> None:
        """The instances of a group perform its body, with coordinates of their own."""
        outside, number = dict(self.names), self.value(s.number)
        rest = number - self.value(s.first)
        for var, extent in zip(reversed(s.coordinates), reversed(s.grid), strict=True):
            count = np.maximum(self.value(extent), 1)
            self.names[var.name] = rest % count
            rest = rest // count
        self._branch((number >= self.value(s.first)) & (number < self.value(s.end)), s.body)
        self.names = outside  # another group may mean something else by a name

    # ---- values

    def recall(self, t: Value) -> Any:
        return self.names.get(t.name) if isinstance(t, Var) else self._known.get(t)

    def keep(self, t: Value, value: Any) -> None:
        self._known[t] = value

    def operands(self, t: Value) -> Iterable[Value]:
        match t:
            case Reduce(_, _, values) | Scan(_, _, values):
                return values
            case Range() | Full() | Var():
                return ()
            case Broadcast(value):
                return (value,)
        return super().operands(t)

    def active(self, t: Load) -> Array | None:
        return self.running

    def compute(self, t: Value) -> Any:
        match t:
            case Range(size):
                return self.along(size, np.arange(size.value))
            case Full(value, d, extents):
                shape = [1] * self.rank
                for p in extents:
                    shape[self.position(p)] = p.value
                return np.full(shape, value, storage(d))
            case Broadcast(value, extents):
                found = self.value(value)
                for p in extents:
                    found = self.widen(found, self.position(p), p.value)
                return found
            case Reduce(axis, combine, values, identities):
                found = [self.value(v) for v in values]
                result = self.reduce(combine, found, identities, self.position(axis), axis.value)  # type: ignore[attr-defined]
                return result if len(result) > 1 else result[0]
            case Scan(axis, combine, values, identities, reverse):
                found, size = [self.value(v) for v in values], axis.value  # type: ignore[attr-defined]
                result = self.scan(combine, found, identities, self.position(axis), size, reverse)
                return result if len(result) > 1 else result[0]
            case ContractInto():
                return self._contract_into(t)
            case Var(name):
                raise malformed(f"{name} is used before it has a value", "gpu")
        return super().compute(t)

    def _contract_into(self, t: ContractInto) -> Array:
        if len(t.summed) != 1:
            raise malformed(f"a contraction over {len(t.summed)} axes: {brief(t)}", "gpu")
        (axis,) = t.summed
        left, right, start = self.value(t.left), self.value(t.right), self.value(t.accumulator)
        dim, acc = self.position(axis), element(t.accumulator)
        product = self.contract(left, right, dim, axis.value, element(t.left), acc, active=self.running)
        return apply(OPERATORS["add"], start, product, dtype=acc)
