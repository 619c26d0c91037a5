"""Checking mode: the reference execution that also says what no execution may depend on.

`check` runs a logical program as `logical.run` does and finds: poison (the outcome of an invalid operation, or of
reading what nobody wrote) that reaches a condition, an address or an output; accesses outside a resource; elements that
unordered points write twice or write and read; combines that break their laws; promises that the arguments break.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...errors import CheckError, Remark
from ...numerics import Array
from ...terms.core import Term, walk
from ...terms.logical import (
    Accumulate,
    Allocate,
    Assert,
    Atomic,
    Branch,
    Buffer,
    LogicalProgram,
    Ordered,
    Parallel,
    Perform,
    Print,
    Read,
    Write,
    performed,
    shape_of,
)
from ...terms.normal import Effect, View
from ..arrays.access import scatter
from .checking_modifier import CheckedModifier
from .checking_poison import span_of
from .checking_report import Checked, Findings
from .checking_shadow import Shadow
from .checking_values import CheckedTensors
from .logical import BUDGET, Run
from .memory import Modifier
from .scope import Scope
from .tensors import Tensors, called

UNDERSTOOD = (Write, Accumulate, Atomic, Parallel, Ordered, Branch, Assert, Print, Allocate, Perform)
"""Effects whose writes are followed; any other may have written all of the resources that it names."""


def check(
    program: LogicalProgram,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    budget: int = BUDGET,
) -> Checked:
    """Execute `program` on NumPy arrays, written in place, and say everything that is wrong with this call.

    Where points meet in atomic or combining accesses, their order may show, and another one is tried too.

    Raises `CallError` where the arguments do not fit the parameters; what the program does wrong is a finding.
    """
    given = scalars or {}
    elsewhere = None
    if any(isinstance(t, Accumulate | Atomic) for t in performed(program)):
        elsewhere = _CheckedRun(program, arrays, given, budget, seed=0)
        with elsewhere.undone():
            elsewhere.whole()
    run = _CheckedRun(program, arrays, given, budget)
    run.whole()
    if elsewhere is not None:
        run.findings.add_others(elsewhere.findings, "in another order of the points")
    return run.report()


class _CheckedRun(Run):
    """One execution in checking mode."""

    def __init__(
        self, program: LogicalProgram, arrays: Mapping[str, Any], scalars: Mapping[str, Any], budget: int,
        seed: int | None = None,
    ) -> None:  # fmt: skip
        self.program = program
        self.findings = Findings()
        self.views = [t for t in walk(program) if isinstance(t, View)]
        self.quiet = seed is not None
        super().__init__(program, arrays, scalars, budget, seed)
        self._promises()

    def whole(self) -> None:
        """Perform the program; what no value could be given for ends it."""
        try:
            with np.errstate(all="ignore"):
                self.perform(self.program.body, Scope(), (), frozenset())
        except CheckError as end:
            self.findings.take(end)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Memory gets its contents back behind a run."""
        saved = {v.name: self.arguments.arrays[v.name].copy() for v in self.views if v.mode != "in"}
        yield
        for name, contents in saved.items():
            self.arguments.arrays[name][...] = contents

    def _modifier(self, seed: int | None) -> Modifier:
        assert isinstance(self.tensors, CheckedTensors)
        return CheckedModifier(self.tensors, self.shadow, seed)

    def evaluator(self) -> Tensors:
        inside = performed(self.program)
        # elements that a statement reads while another writes them
        changing = {t.view.name for t in inside if isinstance(t, Read | Accumulate | Atomic)}
        self.shadow = Shadow(self.arguments, self.views, self.findings, changing)
        return CheckedTensors(self.arguments, self.loop, self.shadow, self.findings)

    def _promises(self) -> None:
        for v in self.views:
            a = self.arguments.arrays[v.name]
            if v.finite and v.mode != "out" and not (fine := np.isfinite(a.astype(np.float64))).all():
                where = [int(i) for i in np.argwhere(~fine)[0]]
                self.findings.add(
                    "E510", v, None, name=v.name, promise="finite", expected="no NaN and no infinity",
                    found=f"element {where} is {a[tuple(where)]}",
                )  # fmt: skip

    # ---- statements

    def perform(
        self, effects: Sequence[Effect], scope: Scope, later: tuple[Term, ...], done: frozenset[Any]
    ) -> frozenset[Any]:
        for i, e in enumerate(effects):
            self.findings.place = e
            done = super().perform((e,), scope, (*effects[i + 1 :], *later), done)
            if not isinstance(e, UNDERSTOOD):
                self.shadow.assume_written(t for t in walk(e) if isinstance(t, View))
                for b in (t for t in walk(e) if isinstance(t, Buffer)):
                    self.findings.poison.of(self.tensors.resource(b, scope)[0])[...] = 0
        return done

    def _print(self, e: Print, scope: Scope) -> None:
        if not self.quiet:
            super()._print(e, scope)

    def _assert(self, e: Assert, scope: Scope) -> None:
        held = self.tensors.decided(e.condition, scope)
        failed = ~held if scope.active is None else ~held & scope.active
        if failed.any():
            self.findings.add("E520", e, scope, int(np.argmax(failed)), failed.shape, text=e.text)

    def _batches(self, e: Parallel, scope: Scope) -> Iterator[Scope]:
        epoch = self.shadow.epoch()
        for inner in super()._batches(e, scope):
            with self.shadow.points(e, epoch, inner):
                yield inner

    def _store(
        self, e: Write, target: Array, where: list[Array], value: Array, valid: Array | None, scope: Scope
    ) -> None:
        self.findings.place = e
        mask = self.tensors.poison.of(self.tensors.value(e.value, scope))  # type: ignore[attr-defined]
        rank = value.ndim - scope.depth
        shape = np.broadcast_shapes(scope.sizes + (1,) * rank, value.shape, *(i.shape for i in where))
        if mask is not None:
            more = rank - len(shape_of(e.value))
            mask = mask.reshape(mask.shape[: scope.depth] + (1,) * more + mask.shape[scope.depth :])
        if isinstance(e.view, Buffer):
            held = self.findings.poison.of(target)
            scatter(held, where, np.zeros((1,) * value.ndim, np.int64) if mask is None else mask, valid)
        self.shadow.stored(e, target, where, valid, mask, scope, shape)
        super()._store(e, target, where, value, valid, scope)

    def _allocate(self, e: Allocate, scope: Scope) -> None:
        super()._allocate(e, scope)
        target, poison = scope.known[e.buffer], self.findings.poison
        self.shadow.allocated(e.buffer, target)
        unwritten = poison.arises(
            "E504", e, np.ones(target.shape, np.bool_), called(e.buffer), lambda k: "an element of it"
        )
        poison.follow(target, unwritten)

    def _overtaken(self, e: Effect, scope: Scope, rest: Iterable[Term], done: frozenset[Any]) -> None:
        tensors = self.tensors
        assert isinstance(tensors, CheckedTensors)
        tensors.speculating = True
        super()._overtaken(e, scope, rest, done)
        tensors.speculating = False

    # ---- the outcome

    def report(self) -> Checked:
        """What was found, and which elements of the outputs hold nothing."""
        poison, unwritten, remarks = {}, {}, []
        for v in self.views:
            if v.mode == "in":
                continue
            mask = self.shadow.windows[v.name].poison
            nobody = self.findings.poison.came_from(mask, "E504", v.name)
            poison[v.name], unwritten[v.name] = (mask != 0) & ~nobody, nobody
            if nobody.any():
                where = [int(i) for i in np.argwhere(nobody)[0]]
                text = f"'{v.name}': {int(nobody.sum())} of {nobody.size} elements, the first is {where}"
                remarks.append(Remark("P006", text, span_of(v)))
        return Checked(self.findings.sorted(), tuple(remarks), poison, unwritten, self.findings.confined)


__all__ = ["Checked", "check"]
