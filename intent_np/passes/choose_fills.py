"""blocked -> blocked: masks that a load's fill makes unnecessary disappear.

reduce max of select(c < N, (load x[c] valid (c < N) fill 0), -inf)
reduce max of (load x[c] valid (c < N) fill -inf)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..rules.simplify import binder, node, substitute_all
from ..terms.blocked import BLOCKED, BlockedProgram
from ..terms.core import Finding, children, find, inherit, once, replace, walk
from ..terms.dtypes import bool_
from ..terms.index import Apply, Const, apply, conjuncts, is_op
from ..terms.normal import Contract, Load, Reduce, Scan, holds
from ..terms.ordered import Rewritten
from .base import nanopass

FILLS = (0, float("-inf"), float("inf"))


@nanopass(BLOCKED, BLOCKED)
def choose_fills(program: BlockedProgram) -> BlockedProgram:
    """Give each masked load the fill under which most selects are provably neutral, and drop those.

    After blocking, which makes the masks, and before ranges are narrowed, which reads what is left of them.
    Preserves every value in valid lanes; only what padded lanes hold changes, and no result depends on it.
    """
    effects, neutral = _Effects(program), _Neutral()
    for t in [t for t in find(program, Load) if t.valid is not None]:
        if t.type.is_float:
            # the selects stay until every fill is chosen: a load may turn into one that comes later in the list, and
            # what was dropped for its first fill would be missing under the second
            effects.become(_filled(t, effects, neutral))
    return neutral.dropped(effects.program())  # type: ignore[no-any-return]


def _filled(t: Load, effects: _Effects, neutral: _Neutral) -> dict[int, Any]:
    """The effects that a load is in with the first fill under which the fewest selects are left around it."""
    best, least = {}, math.inf
    for filled in (replace(t, fill=f) for f in FILLS if holds(t.view.dtype, f)):
        tried = effects.filled(t, filled)
        left = _selects_around(neutral.dropped(filled), [neutral.dropped(e) for e in tried.values()])
        if left < least:
            best, least = tried, left
        if not left:
            break
    return best


class _Effects:
    """The effects of a program by position, and which of them each load is in: the others have nothing to do with
    its fill."""

    def __init__(self, program: BlockedProgram) -> None:
        self.whole = program
        self.now: list[Any] = [e for g in program.groups for e in g.effects]
        self.places: dict[Any, dict[int, None]] = {}
        self.loads = Finding(Load)
        self._place(range(len(self.now)))

    def _place(self, positions: Iterable[int]) -> None:
        for i in positions:
            for t in self.loads(self.now[i]):
                self.places.setdefault(t, {})[i] = None

    def filled(self, t: Load, filled: Load) -> dict[int, Any]:
        """The effects that the load is in, with another fill."""
        now = [self.now[i] for i in self.places[t]]
        new = now if filled is t else substitute_all(now, {t: filled}, everywhere=True)
        return dict(zip(self.places[t], new, strict=True))

    def become(self, effects: dict[int, Any]) -> None:
        changed = [i for i, e in effects.items() if e is not self.now[i]]
        for i in changed:
            self.now[i] = effects[i]
        self._place(changed)

    def program(self) -> BlockedProgram:
        rest = iter(self.now)
        groups = tuple(replace(g, effects=tuple(next(rest) for _ in g.effects)) for g in self.whole.groups)
        return self.whole if groups == self.whole.groups else replace(self.whole, groups=groups)  # type: ignore[no-any-return]


def _selects_around(t: Load, effects: list[Any]) -> int:
    """How many selects between values that have the load in them and constants there are."""
    return sum(t in _loads(u.args[1]) for u in _masks()(*effects))


@once
def _masks() -> Finding:
    """Selects between values of loads and constants."""
    return Finding(Apply, wanted=lambda u: u.op.name == "select" and isinstance(u.args[2], Const))


@once
def _loads(v: Any) -> frozenset[Load]:
    return frozenset(find(v, Load))


def _where_false(v: Any, q: Any) -> Any:
    """`v` in the lanes where `q` is false.  A reduction over an axis of `q` has all lanes, so it stays what it is."""
    bound = q.lanes | q.needs

    def inside(t: Any) -> Any:
        closed = isinstance(t, (Reduce, Scan, Contract)) and t.axis in q.lanes or binder(t) in bound
        return () if t is q or closed else children(t)

    done = Rewritten()
    for t in walk(v, below=inside):
        if t is q:
            done[t] = Const(False, bool_)
        elif any(c in done for c in inside(t)):
            done[t] = node(t.rebuild(done))  # type: ignore[attr-defined]
    return done[v]


class _Neutral:
    """select(P, v, c) -> v where every way for P to be false already makes v equal c; each term's is found once."""

    def __init__(self) -> None:
        self.done: dict[Any, Any] = {}

    def dropped(self, root: Any) -> Any:
        for t in walk(root, below=lambda t: () if t in self.done else children(t)):
            if t not in self.done:
                new = self.done[t] = self._step(t.rebuild(self.done))  # type: ignore[attr-defined]
                if new is not t:
                    inherit(t, new)
        return self.done[root]

    def _step(self, t: Any) -> Any:
        t = node(t)
        if is_op(t, "select") and isinstance(t.args[2], Const):
            p, v, c = t.args
            inside = set(walk(v))  # where a condition isn't in it, a value is the same where that is false
            needed = [q for q in conjuncts(p) if q not in inside or _where_false(v, q) is not c]
            if not needed and (conjuncts(p)):
                return v
            if len(needed) < len(conjuncts(p)):
                return node(apply("select", apply("and", *needed) if len(needed) > 1 else needed[0], v, c))
        return t
