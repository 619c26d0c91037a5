"""The reference meaning of a `logical` program: statements in order, tensors whole, parallel points in batches.

It is written to be read, and everything else is compared with it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import CheckError, error
from ...numerics import Array
from ...runtime.debug import filled
from ...terms.core import Term, arena
from ...terms.index import Value
from ...terms.logical import (
    Accumulate,
    After,
    Allocate,
    Assert,
    Atomic,
    Branch,
    Buffer,
    Domain,
    LogicalProgram,
    LoopVar,
    Ordered,
    Parallel,
    Perform,
    Print,
    Read,
    Start,
    TensorType,
    Write,
    opened,
    performed,
    written,
)
from ...terms.normal import Effect
from ..arrays.access import scatter
from ..arrays.arguments import bind
from .memory import Modifier, operands
from .scope import Scope, bound_by
from .tensors import Tensors

BUDGET = 1 << 18  # elements of the largest tensor of a batch: few batches, in bounded memory


def run(
    program: LogicalProgram,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    budget: int = BUDGET,
    cuts: int = 1,
    seed: int | None = None,
) -> None:
    """Execute `program`; its views are the NumPy arrays of `arrays`, written in place.

    `scalars` gives the runtime scalars, and extents that no array shows.  An access outside a view is a `CheckError`.
    Unordered points are performed one behind the other, as far as one can tell; with a `seed`, in another order that is
    legal as well, in which atomic accesses of different points alternate.  `cuts` is the number of slices of a region's
    axis: by its laws any will do.
    """
    execution = Run(program, arrays, scalars or {}, budget, seed)
    execution.tensors.cuts = cuts
    execution.perform(program.body, Scope(), (), frozenset())


class Run:
    """One execution."""

    def __init__(
        self,
        program: LogicalProgram,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, Any],
        budget: int,
        seed: int | None = None,
    ) -> None:
        self.arguments = bind(program, arrays, scalars)
        self.tensors = self.evaluator()
        self.budget = budget
        self.modifier = self._modifier(seed)
        # only of these can a read be overtaken by a write
        inside = performed(program)
        self.changing = {written(t) for t in inside} & {t.view for t in inside if isinstance(t, Read)}
        self.reads: dict[Term, tuple[Read, ...]] = {}
        self.inside: dict[Effect, frozenset[Effect]] = {}

    def _modifier(self, seed: int | None) -> Modifier:
        """What changes memory in this execution."""
        return Modifier(self.tensors, seed)

    def evaluator(self) -> Tensors:
        """What evaluates the values of this execution."""
        return Tensors(self.arguments, self.loop)

    def loop(self, loop: Ordered, scope: Scope) -> None:
        """Perform an ordered loop whose result is asked for before the loop was performed."""
        self._ordered(loop, scope, (), frozenset())

    def perform(
        self, effects: Sequence[Effect], scope: Scope, later: tuple[Term, ...], done: frozenset[Any]
    ) -> frozenset[Any]:
        """Effects in order.  `later` holds what is still to be evaluated behind them, `done` the effects that reads may
        name as performed."""
        for i, e in enumerate(effects):
            rest = (*effects[i + 1 :], *later)
            match e:
                case Write():
                    self._write(e, scope, rest, done)
                case Allocate():
                    self._allocate(e, scope)
                case Accumulate() | Atomic():
                    access = self.modifier.access(e, operands(e), scope)
                    self._overtaken(e, scope, rest, done)
                    self.modifier.perform(access, scope)
                case Parallel():
                    self._overtaken(e, scope, (e, *rest), done)
                    self._parallel(e, scope, rest, done)
                case Ordered():
                    self._overtaken(e, scope, (e, *rest), done)
                    self._ordered(e, scope, rest, done)
                case Branch(condition, then, otherwise):
                    self._overtaken(e, scope, (e, *rest), done)
                    chosen = self.tensors.decided(condition, scope)
                    for body, where in ((then, chosen), (otherwise, ~chosen)):
                        if where.any():
                            self.perform(body, scope if where.all() else scope.guarded(where, done), rest, done)
                case Perform():
                    self._overtaken(e, scope, (e, *rest), done)
                    self._call(e, scope, rest, done)
                case Assert():
                    self._assert(e, scope)
                case Print():
                    self._print(e, scope)
                case _:
                    raise error(
                        "E702", language="logical", found=f"a {type(e).__name__}, where statements are performed"
                    )
            done |= self._performed(e)
        return done

    def _performed(self, e: Effect) -> frozenset[Effect]:
        """The effects that have been performed once `e` has."""
        if e not in self.inside:
            self.inside[e] = frozenset(t for t in performed(e) if isinstance(t, Effect))
        return self.inside[e]

    # ---- memory

    def _write(self, e: Write, scope: Scope, rest: Iterable[Term], done: frozenset[Any]) -> None:
        access = self.modifier.access(e, (e.value,), scope)
        self._overtaken(e, scope, rest, done)
        if not access.empty:
            (value,) = access.values
            self._store(e, access.target, access.where, value, access.valid, scope)

    def _allocate(self, e: Allocate, scope: Scope) -> None:
        self.modifier.allocate(e.buffer, scope)

    def _store(
        self, e: Write, target: Array, where: list[Array], value: Array, valid: Array | None, scope: Scope
    ) -> None:
        """Assign `value` (broadcast) to the elements at `where`, in the lanes that are `valid`."""
        scatter(target, where, value, valid)

    def _overtaken(self, e: Effect, scope: Scope, rest: Iterable[Term], done: frozenset[Any]) -> None:
        """Evaluate the reads that stand before `e` in the program, are used behind it, and would see what it writes."""
        if not self.changing or not (changed := {written(t) for t in self._performed(e)} & self.changing):
            return
        for r in dict.fromkeys(r for t in rest for r in self._reads_in(t)):
            before = r.after is None or r.after in done
            if r.view in changed and before and scope.binds(self.tensors.dependence.of(r) - {r.after}):
                try:
                    scope.keep_read(r, self.tensors.early(r, scope))
                except CheckError:
                    continue  # an operand of it stands under a condition, which will decide

    def _reads_in(self, t: Term) -> tuple[Read, ...]:
        """Reads of changing views that evaluating `t` may ask for."""
        if t not in self.reads:
            self.reads[t] = tuple(x for x in performed(t) if isinstance(x, Read) and x.view in self.changing)
        return self.reads[t]

    # ---- loops

    def _parallel(self, e: Parallel, scope: Scope, rest: tuple[Term, ...], done: frozenset[Any]) -> None:
        """All points, a batch at a time."""
        for inner in self._batches(e, scope):
            self.perform(e.body, inner, rest, done)

    def _batches(self, e: Parallel, scope: Scope) -> Iterator[Scope]:
        """Scopes that bind the points of `e`, a batch each; one by one along points that extents depend on."""
        lines = [self.modifier.shuffled(self.tensors.members(p.domain, scope)) for p in e.points]
        blocks = self._blocks(e, [x.shape[-1] for x in lines], scope)
        bound = bound_by(e)
        for starts in itertools.product(*(range(0, x.shape[-1], b) for x, b in zip(lines, blocks, strict=True))):
            parts = [x[..., i : i + b] for x, i, b in zip(lines, starts, blocks, strict=True)]
            inner = Scope(scope, bound, tuple(x.shape[-1] for x in parts))
            for k, (p, x) in enumerate(zip(e.points, parts, strict=True)):
                inner.bind(p, x.reshape(x.shape[:-1] + (1,) * k + x.shape[-1:] + (1,) * (len(parts) - k - 1)))
            yield inner

    def _blocks(self, e: Parallel, counts: list[int], scope: Scope) -> list[int]:
        """How many members of each point make a batch."""
        if self.modifier.singly(e):
            return [1] * len(counts)
        extents = {x for t in performed(*e.body) for x in _extents(t)}
        depends = frozenset().union(*(self.tensors.dependence.of(x) for x in extents))
        if any(n not in e.points and not scope.binds(frozenset((n,))) for n in depends):
            return [1] * len(counts)  # on something that the body itself computes
        free = self.budget // max(1, self._largest(e, scope) * math.prod(scope.sizes))
        blocks: list[int] = []
        for p, n in reversed(list(zip(e.points, counts, strict=True))):
            block = 1 if p in depends else max(1, min(n, free))
            blocks.insert(0, block)
            free //= block
        return blocks

    def _largest(self, e: Parallel, scope: Scope) -> int:
        """Elements of the largest tensor of the body for one point, as far as its extents are known here."""
        largest = 1
        for t in performed(*e.body):
            shape = t.shape if isinstance(t, Buffer) else t.type.shape if isinstance(t.type, TensorType) else ()
            if shape:
                known = [x for x in shape if scope.binds(self.tensors.dependence.of(x))]
                largest = max(largest, math.prod(self.tensors.size(x, scope) for x in known))
        return largest

    def _ordered(self, e: Ordered, scope: Scope, rest: tuple[Term, ...], done: frozenset[Any]) -> None:
        """One member after the other while the condition holds, which each lane asks for itself: one that has left
        keeps the carries that it left with."""
        carried = [self.tensors.value(x, scope) for x in e.inits]
        bound, later = bound_by(e), (*e.yields, *rest)
        running: Array | None = None  # the lanes that have not left; None for all
        for member in self._line(e, scope):
            inner = Scope(scope, bound)
            if e.point is not None:
                inner.bind(e.point, member)
            for state, x in zip(e.states, carried, strict=True):
                inner.bind(state, x)
            if e.condition is not None:
                asked = inner if running is None else inner.guarded(running)
                goes = self.tensors.decided(e.condition, asked)
                running = goes if running is None else running & goes
                if not (running if scope.active is None else running & scope.active).any():
                    break
                if not running.all():
                    inner = inner.guarded(running, done)
            self.perform(e.body, inner, later, done | {Start(e.name)})
            new = [self.tensors.value(x, inner) for x in e.yields]
            if running is not None and not running.all():
                new = [self.tensors.merged(running, n, x, scope) for n, x in zip(new, carried, strict=True)]
            carried = new
        for k, x in enumerate(carried):
            scope.keep(After(e, k), x)

    # ---- calls

    def _call(self, e: Perform, scope: Scope, rest: tuple[Term, ...], done: frozenset[Any]) -> None:
        """The statements of a procedure, its arguments in the place of its formals."""
        self.perform(opened(e).body, scope, rest, done)

    def _line(self, e: Ordered, scope: Scope) -> Iterator[Any]:
        """The members that a loop goes over, in order."""
        if e.point is None:
            yield from itertools.repeat(None)
            return
        members = self.tensors.members(e.point.domain, scope)
        for i in range(members.shape[-1]):
            yield members[..., i]

    # ---- looking inside

    def _assert(self, e: Assert, scope: Scope) -> None:
        held = self.tensors.decided(e.condition, scope)
        failed = ~held if scope.active is None else ~held & scope.active
        if failed.any():
            raise error("E520", _span(e), text=e.text)

    def _print(self, e: Print, scope: Scope) -> None:
        """One line a point, in their order."""
        values = [self.tensors.value(v, scope) for v in e.values]
        lanes = np.broadcast_shapes(*(x.shape[: scope.depth] for x in values), scope.sizes)
        active = np.broadcast_to(True if scope.active is None else scope.active, lanes)
        whole = [np.broadcast_to(x, lanes + x.shape[scope.depth :]) for x in values]
        for lane in np.argwhere(active):
            print(filled(e.text, [str(x[tuple(lane)]) for x in whole]))


def _span(t: Any) -> Any:
    return next(iter(arena().spans.get(t, ())), None)


def _extents(t: Any) -> tuple[Value, ...]:
    """What the number of elements or of iterations of a term depends on."""
    if isinstance(t, Domain):
        return (t.extent,)
    if isinstance(t, LoopVar):
        return (t.domain.extent,)
    if isinstance(t, Buffer):
        return t.shape
    return t.type.shape if isinstance(getattr(t, "type", None), TensorType) else ()
