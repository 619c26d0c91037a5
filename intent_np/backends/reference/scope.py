"""Where logical values are evaluated: batches of points, the names bound there, and which lanes are in hand.

The points of `parallel` loops are batch dimensions in front of every array, one a loop variable.  A value is evaluated
in the outermost scope that binds all it depends on, so that what does not vary is computed once, with batch dimensions
of extent 1 for what it does not depend on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...numerics import Array
from ...terms.core import Term, children
from ...terms.logical import (
    After,
    Call,
    Formal,
    Function,
    LoopVar,
    Old,
    Ordered,
    Parallel,
    Perform,
    Read,
    Returned,
    Start,
    State,
    Succeeded,
    given,
    opened,
    performed,
)
from ...terms.normal import Arg, Combine, Effect, View

Result = Any  # an array, or a tuple of them


class Scope:
    """Values known under some bindings.  A guard binds nothing, but keeps to itself what it evaluates: its inactive
    lanes hold anything."""

    __slots__ = ("active", "before", "bound", "depth", "guard", "known", "parent", "sizes")

    def __init__(
        self,
        parent: Scope | None = None,
        bound: Iterable[Any] = (),
        sizes: tuple[int, ...] = (),
        active: Array | None = None,
        guard: bool = False,
    ) -> None:
        self.parent, self.bound, self.guard = parent, frozenset(bound), guard
        self.sizes: tuple[int, ...] = (*(parent.sizes if parent else ()), *sizes)
        self.depth = len(self.sizes)
        inherited: Array | None = parent.active if parent else None
        self.active: Array | None = (
            active if active is not None or inherited is None else lift(inherited, inherited.ndim, self.depth)
        )
        self.known: dict[Term, Result] = {}
        self.before: frozenset[Any] = frozenset()  # of a guard: the effects that had been performed when it began

    def guarded(self, condition: Array, before: frozenset[Any] = frozenset()) -> Scope:
        """The lanes of this scope where `condition` holds, once the effects `before` have been performed."""
        active = condition if self.active is None else self.active & condition
        made = Scope(self, active=active, guard=True)
        made.before = before
        return made

    def bind(self, name: Term, value: Result) -> None:
        self.known[name] = value

    def keep(self, name: Term, value: Result) -> None:
        """Bind here and, through guards, in the scope that they narrow: a merge behind a branch asks there."""
        scope = self
        scope.known[name] = value
        while scope.guard and scope.parent is not None:
            scope = scope.parent
            scope.known[name] = value

    def keep_read(self, r: Read, value: Result) -> None:
        """The same for a read that stands under these guards: what is read before them is the same for all lanes."""
        scope = self
        scope.known[r] = value
        while scope.guard and scope.parent is not None and r.after is not None and r.after not in scope.before:
            scope = scope.parent
            scope.known[r] = value

    def binds(self, names: frozenset[Any]) -> bool:
        """Whether every one of `names` is bound here or outside."""
        scope: Scope | None = self
        while scope is not None and names:
            names -= scope.bound
            scope = scope.parent
        return not names


def lift(value: Result, depth: int, to: int) -> Result:
    """A value with more batch dimensions, of extent 1, behind its own `depth`."""
    if isinstance(value, tuple):
        return tuple(lift(v, depth, to) for v in value)
    return value if depth == to else value.reshape(value.shape[:depth] + (1,) * (to - depth) + value.shape[depth:])


class Dependence:
    """What each term depends on: loop variables, states, formals, arguments of combines, and the effects that its reads
    name."""

    def __init__(self) -> None:
        self.known: dict[Term, frozenset[Any]] = {}

    def of(self, t: Any) -> frozenset[Any]:
        found = self.known.get(t)
        if found is None:
            found = self.known[t] = self._of(t)
        return found

    def _of(self, t: Any) -> frozenset[Any]:
        if isinstance(t, LoopVar | State | Formal | Arg):
            return frozenset((t,))
        if isinstance(t, Function | Combine | View):
            return frozenset()
        if isinstance(t, Read):
            parts = self._union(c for c in children(t) if c is not t.after)
            return parts | ({t.after} if t.after is not None else set())
        if isinstance(t, Old | Succeeded):
            return frozenset((t.access,))
        if isinstance(t, Call | Returned):
            return self.of(given(t))
        if isinstance(t, Perform):
            return self._union(opened(t).body)
        if isinstance(t, After):
            return self.of(t.loop) | ({t.loop} if t.loop.body else set())
        if isinstance(t, Ordered):
            inside = self._union((*t.body, *t.yields, *_maybe(t.condition))) - bound_by(t)
            return inside | self._union((*t.inits, *(() if t.point is None else (t.point.domain,))))
        return self._union(children(t)) - bound_by(t)

    def _union(self, terms: Iterable[Any]) -> frozenset[Any]:
        return frozenset().union(*(self.of(t) for t in terms))


def bound_by(t: Any) -> frozenset[Any]:
    """What the body of a loop binds: its variables, and the effects that reads inside may name."""
    if isinstance(t, Parallel):
        return frozenset((*t.points, *(e for e in performed(*t.body) if isinstance(e, Effect))))
    if isinstance(t, Ordered):
        inside = (e for e in performed(*t.body) if isinstance(e, Effect))
        return frozenset((*_maybe(t.point), *t.states, Start(t.name), *inside))
    return frozenset()


def _maybe(t: Term | None) -> tuple[Term, ...]:
    return () if t is None else (t,)
