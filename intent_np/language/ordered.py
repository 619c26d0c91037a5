"""Ordered loops, `for` and `while`: the names that their bodies change are carries, and so is having left early.

A body is read over states of guessed types.  It is read again where the guess was wrong: a read turns out to see what
an earlier iteration wrote, or a bound that was assumed of a state does not survive an iteration.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from intent_np.errors import IntentError
from intent_np.terms.core import Term, find, named
from intent_np.terms.dtypes import DType, bool_, index
from intent_np.terms.index import Const, Value, const, le
from intent_np.terms.logical import (
    After,
    Domain,
    LoopVar,
    Ordered,
    Read,
    Start,
    State,
    element,
    performed,
    shape_of,
    written,
)
from intent_np.terms.normal import Effect, Memory

from . import bounds, exits
from .arithmetic import logic, negated, truth
from .calls import Enumerated, ordinal
from .carries import blank, carried_dtypes, state_of, states_of
from .context import capture, fail
from .elaborate import describe, is_literal, is_tensor, select, show, value
from .expressions import evaluate
from .frames import POISON, Frame, Missing, Poisoned
from .indexing import known
from .products import alike, leaves, refilled


def ordered(f: Frame, s: ast.For | ast.While, over: Domain | Enumerated | None, collect: bool) -> None:
    """Read a loop whose iterations follow one another; `over` is what a `for` goes over."""
    from . import statements

    state = capture()
    if state.pure:
        raise fail("E306", effect="an ordered loop", found=state.pure)
    domain = over.domain if isinstance(over, Enumerated) else over
    head = _Head(f, s, over, None if domain is None else state.point(domain))
    if head.acts():
        head.s = _asked_inside(s)  # type: ignore[arg-type]
    target = ast.unparse(s.target) if isinstance(s, ast.For) else "loop"
    name = state.loop_name(target if target.isidentifier() else "loop")
    changed = statements.assigned([ast.Assign([s.target], s.iter), *s.body] if isinstance(s, ast.For) else s.body)
    read = _read(f.source.tree)
    inits = {n: f.names[n] for n in changed if n in f.names and n in read and _carriable(f.names[n])}
    # a target that has no value before the loop has none behind it, and one that has is an ordinary carry
    blocked = [n for n in statements.assigned(s.body) if n in f.names and n not in inits]
    dtypes = carried_dtypes(head, name, inits, collect)
    attempt = _Attempt(head, name, inits, blocked, changed, dtypes, collect)
    attempt.assumed = attempt.candidates()
    before, saved = dict(f.names), state.saved()
    attempt.read()
    while (rewritten := attempt.rewritten(saved.written) - attempt.marked) or attempt.refuted:
        state.restore(saved)
        f.names = dict(before)
        attempt.marked |= rewritten
        attempt.assumed = [p for p in attempt.assumed if p not in attempt.refuted]
        attempt.read()
    f.names = before
    attempt.finish()


def _read(tree: ast.AST) -> set[str]:
    """The names that a function reads anywhere: no iteration leaves another one a name such as `_` that nobody does."""
    names = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    changed = (n.target for n in ast.walk(tree) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name))
    return {n.id for n in (*names, *changed)}


def _carriable(v: Any) -> bool:
    return all(isinstance(x, Value) or is_literal(x) for x in leaves(v))


def _asked_inside(s: ast.While) -> ast.While:
    """`while True: if not test: break; …`, for a test that changes memory."""
    stop = ast.If(ast.UnaryOp(ast.Not(), s.test), [ast.Break()], [])
    made = ast.While(ast.Constant(True), [stop, *s.body], [])
    for n in (made.test, stop, stop.test, stop.body[0], made):
        ast.copy_location(n, s.test)
    return made


def _not_carried(name: str, v: Any) -> Missing:
    """The meaning of a name in a loop that assigns it, where it held something else than numbers before."""
    if isinstance(v, Missing):
        return v
    found = f"{describe(v)} before the loop, and a loop carries scalars and tensors alone"
    return Missing("E207", {"name": name, "found": found, "fix": "use another name inside of the loop"})


_BEFORE = "give it a value before the loop, which may have no iteration"


@dataclass
class _Head:
    """What stands in front of a loop's body."""

    f: Frame
    s: ast.For | ast.While
    over: Domain | Enumerated | None
    point: LoopVar | None

    @property
    def members(self) -> tuple[LoopVar, ...]:
        return () if self.point is None else (self.point,)

    def acts(self) -> bool:
        """Whether asking the condition has effects."""
        if isinstance(self.s, ast.For):
            return False
        state = capture()
        with state.rehearsal():
            try:
                evaluate(self.f, self.s.test)
            except (IntentError, Poisoned):
                return False  # said when the loop is read
            return bool(state.effects)

    def ask(self) -> Any:
        """The condition under which the next iteration happens: known, or a bool scalar."""
        if isinstance(self.s, ast.For):
            return True
        state = capture()
        with state.at(self.f.source, self.s.test):
            asked = evaluate(self.f, self.s.test)
            if not isinstance(asked, Value) or isinstance(asked, Const):
                return truth(asked)
            if is_tensor(asked) or element(asked.type) is not bool_:
                found, fix = describe(asked), "compare it, or reduce it with I.reduce.any or I.reduce.all"
                if is_tensor(asked) and not shape_of(asked):
                    fix = "take its element: condition[()]"
                raise fail("E202", operation="while", dtype=found, expected="a bool scalar", found=found, fix=fix)
            return asked

    def bind(self) -> None:
        """Give the target of a `for` its member."""
        from . import statements

        if isinstance(self.s, ast.For):
            assert self.point is not None
            both = isinstance(self.over, Enumerated)
            statements.assign(self.f, self.s.target, (ordinal(self.point), self.point) if both else self.point)


# ---- one reading -----------------------------------------------------------------------------------------------------


@dataclass
class _Attempt:
    """One reading of a loop's body, under a guess of what its states are, what is known of them, and which views the
    body rewrites."""

    head: _Head
    name: str
    inits: dict[str, Any]
    blocked: list[str]
    changed: list[str]
    dtypes: dict[str, list[DType]]
    collect: bool
    marked: frozenset[Memory] = frozenset()
    assumed: list[tuple[State, bool, Value]] = field(default_factory=list)  # a state is at least, or at most, a value
    refuted: list[tuple[State, bool, Value]] = field(default_factory=list)

    def candidates(self) -> list[tuple[State, bool, Value]]:
        """Bounds that an index may keep from iteration to iteration: where it starts, and 0."""
        found: list[tuple[State, bool, Value]] = []
        for n, v in states_of(self.name, self.inits, self.dtypes).items():
            for s, x in zip(leaves(v), leaves(self.inits[n]), strict=True):
                if s.type is index:
                    start = value(x, index)
                    found += [(s, True, start), (s, False, start)]
                    if start is not const(0) and bounds.nonnegative(start, known()):
                        found.append((s, True, const(0)))
        return found

    def read(self) -> None:
        """Read the body once."""
        from . import statements

        state, f = capture(), self.head.f
        self.states = states_of(self.name, self.inits, self.dtypes)
        f.names = exits.iteration({**f.names, **self.states})
        self.outside = {n: f.names[n] for n in self.blocked}
        f.names |= {n: _not_carried(n, v) for n, v in self.outside.items()}
        for view in self.marked:
            state.written[view] = Start(self.name)
        facts = [_stated(s, least, bound) for s, least, bound in self.assumed]
        with state.block(*facts, members=self.head.members, repeated=True):
            self.asked = self.head.ask()
        facts += [self.asked] if isinstance(self.asked, Value) else []
        with state.block(*facts, members=self.head.members, repeated=True) as effects:
            self.head.bind()
            statements.execute(f, self.head.s.body, self.collect)
            self.yields = {n: f.names[n] for n in self.inits}
            self.behind = {n: self._behind(n, v, f.names[n]) for n, v in self.outside.items()}
            self.refuted = [p for p in self.assumed if not self._kept(*p)]
        self.effects = tuple(effects)
        self.left = {flag: f.names[flag] for flag in (exits.BREAK, exits.RETURN)}
        self.result = f.names.get(exits.RESULT, exits.NOTHING)

    def _behind(self, name: str, before: Any, after: Any) -> Any:
        """What a name that is no carry means behind the loop."""
        return after if after is before or after is POISON else _not_carried(name, before)

    def _kept(self, s: State, least: bool, bound: Value) -> bool:
        """Whether an iteration keeps this bound of a state."""
        for n, v in self.states.items():
            if s in leaves(v) and alike(v, self.yields[n]):
                y = list(leaves(self.yields[n]))[list(leaves(v)).index(s)]
                if isinstance(y, Value) and y.type is not index or not isinstance(y, Value | int):
                    return False
                end = value(y, index)
                return bounds.at_most(bound, end, known()) if least else bounds.at_most(end, bound, known())
        return True

    def _inside(self) -> list[Term]:
        carried = [x for v in self.yields.values() for x in leaves(v) if isinstance(x, Value)]
        other = [x for x in (self.asked, *self.left.values(), *leaves(self.result)) if isinstance(x, Value)]
        return performed(*self.effects, *carried, *other)

    def rewritten(self, earlier: dict[Memory, Effect | None]) -> frozenset[Memory]:
        """The views and buffers that the body writes and also reads as an earlier iteration left them."""
        touched = {written(t) for t in self._inside()}
        return frozenset(
            t.view
            for t in self._inside()
            if isinstance(t, Read) and t.view in touched and t.after is earlier.get(t.view)
        )

    # ---- the loop that it makes

    def finish(self) -> None:
        """Make the loop and bind the names behind it."""
        if self.asked is False:
            return
        f = self.head.f
        used = {t for t in self._inside() if isinstance(t, State)}
        kept: list[_Carry] = []
        lost: dict[str, Any] = {}
        for n, v in self.inits.items():
            states = list(leaves(self.states[n]))
            try:
                with capture().at(f.source, self._assignment(n)):
                    kept += self._carry(n, v, states, self.yields[n])
            except IntentError as problem:
                if any(x in used for x in states):
                    raise
                lost[n] = Missing("E207", {"name": n, "found": problem.found})
        flags = self._flags(len(used) + sum(len(list(leaves(v))) for v in self.states.values()))
        after = self._loop(kept, flags)
        f.names |= {n: Missing("E112", {"name": n, "fix": _BEFORE}) for n in self.changed if n not in self.inits}
        f.names |= self.behind | lost | after

    def _assignment(self, name: str) -> ast.AST:
        """Where the loop assigns a name for the last time."""
        s = self.head.s
        stores = [n for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
        return max(stores, key=lambda n: (n.lineno, n.col_offset))

    def _carry(self, name: str, init: Any, states: list[State], result: Any) -> list[_Carry]:
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
            made.append(_Carry(name, state, start, end))
        return made

    def _flags(self, position: int) -> list[_Carry]:
        """The carries that say whether an earlier iteration left, and with what result."""
        made: list[_Carry] = []
        for flag, v in self.left.items():
            if v is not False and not isinstance(v, Missing):
                called = {exits.BREAK: "broken", exits.RETURN: "returned"}[flag]
                state = named(State(self.name, position + len(made), bool_, (), True), called)
                made.append(_Carry(flag, state, const(False, bool_), value(v, bool_)))
        if isinstance(self.result, Missing):
            raise fail(self.result.code, **self.result.fields)
        returned = next((c.end for c in made if c.name == exits.RETURN), None)
        if returned is not None and self.result is not exits.NOTHING and self.result is not None:
            for x in map(value, leaves(self.result)):
                if any(t is self.head.point or isinstance(t, State) for e in shape_of(x) for t in find(e, _MEMBERS)):
                    with capture().at(self.head.f.source, exits.returns(self.head.s.body)[0]):
                        found = f"{show(x)}, whose extent varies with the iteration"
                        raise fail("E207", name=exits.RESULT, found=found)
                state = state_of(self.name, position + len(made), element(x.type), x, "result")
                made.append(_Carry(exits.RESULT, state, blank(x), select(returned, x, state)))
        return made

    def _progresses(self, kept: list[_Carry]) -> bool:
        """Whether an iteration may change the condition of a `while`."""
        changed = {c.state for c in kept if c.end is not c.state}
        touched = {written(t) for t in performed(*self.effects)}
        asked = list(find(self.asked, (State, Read)))
        return any(t in changed or isinstance(t, Read) and t.view in touched for t in asked)

    def _loop(self, kept: list[_Carry], flags: list[_Carry]) -> dict[str, Any]:
        """Emit the loop over its carries; what their names mean behind it."""
        gone = tuple(c.state for c in flags if c.name in exits.FLAGS)
        condition = self.asked if isinstance(self.asked, Value) else None
        if gone:
            any_gone = logic("or", gone, "or")
            condition = negated(any_gone) if condition is None else select(any_gone, const(False, bool_), condition)
        if condition is None and self.head.point is None:
            raise fail("E123")
        if self.head.point is None and not gone and not self._progresses(kept):
            raise fail("E123", found="a condition that no iteration changes")
        carries = [*kept, *flags]
        if not carries and not self.effects and self.head.point is not None:
            return {}
        columns = zip(*((c.state, c.start, c.end) for c in carries), strict=True) if carries else ((), (), ())
        states, starts, ends = map(tuple, columns)
        made = Ordered(self.name, states, starts, ends, self.effects, self.head.point, condition)
        state = capture()
        state.emit(made)
        results: dict[str, list[Value]] = {}
        ends_of: dict[State, Value] = {}
        for i, c in enumerate(carries):
            result = ends_of[c.state] = named(After(made, i), arena_name(c))
            results.setdefault(c.name, []).append(result)
        facts = [_stated(ends_of[s], least, bound) for s, least, bound in self.assumed if s in ends_of]
        state.facts = (*state.facts, *facts)
        after: dict[str, Any] = {n: refilled(self.inits[n], results[n]) for n in results if n in self.inits}
        for flag in results.keys() & {exits.RETURN}:
            endless = self.head.point is None and not isinstance(self.asked, Value) and exits.BREAK not in results
            after[flag] = True if endless else results[flag][0]
            after[exits.RESULT] = refilled(self.result, results.get(exits.RESULT, leaves(self.result)))
        return after


_MEMBERS = (LoopVar, State)


@dataclass(frozen=True)
class _Carry:
    """A part of a carried name: its state, where that starts, and what an iteration makes of it."""

    name: str
    state: State
    start: Value
    end: Value


def arena_name(c: _Carry) -> str:
    """The name of a carry behind its loop."""
    return {exits.BREAK: "broken", exits.RETURN: "returned", exits.RESULT: "result"}.get(c.name, c.name)


def _stated(v: Value, least: bool, bound: Value) -> Value:
    return le(bound, v) if least else le(v, bound)
