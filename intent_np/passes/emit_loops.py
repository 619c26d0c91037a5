"""Ordered loops as statements: their states are names that each iteration assigns again.

    recur turn i from 0 yielding carry(i, 0) + x[i]        total = 0
                                                           for i = 0 to N step 1 iter_args(total):
                                                             total = total + x[i]

One with a condition becomes a `while` over whether it goes on: that is computed in front of it, and at the end of its
body for the next iteration.

Used by `emit`.
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import simplify, substitute
from ..terms.core import inherit
from ..terms.dtypes import bool_, index
from ..terms.gpu import Broadcast, For, Let, Var, While, variable
from ..terms.index import Const, add, apply, const, lt
from ..terms.normal import Coord, Recur
from .emit_effects import Effects
from .scopes import Scope


def _never(e: Recur) -> bool:
    """Whether the condition of a loop is known not to hold in front of it: Triton ends on dead loops."""
    if e.condition is None:
        return False
    first = {} if e.turn.axis is None else {Coord(e.turn): e.turn.axis.lo}
    asked = simplify(substitute(e.condition, {**first, **dict(zip(e.states, e.inits, strict=True))}))
    return isinstance(asked, Const) and not asked.value


class OrderedLoops(Effects):
    """Emits the loops of the author's among the effects."""

    def recur(self, e: Recur) -> None:
        """Perform an ordered loop, and note what its states are called behind it."""
        lo, hi = (None, None) if e.turn.axis is None else (self.emit(e.turn.axis.lo), self.emit(e.turn.axis.hi))
        states = [self._started(s, x) for s, x in zip(e.states, e.inits, strict=True)]
        if not (_never(e) or isinstance(lo, Const) and isinstance(hi, Const) and hi.value <= lo.value):
            loop = self._for(e, states, lo, hi) if e.condition is None else self._while(e, states, lo, hi)
            self.scope.body.append(inherit(e, loop))
        self.scope.done |= {e.final(i): state for i, state in enumerate(states)}

    def _started(self, state: Any, init: Any) -> Var:
        """The name of a state, which holds what it starts as."""
        value = self.emit(init)
        var = variable(self.fresh(self.names.get(state, "state")), state.dtype, self._sizes(state))
        self.scope.body.append(Let(var, value if value.lanes == var.lanes else Broadcast(value, var.varies)))
        return var

    def _sizes(self, state: Any) -> frozenset[Any]:
        return frozenset(a.size for a in state.varies)

    def _for(self, e: Recur, states: list[Var], lo: Any, hi: Any) -> For:
        member = Var(self.fresh(self.names.get(e.turn, "i")), index)
        return For(member, lo, hi, const(1), tuple(states), self._body(e, states, member, None))

    def _while(self, e: Recur, states: list[Var], lo: Any, hi: Any) -> While:
        carried, member = list(states), None
        if lo is not None:
            member = Var(self.fresh(self.names.get(e.turn, "i")), index)
            self.scope.body.append(Let(member, lo))
            carried.append(member)
        goes = Var(self.fresh("goes"), bool_)
        carried.append(goes)
        self._asked(e, states, member, hi, goes)
        return While(goes, tuple(carried), self._body(e, states, member, (hi, goes)))

    def _body(self, e: Recur, states: list[Var], member: Var | None, asked: Any) -> tuple[Any, ...]:
        """The statements of an iteration; with `asked`, whether there is a next one is computed last."""
        outer, scope = self.scope, self._opened(e, states, member, (*e.effects, *e.yields))
        self.effects(e.effects, e.yields)
        self.advance(e.yields, states)
        if asked is not None:
            hi, goes = asked
            if member is not None:
                scope.body.append(Let(member, add(member, const(1))))
            self._asked(e, states, member, hi, goes)
        outer.below |= scope.taken | scope.below
        self.open.pop()
        self.scope = outer
        return tuple(scope.body)

    def _asked(self, e: Recur, states: list[Var], member: Var | None, hi: Any, goes: Var) -> None:
        """Compute the condition of the states as they are now, by statements of the scope in hand."""
        around = self.scope
        scope = self._opened(e, states, member, (e.condition,))
        scope.body, scope.taken = around.body, around.taken
        value = simplify(self.emit(e.condition))
        value = value if member is None else apply("and", lt(member, hi), value)
        scope.body.append(Let(goes, value))
        around.below |= scope.below
        self.open.pop()
        self.scope = around

    def _opened(self, e: Recur, states: list[Var], member: Var | None, roots: tuple[Any, ...]) -> Scope:
        self.scope = Scope(self.scope, e.turn, member, roots)
        self.open.append(self.scope)
        self.scope.done |= dict(zip(e.states, states, strict=True))
        if member is not None:
            self.scope.taken.add(member.name)
            self.scope.done[Coord(e.turn)] = member
        return self.scope
