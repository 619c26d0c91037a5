"""Calls of helpers with effects, once a kernel is read.

While it is read, a call is a frame: a `Perform` of the helper's statements as they stand there, over the caller's own
values, so that proofs and errors are about what really happens.  Behind it, the caller's values name the statements
inside.  Here frames become procedures over what they are called with:

    perform store_row()         store_row = procedure (target, row, v):
      write y[row_of_y] = x       write target[row] = v
                                perform store_row(y, row_of_y, x)

The arguments that the author wrote become formals under the author's names, and so does all else that varies where the
call stands.  What is used outside of a frame and was left by a statement inside becomes a result of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from intent_np.terms.core import arena, children, inherit, replace
from intent_np.terms.logical import (
    After,
    Allocate,
    Branch,
    Buffer,
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
    performed,
    shape_of,
    written,
)
from intent_np.terms.normal import Effect, Memory

Given = Mapping[Perform, dict[Any, str]]  # what the author called each frame with, by the names of the parameters


def outlined(body: tuple[Effect, ...], given: Given) -> tuple[Effect, ...]:
    """Statements with procedures in the place of frames.

    Where a frame is no procedure over the author's arguments, since they have extents in common that their own types do
    not show, it is one over what these are made of; where that fails too, it is no call.
    """
    leaves, opened = set[Perform](), set[Perform]()
    while True:
        try:
            return _Outliner(body, {c: {} if c in leaves else names for c, names in given.items()}, opened).body()
        except _NoProcedure as found:
            (opened if found.call in leaves else leaves).add(found.call)


class _NoProcedure(Exception):
    def __init__(self, call: Perform) -> None:
        super().__init__(call)
        self.call = call


class _Frame:
    """The statements of one call, or of the kernel: what they bind, use from outside, and give."""

    def __init__(self, call: Perform | None, parent: _Frame | None, names: dict[Any, str]) -> None:
        self.call, self.parent, self.names = call, parent, names
        self.bound: set[Any] = set()  # members, states and buffers
        self.last: dict[Memory, Effect] = {}  # the last statement that writes each memory
        self.needs: dict[Any, None] = {}
        self.results: dict[Any, int] = {}
        self.seen: set[Any] = set()
        self.done: dict[Any, Any] = {}

    def formals(self) -> list[Any]:
        """What it is called with: the author's arguments in their order, then the rest."""
        return [t for t in self.names if t in self.needs] + [t for t in self.needs if t not in self.names]


class _Outliner:
    def __init__(self, body: tuple[Effect, ...], given: Given, opened: set[Perform]) -> None:
        self.statements, self.given, self.opened = body, given, opened
        self.home: dict[Any, _Frame] = {}  # of each statement, loop start and buffer
        self.order: dict[Any, int] = {}
        self.frames: dict[Perform, _Frame] = {}
        self.made: dict[Any, frozenset[Effect]] = {}
        self.root = _Frame(None, None, {})
        self._scan(self.root, body)

    def body(self) -> tuple[Effect, ...]:
        if not self.frames and not self.opened:
            return self.statements
        self._reach()
        self._convert(self.root, self.statements)
        return self._spliced(self.statements, self.root.done)

    # ---- where things stand

    def _scan(self, frame: _Frame, effects: Iterable[Effect]) -> None:
        for e in effects:
            self.home[e] = frame
            self.order[e] = len(self.order)
            match e:
                case Perform(procedure) if e in self.opened:
                    self._scan(frame, procedure.body)
                case Perform(procedure):
                    inner = self.frames[e] = _Frame(e, frame, self.given.get(e, {}))
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
        if isinstance(t, LoopVar | State | Memory):
            return t not in frame.bound
        if isinstance(t, Effect):
            return self._place(frame, t) is None
        return isinstance(t, Outcome) and self._place(frame, _performer(t)) is None

    def _left(self, frame: _Frame, t: Any) -> _Frame | None:
        """The call inside of `frame` of which a value is a result."""
        if isinstance(t, Outcome):
            inner = self._place(frame, _performer(t))
            return inner if inner is not frame else None
        if not isinstance(t, Read):
            return None
        after = None if t.after is None else self._place(frame, t.after)
        if after not in (None, frame) and (after.last.get(t.view) is not t.after or t.view in after.bound):  # type: ignore[union-attr]
            return after
        for e in self._outcomes(t) if after in (None, frame) else ():
            inner = self._place(frame, e)
            if inner not in (None, frame) and t.view in inner.last:  # type: ignore[union-attr]
                # it stands in the call, before that writes, or the statement that it stands behind came later
                if t.after is None or self.order[t.after] < self.order[inner.call]:  # type: ignore[union-attr]
                    return inner
        return None

    def _parts(self, frame: _Frame, t: Any) -> list[Any]:
        """What a term is made of in its frame."""
        if self._needed(frame, t):
            return list(t.shape if isinstance(t, Memory) else () if isinstance(t, Effect) else shape_of(t))
        if inner := self._left(frame, t):
            return [inner.call]
        if t in self.frames:
            return list(self.frames[t].needs)
        if isinstance(t, Effect) and (inner := self._place(frame, t)) not in (None, frame):
            return [inner.call]  # type: ignore[union-attr]
        if isinstance(t, Buffer) and self._place(frame, t) not in (None, frame):
            raise _NoProcedure(self._place(frame, t).call)  # type: ignore[union-attr, arg-type]
        return list(children(t))

    # ---- what is called with what

    def _reach(self) -> None:
        """Find out what each frame needs from outside and which of its values are used there."""
        stack: list[tuple[_Frame, Any]] = [(self.root, e) for e in reversed(self.statements)]
        while stack:
            frame, t = stack.pop()
            if t in frame.seen:
                continue
            frame.seen.add(t)
            parts = [(frame, p) for p in self._parts(frame, t)]
            if self._needed(frame, t):
                frame.needs[t] = None
                assert frame.parent is not None
                parts.append((frame.parent, t))
            elif inner := self._left(frame, t):
                inner.results.setdefault(t, len(inner.results))
                parts.append((inner, t))
            elif t in self.frames:
                parts = [(self.frames[t], e) for e in t.procedure.body]
            stack.extend(reversed(parts))

    # ---- the same terms over formals

    def _convert(self, frame: _Frame, roots: Iterable[Any]) -> None:
        stack = list(reversed(tuple(roots)))
        while stack:
            t = stack[-1]
            waiting = [] if t in frame.done else [p for p in self._parts(frame, t) if p not in frame.done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if t not in frame.done:
                try:
                    new = self._over(frame, t)
                except TypeError:
                    if frame.call is None:
                        raise
                    raise _NoProcedure(frame.call) from None
                frame.done[t] = new if new is t else inherit(t, new)

    def _over(self, frame: _Frame, t: Any) -> Any:
        if self._needed(frame, t):
            return self._formal(frame, t)
        if inner := self._left(frame, t):
            return Returned(frame.done[inner.call], inner.results[t])
        if t in self.frames:
            return self._call(self.frames[t], frame)
        if isinstance(t, Effect) and (inner := self._place(frame, t)) not in (None, frame):
            return frame.done[inner.call]  # type: ignore[union-attr]
        new = t.rebuild(frame.done)
        blocks = [n for n in ("body", "then", "otherwise") if hasattr(t, n)] if self.opened else []
        return replace(new, **{n: self._spliced(getattr(t, n), frame.done) for n in blocks}) if blocks else new

    def _spliced(self, effects: tuple[Effect, ...], done: dict[Any, Any]) -> tuple[Effect, ...]:
        return tuple(x for e in effects for x in (done[e].procedure.body if e in self.opened else (done[e],)))

    def _formal(self, frame: _Frame, t: Any) -> Any:
        position = frame.formals().index(t)
        if isinstance(t, Effect):
            return PassedEffect(position)
        name = str(frame.names.get(t) or arena().names.get(t) or getattr(t, "name", "value"))
        if isinstance(t, Memory):
            return PassedView(name, position, t.mode, t.dtype, tuple(frame.done[e] for e in t.shape))
        tensor = isinstance(t.type, TensorType)
        extents = tuple(frame.done[e] for e in shape_of(t))
        return Passed(name, position, element(t.type), extents, not tensor)

    def _call(self, inner: _Frame, frame: _Frame) -> Perform:
        call = inner.call
        assert call is not None
        formals = inner.formals()
        self._convert(inner, [*formals, *call.procedure.body, *inner.results])
        done = inner.done
        body = self._spliced(call.procedure.body, done)
        made = Procedure(
            call.procedure.name, tuple(done[t] for t in formals), body, tuple(done[t] for t in inner.results)
        )
        return Perform(inherit(call.procedure, made), tuple(frame.done[t] for t in formals))


def _performer(t: Any) -> Any:
    """The statement that leaves an outcome."""
    return t.loop if isinstance(t, After) else t.access if isinstance(t, Old) or hasattr(t, "access") else t.call
