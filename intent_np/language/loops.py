"""Loops: unordered `parallel` without carries, ordered ones with the names that they change as carries."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from intent_np.errors import IntentError
from intent_np.terms.core import Term, named
from intent_np.terms.dtypes import DType
from intent_np.terms.index import Value, apply, sub
from intent_np.terms.logical import (
    After,
    Domain,
    LoopVar,
    Ordered,
    Parallel,
    Read,
    Start,
    State,
    TensorType,
    Write,
    element,
    performed,
)
from intent_np.terms.normal import Effect, View

from . import races
from .calls import Enumerated
from .context import capture, fail
from .elaborate import describe, is_literal, is_open, show, value
from .frames import POISON, Frame, Missing, Poisoned
from .products import alike, leaves, refilled


@dataclass(frozen=True)
class Points:
    """`I.parallel(domains)`: what a for loop iterates unordered."""

    domains: tuple[Domain, ...]
    single: bool


def loop(f: Frame, s: ast.For, collect: bool) -> None:
    """`for target in iterable`: parallel, ordered, or unrolled over a tuple that is known now."""
    from . import statements
    from .expressions import evaluate

    over = evaluate(f, s.iter)
    _no_return(f, s.body)
    if isinstance(over, Points):
        return _parallel(f, s, over, collect)
    if isinstance(over, Domain | Enumerated):
        return _ordered(f, s, over, collect)
    if isinstance(over, tuple):
        for member in over:
            statements.assign(f, s.target, member)
            statements.execute(f, s.body, collect)
        return None
    raise fail(
        "E102",
        construct=f"a loop over {describe(over)}",
        suggestion="iterate a domain, range(...), I.parallel(domain) or a tuple",
    )


def _no_return(f: Frame, body: Sequence[ast.stmt]) -> None:
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.Return):
                with capture().at(f.source, n):
                    raise fail(
                        "E102",
                        construct="return inside a loop",
                        suggestion="guard the rest of the iteration with if, or use continue",
                    )


# ---- parallel ----------------------------------------------------------------------------------------------------


def _parallel(f: Frame, s: ast.For, over: Points, collect: bool) -> None:
    from . import statements

    state = capture()
    if state.pure:
        raise fail("E306", effect="I.parallel", found=state.pure)
    targets = list(s.target.elts) if isinstance(s.target, ast.Tuple | ast.List) else [s.target]
    if len(targets) != len(over.domains) or over.single and isinstance(s.target, ast.Tuple | ast.List):
        raise fail("E116", count=len(targets), found=f"{len(over.domains)} domains")
    before = dict(f.names)
    points: list[LoopVar] = []
    for target, domain in zip(targets, over.domains, strict=True):
        if isinstance(target, ast.Name):
            depth = sum(p.domain is domain for p in (*state.loops, *points))
            points.append(LoopVar(domain, depth))
        else:
            raise fail("E102", construct="this loop target", suggestion="name the point: for row in I.parallel(rows)")
    changed = [n for n in statements.assigned(s.body) if n in f.names]
    for n in changed:
        f.names[n] = Missing("E114", {"name": n})
    with state.block(points=tuple(points)) as effects:
        for target, p in zip(targets, points, strict=True):
            statements.assign(f, target, p)
        statements.execute(f, s.body, collect)
    inside = [
        n
        for n in f.names
        if n not in before or n in changed or any(isinstance(t, ast.Name) and t.id == n for t in targets)
    ]
    f.names = before | {n: Missing("E120", {"name": n}) for n in inside}
    if effects:
        made = Parallel(tuple(points), tuple(effects))
        for problem in races.read_alone(made):
            state.errors.add(problem)
        state.emit(made)


# ---- ordered -----------------------------------------------------------------------------------------------------


def _ordered(f: Frame, s: ast.For, over: Domain | Enumerated, collect: bool) -> None:
    from . import statements

    state = capture()
    if state.pure:
        raise fail("E306", effect="an ordered loop", found=state.pure)
    domain = over.domain if isinstance(over, Enumerated) else over
    point = state.point(domain)
    target = ast.unparse(s.target)
    name = state.loop_name(target if target.isidentifier() else "loop")
    inits = {n: f.names[n] for n in statements.assigned(s.body) if n in f.names and _carriable(f.names[n])}
    blocked = [n for n in statements.assigned(s.body) if n in f.names and n not in inits]
    dtypes = _literal_dtypes(f, s, over, point, inits)
    attempt = _Attempt(f, s, over, point, name, inits, blocked, dtypes, frozenset(), collect)
    before, saved = dict(f.names), state.saved()
    attempt.read()
    while rewritten := attempt.rewritten(saved.written) - attempt.marked:
        state.restore(saved)
        f.names = dict(before)
        attempt.marked |= rewritten
        attempt.read()
    f.names = before
    attempt.finish()


def _carriable(v: Any) -> bool:
    return all(isinstance(x, Value) or is_literal(x) for x in leaves(v))


def _literal_dtypes(
    f: Frame, s: ast.For, over: Domain | Enumerated, point: LoopVar, inits: dict[str, Any]
) -> dict[str, list[DType]]:
    """The dtypes of the carries: those that start as literals take what one iteration makes of them."""
    from . import statements

    dtypes = {n: [element(value(x).type) for x in leaves(v)] for n, v in inits.items()}
    if not any(is_open(x) for v in inits.values() for x in leaves(v)):
        return dtypes
    state, before = capture(), dict(f.names)
    with state.rehearsal(), state.block(members=(point,)):
        try:
            _bind(f, s.target, over, point)
            statements.execute(f, s.body, collect=True)
        except IntentError:
            pass  # the attempt that counts will report it
        after, f.names = f.names, before
    for n, v in inits.items():
        if alike(v, after[n]):
            for i, (x, y) in enumerate(zip(leaves(v), leaves(after[n]), strict=True)):
                if is_open(x) and (isinstance(y, Value) or isinstance(x, int) and isinstance(y, float)):
                    dtypes[n][i] = element(value(y).type)
    return dtypes


def _bind(f: Frame, target: ast.expr, over: Domain | Enumerated, point: LoopVar) -> None:
    from . import statements

    if isinstance(over, Enumerated):
        from intent_np.rules.simplify import simplify

        gone = sub(point, over.domain.lo)
        statements.assign(
            f,
            target,
            (simplify(gone if over.domain.step is None else apply("floordiv", gone, over.domain.step)), point),
        )
    else:
        statements.assign(f, target, point)


@dataclass
class _Attempt:
    """One reading of an ordered loop's body, under a guess of what its states are and which views it rewrites."""

    f: Frame
    s: ast.For
    over: Domain | Enumerated
    point: LoopVar
    name: str
    inits: dict[str, Any]
    blocked: list[str]
    dtypes: dict[str, list[DType]]
    marked: frozenset[View]
    collect: bool

    def read(self) -> None:
        """Read the body over states of the guessed types."""
        from . import statements

        state = capture()
        self.states: dict[str, Any] = {}
        position = 0
        for n, v in self.inits.items():
            parts = []
            for x, d in zip(leaves(v), self.dtypes[n], strict=True):
                shape = x.type.shape if isinstance(x, Value) and isinstance(x.type, TensorType) else None
                parts.append(named(State(self.name, position, d, shape or (), shape is None), n))
                position += 1
            self.states[n] = self.f.names[n] = refilled(v, parts)
        for n in self.blocked:
            self.f.names[n] = Missing("E207", {"name": n, "found": "a value that a loop can't carry"})
        for view in self.marked:
            state.written[view] = Start(self.name)
        with state.block(members=(self.point,)) as effects:
            _bind(self.f, self.s.target, self.over, self.point)
            statements.execute(self.f, self.s.body, self.collect)
        self.effects = tuple(effects)
        self.yields = {n: self.f.names[n] for n in self.inits}

    def _inside(self) -> list[Term]:
        return performed(*self.effects, *(x for v in self.yields.values() for x in leaves(v) if isinstance(x, Value)))

    def rewritten(self, earlier: dict[View, Effect | None]) -> frozenset[View]:
        """The views that the body writes and also reads as an earlier iteration left them."""
        touched = {t.view for t in self._inside() if isinstance(t, Write)}
        return frozenset(
            t.view
            for t in self._inside()
            if isinstance(t, Read) and t.view in touched and t.after is earlier.get(t.view)
        )

    def finish(self) -> None:
        """Make the loop and bind the names behind it."""

        used = {t for t in self._inside() if isinstance(t, State)}
        kept: list[tuple[str, State, Value, Value]] = []
        lost: dict[str, Any] = {}
        for n, v in self.inits.items():
            states = list(leaves(self.states[n]))
            try:
                with capture().at(self.f.source, self._assignment(n)):
                    pairs = self._carry(n, v, states, self.yields[n])
            except IntentError as problem:
                if any(x in used for x in states):
                    raise
                lost[n] = Missing("E207", {"name": n, "found": problem.found})
                continue
            kept += [(n, *p) for p in pairs]
        after = self._loop(kept)
        self.f.names.update({n: Missing("E112", {"name": n}) for n in self._local()} | lost)
        self.f.names.update(after)

    def _assignment(self, name: str) -> ast.AST:
        """Where the body assigns a name for the last time."""
        stores = (n for s in self.s.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name)
        return max((n for n in stores if isinstance(n.ctx, ast.Store)), key=lambda n: (n.lineno, n.col_offset))

    def _local(self) -> list[str]:
        from . import statements

        targets = statements.assigned([ast.Assign([self.s.target], ast.Constant(0))])
        return [n for n in (*statements.assigned(self.s.body), *targets) if n not in self.inits]

    def _carry(self, name: str, init: Any, states: list[State], result: Any) -> list[tuple[State, Value, Value]]:

        if result is POISON:
            raise Poisoned
        if isinstance(result, Missing):
            raise fail(result.code, **result.fields)
        if not alike(init, result) or not _carriable(result):
            raise fail(
                "E207", name=name, found=f"{describe(init)} before the loop, {describe(result)} after an iteration"
            )
        made = []
        for state, x, y in zip(states, leaves(init), leaves(result), strict=True):
            start, end = value(x, state.dtype), value(y, state.dtype)
            if start.type != state.type or end.type != state.type:
                raise fail("E207", name=name, found=f"{show(start)} before the loop, {show(end)} after an iteration")
            made.append((state, start, end))
        return made

    def _loop(self, kept: list[tuple[str, State, Value, Value]]) -> dict[str, Any]:
        """Emit the loop over the carries that were kept; what their names mean behind it."""
        if not kept and not self.effects:
            return {}
        made = Ordered(
            self.name,
            self.point,
            tuple(k[1] for k in kept),
            tuple(k[2] for k in kept),
            tuple(k[3] for k in kept),
            self.effects,
        )
        capture().emit(made)
        results: dict[str, list[Value]] = {}
        for i, (n, *_) in enumerate(kept):
            results.setdefault(n, []).append(named(After(made, i), n))
        return {n: refilled(self.inits[n], parts) for n, parts in results.items()}
