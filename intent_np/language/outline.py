"""Calls of helpers, once a kernel is read.

While it is read, a call is what the helper says over the caller's own values, so that proofs and errors are about what
really happens; its statements are a frame, a `Perform` of what stands there.  Then values of the caller name what is
inside.  Here all calls become procedures over what they are called with:

    perform store_row()         store_row = procedure (target, row, v)
      write y[row_of_y] = x       write target[row] = v
    … x * 2 …                   perform store_row(y, row_of_y, x)
                                twice = procedure (v) gives v * 2
                                … call twice(x) …

The arguments that the author wrote become formals under the author's names, and so does all else that varies where the
call stands.  What is used outside of a frame and was left by a statement inside becomes a result of the call.  Extents
and bounds of domains are written out, without calls: types are compared by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from intent_np.terms.core import arena, children, inherit, named, walk
from intent_np.terms.index import Apply, Value, apply
from intent_np.terms.logical import (
    After,
    Allocate,
    Branch,
    Call,
    Formal,
    Function,
    LoopVar,
    Old,
    Ordered,
    Outcome,
    Parallel,
    Passed,
    PassedEffect,
    PassedView,
    Perform,
    Procedure,
    Read,
    Returned,
    Start,
    State,
    TensorType,
    element,
    formed,
    performed,
    shape_of,
    written,
)
from intent_np.terms.normal import Arg, Combine, Effect, Memory

from .context import Called
from .shaping import Done, Node, below, extents, rebuilt


def outlined(body: tuple[Effect, ...], kernel: Called, frames: Mapping[Perform, Called]) -> tuple[Effect, ...]:
    """Statements with calls of procedures in the place of what was read there.

    Where a call is none over the author's arguments, since they have extents in common that their own types do not
    show, it is one over what these are made of.  A value that a call gives, and is given a part of, was there before.
    """
    leaves, before = set[Called](), set[tuple[Called, Value]]()
    while True:
        try:
            return _Outliner(body, kernel, frames, leaves, before).body()
        except _Circular as found:
            before.add((found.called, found.value))
        except _NoProcedure as found:
            if found.called in leaves:
                raise
            leaves.add(found.called)


class _NoProcedure(Exception):
    def __init__(self, called: Called) -> None:
        super().__init__(called.name)
        self.called = called


class _Circular(Exception):
    def __init__(self, called: Called, value: Value) -> None:
        super().__init__(called.name)
        self.called, self.value = called, value


class _Frame:
    """What one call, or the kernel, is made of: what it binds, uses from outside, and gives."""

    def __init__(self, called: Called, parent: _Frame | None, names: dict[Any, str]) -> None:
        self.called, self.parent, self.names = called, parent, names
        self.bound: set[Any] = set()  # members, states and buffers
        self.last: dict[Memory, Effect] = {}  # the last statement that writes each memory
        self.needs: dict[Any, bool] = {}  # and whether it shapes something
        self.results: dict[Any, int] = {}
        self.calls: dict[Called, _Frame] = {}  # that have no statements
        self.functions: dict[Function, _Frame] = {}  # of slices, which have no formals but their own
        self.closed = False  # whether it is such a function
        self.seen: set[Node] = set()
        self.begun: set[Node] = set()
        self.done: Done = {}, {}  # terms over formals

    def formals(self) -> list[Any]:
        """What it is called with: the author's arguments in their order, then the rest."""
        return [t for t in self.names if t in self.needs] + [t for t in self.needs if t not in self.names]


class _Outliner:
    def __init__(
        self,
        body: tuple[Effect, ...],
        kernel: Called,
        frames: Mapping[Perform, Called],
        leaves: set[Called],
        before: set[tuple[Called, Value]],
    ) -> None:
        self.statements, self.read, self.leaves, self.before = body, frames, leaves, before
        self.home: dict[Any, _Frame] = {}  # of each statement, loop start and buffer
        self.order: dict[Any, int] = {}
        self.frames: dict[Perform, _Frame] = {}
        self.made: dict[Any, frozenset[Effect]] = {}
        self.root = _Frame(kernel, None, {})
        self._scan(self.root, body)

    def body(self) -> tuple[Effect, ...]:
        nodes: list[Node] = [(e, False) for e in self.statements]
        self._reach(self.root, nodes)
        self._convert(self.root, nodes)
        return tuple(self.root.done[False][e] for e in self.statements)

    def _frame(self, called: Called, parent: _Frame) -> _Frame:
        return _Frame(called, parent, {} if called in self.leaves else called.given)

    def _function(self, t: Function, frame: _Frame) -> _Frame:
        """What a function of slices is made of.  Its values are over its own formals; extents may be of what `frame` is
        over."""
        read = next((c for r in t.results if (c := frame.called.inside.get(r))), Called(t.name, {}))
        made = _Frame(read, frame, frame.names)
        made.bound, made.closed = set(t.formals), True
        return made

    # ---- where things stand

    def _scan(self, frame: _Frame, effects: Iterable[Effect]) -> None:
        for e in effects:
            self.home[e] = frame
            self.order[e] = len(self.order)
            match e:
                case Perform(procedure):
                    inner = self.frames[e] = self._frame(self.read[e], frame)
                    self._scan(inner, procedure.body)
                    inside = (w for s in procedure.body for w in performed(s))
                    inner.last = {view: w for w in inside if (view := written(w)) is not None}  # type: ignore[misc]
                case Branch(_, then, otherwise):
                    self._scan(frame, (*then, *otherwise))
                case Parallel(points, inside):
                    frame.bound.update(points)
                    self._scan(frame, inside)
                case Ordered():
                    frame.bound.update((*e.states, e.point))
                    self.home[Start(e.name)], self.order[Start(e.name)] = frame, self.order[e]
                    self._scan(frame, e.body)
                case Allocate(buffer):
                    frame.bound.add(buffer)
                    self.home[buffer] = frame

    def _place(self, frame: _Frame, t: Any) -> _Frame | None:
        """The frame itself where a statement or buffer is its own, the frame inside of it that has it, or None."""
        found: _Frame | None = self.home.get(t)
        if found is frame:
            return frame
        while found is not None and found.parent is not frame:
            found = found.parent
        return found

    def _outcomes(self, t: Any) -> frozenset[Effect]:
        """The statements whose outcomes a value is made of."""
        stack = [t]
        while stack:
            u = stack[-1]
            below = [c for c in children(u) if not (isinstance(u, Read) and c is u.after)]
            if isinstance(u, Outcome):
                self.made[u] = frozenset((_performer(u),))
            elif waiting := [c for c in below if c not in self.made]:
                stack.extend(waiting)
                continue
            elif u not in self.made:
                self.made[u] = frozenset().union(*(self.made[c] for c in below))
            stack.pop()
        return self.made[t]

    def _needed(self, frame: _Frame, t: Any) -> bool:
        """Whether a term is what the frame is called with."""
        if frame.parent is None:
            return False
        if t in frame.names:
            return True
        if isinstance(t, LoopVar | State | Memory | Formal | Arg):
            return t not in frame.bound
        if isinstance(t, Effect):
            return self._place(frame, t) is None
        if isinstance(t, Outcome):
            return self._place(frame, _performer(t)) is None
        return isinstance(t, Read) and self._beside(frame, t)

    def _beside(self, frame: _Frame, t: Read) -> bool:
        """Whether a value was read in another call, which gives it."""
        inner, outer = frame, frame.parent
        while outer is not None:
            if self._left(outer, t) not in (None, inner):
                return True
            inner, outer = outer, outer.parent
        return False

    def _giver(self, frame: _Frame, t: Any, shaped: bool) -> Called | None:
        """The call inside of `frame` that gave a value."""
        found = None if shaped else frame.called.inside.get(t)
        return None if (found, t) in self.before else found

    def _left(self, frame: _Frame, t: Any, shaped: bool = True) -> _Frame | None:
        """The call inside of `frame` that performs statements, and of which a value is a result."""
        if isinstance(t, Outcome):
            inner = self._place(frame, _performer(t))
            return inner if inner is not frame else None
        called = self._giver(frame, t, shaped)
        if called is not None and (inner := self.frames.get(called.frame)):  # type: ignore[arg-type]
            if t in called.own or any(self._left(frame, u) is inner for u in walk(t) if isinstance(u, Outcome | Read)):
                return inner
        if not isinstance(t, Read):
            return None
        after = None if t.after is None else self._place(frame, t.after)
        if after not in (None, frame) and (after.last.get(t.view) is not t.after or t.view in after.bound):  # type: ignore[union-attr]
            return after
        for e in self._outcomes(t) if after in (None, frame) else ():
            inner = self._place(frame, e)
            if inner not in (None, frame) and t.view in inner.last:  # type: ignore[union-attr]
                # it stands in the call, before that writes, or the statement that it stands behind came later
                if t.after is None or self.order[t.after] < self.order[inner.called.frame]:  # type: ignore[union-attr]
                    return inner
        return None

    def _called(self, frame: _Frame, t: Any, shaped: bool) -> _Frame | None:
        """The call without statements of which a value is a result."""
        called = self._giver(frame, t, shaped)
        if called is None or called.frame is not None:
            return None
        return frame.calls.setdefault(called, self._frame(called, frame))

    def _caller(self, frame: _Frame, t: Any, shaped: bool) -> _Frame | None:
        """The call that a term becomes, or is a result of."""
        return self._left(frame, t, shaped) or self._called(frame, t, shaped) or self.frames.get(t)

    def _parts(self, frame: _Frame, t: Any, shaped: bool) -> list[Node]:
        """What a term is made of in its frame."""
        if self._needed(frame, t):
            return [
                (e, True) for e in (t.shape if isinstance(t, Memory) else () if isinstance(t, Effect) else shape_of(t))
            ]
        if inner := self._left(frame, t, shaped):
            return [(inner.called.frame, False)]
        if inner := self._called(frame, t, shaped) or self.frames.get(t) or frame.functions.get(t):
            return list(inner.needs.items())
        if isinstance(t, Effect) and (inner := self._place(frame, t)) not in (None, frame):
            return [(inner.called.frame, False)]  # type: ignore[union-attr]
        if isinstance(t, Apply) and not shaped:
            return [(a, False) for a in self._operands(frame, t)]
        return [] if isinstance(t, Combine) else below(t, shaped)

    def _operands(self, frame: _Frame, t: Apply) -> tuple[Value, ...]:
        """Those of an operator.  A conjunction or a disjunction is flat: a call that gives some of them stands for
        these."""
        found = t.args
        for v in frame.called.inside if t.op.arity < 0 else ():
            if isinstance(v, Apply) and v.op is t.op and v is not t and set(v.args) <= set(found):
                found = (*(a for a in found if a not in v.args), v)
        return found

    # ---- what is called with what

    def _reach(self, start: _Frame, roots: list[Node]) -> None:
        """Find out what each frame needs from outside and which of its values are used there."""
        stack: list[tuple[_Frame, Any, bool]] = [(start, *n) for n in reversed(roots)]
        while stack:
            frame, t, shaped = stack.pop()
            if (t, shaped) in frame.seen:
                continue
            frame.seen.add((t, shaped))
            parts = [(frame, *n) for n in self._parts(frame, t, shaped)]
            if self._needed(frame, t):
                frame.needs[t] = shaped = shaped or frame.needs.get(t, False)
                assert frame.parent is not None
                parts.append((frame.parent, t, shaped))
            elif inner := self._left(frame, t, shaped):
                inner.results.setdefault(t, len(inner.results))
                parts.append((inner, t, False))
            elif inner := self._called(frame, t, shaped):
                inner.results = {v: i for i, v in enumerate(inner.called.values)}
                parts = [(inner, v, False) for v in inner.results]
            elif isinstance(t, Function):
                inner = frame.functions[t] = self._function(t, frame)
                parts = [(inner, p, False) for p in (*t.formals, *t.results)]
            elif t in self.frames:
                parts = [(self.frames[t], e, False) for e in t.procedure.body]
            stack.extend(reversed(parts))

    # ---- the same terms over formals

    def _convert(self, frame: _Frame, roots: Iterable[Node]) -> None:
        stack = list(reversed(tuple(roots)))
        while stack:
            t, shaped = stack[-1]
            done = frame.done[shaped]
            waiting = [] if t in done else [(p, s) for p, s in self._parts(frame, t, shaped) if p not in frame.done[s]]
            if waiting:
                if (t, shaped) in frame.begun:  # what a call is given is made of what it gives
                    raise next(_Circular(c, v) for v, s in reversed(stack) if (c := self._giver(frame, v, s)))
                frame.begun.add((t, shaped))
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if t not in done:
                try:
                    new = self._over(frame, t, shaped)
                    new = formed(t, new) if shaped and isinstance(t, Value) else new
                except TypeError:
                    inner = (
                        self._left(frame, t, shaped) or self._called(frame, t, shaped) or self.frames.get(t) or frame
                    )
                    raise _NoProcedure(inner.called) from None
                done[t] = new if new is t else inherit(t, new)

    def _over(self, frame: _Frame, t: Any, shaped: bool) -> Any:
        if self._needed(frame, t):
            outer = frame.parent
            return outer.done[frame.needs[t]][t] if frame.closed and outer else self._formal(frame, t)
        if inner := self._left(frame, t, shaped):
            return Returned(frame.done[False][inner.called.frame], inner.results[t])
        if inner := self._called(frame, t, shaped):
            return Call(*self._procedure(inner, frame), inner.results[t])
        if t in self.frames:
            return Perform(*self._procedure(self.frames[t], frame))
        if isinstance(t, Effect) and (inner := self._place(frame, t)) not in (None, frame):
            return frame.done[False][inner.called.frame]  # type: ignore[union-attr]
        if isinstance(t, Function):
            inner = frame.functions[t]
            self._convert(inner, [(p, False) for p in (*t.formals, *t.results)])
            return t.rebuild(inner.done[False])  # type: ignore[attr-defined]
        if isinstance(t, Apply) and t.op.arity < 0:
            return apply(t.op, *(frame.done[shaped][a] for a, _ in self._parts(frame, t, shaped)))
        return t if isinstance(t, Combine) else rebuilt(t, shaped, frame.done)

    def _formal(self, frame: _Frame, t: Any) -> Any:
        position = frame.formals().index(t)
        if isinstance(t, Effect):
            return PassedEffect(position)
        name = str(frame.names.get(t) or arena().names.get(t) or getattr(t, "name", "value"))
        shape = tuple(frame.done[True][e] for e in extents(t))
        if isinstance(t, Memory):
            return PassedView(name, position, t.mode, t.dtype, shape)  # type: ignore[attr-defined]
        return Passed(name, position, element(t.type), shape, not isinstance(t.type, TensorType))

    def _procedure(self, inner: _Frame, frame: _Frame) -> tuple[Procedure, tuple[Any, ...]]:
        """A call as a procedure, and its arguments."""
        body = inner.called.frame.procedure.body if inner.called.frame else ()
        formals = [(t, inner.needs[t]) for t in inner.formals()]
        self._convert(inner, [*formals, *((t, False) for t in (*body, *inner.results))])
        over = tuple(inner.done[s][t] for t, s in formals)
        parts = (tuple(inner.done[False][t] for t in ts) for ts in (body, inner.results))
        made = named(Procedure(inner.called.name, over, *parts), inner.called.name)
        inherit(next(iter((*body, *inner.results))), made)
        return made, tuple(frame.done[s][t] for t, s in formals)


def _performer(t: Any) -> Any:
    """The statement that leaves an outcome."""
    return t.loop if isinstance(t, After) else t.access if isinstance(t, Old) or hasattr(t, "access") else t.call
