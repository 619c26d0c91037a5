"""blocked -> blocked: masks that a load's fill makes unnecessary disappear.

reduce max of select(c < N, (load x[c] valid (c < N) fill 0), -inf)
reduce max of (load x[c] valid (c < N) fill -inf)
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import binder, node, substitute
from ..terms.blocked import BLOCKED, BlockedProgram
from ..terms.core import find, replace, rewrite, walk
from ..terms.dtypes import bool_
from ..terms.index import Const, apply, conjuncts, is_op
from ..terms.normal import Contract, Load, Reduce, Scan, holds
from .base import nanopass

FILLS = (0, float("-inf"), float("inf"))


@nanopass(BLOCKED, BLOCKED)
def choose_fills(program: BlockedProgram) -> BlockedProgram:
    """Give each masked load the fill under which most selects are provably neutral, and drop those.

    After blocking, which makes the masks, and before ranges are narrowed, which reads what is left of them.
    Preserves every value in valid lanes; only what padded lanes hold changes, and no result depends on it.
    """
    for t in [t for t in find(program, Load) if t.valid is not None]:
        if t.type.is_float:
            # the selects stay until every fill is chosen: a load may turn into one that comes later in the list, and
            # what was dropped for its first fill would be missing under the second
            tries = [_with_fill(program, t, f) for f in FILLS if holds(t.view.dtype, f)]
            program = min(tries, key=lambda filled: _selects(drop_neutral(filled)))
    return drop_neutral(program)


def _with_fill(program: Any, t: Load, fill: float) -> Any:
    return substitute(program, {t: replace(t, fill=fill)}, everywhere=True)


def _selects(program: Any) -> int:
    return sum(is_op(t, "select") for t in walk(program))


def _where_false(v: Any, q: Any) -> Any:
    """`v` in the lanes where `q` is false.  A reduction over an axis of `q` has all lanes, so it stays what it is."""

    def closed(t: Any) -> bool:
        return isinstance(t, (Reduce, Scan, Contract)) and t.axis in q.lanes or binder(t) in q.lanes | q.needs

    inside: set[Any] = set()
    stack = [v]
    while stack:
        t = stack.pop()
        if t not in inside:
            inside.add(t)
            stack.extend(() if t is q or closed(t) else t.children())
    done: dict[Any, Any] = {}
    for t in walk(v):
        if t in inside:
            done[t] = Const(False, bool_) if t is q else t if closed(t) else node(t.rebuild(done))  # type: ignore[attr-defined]
    return done[v]


def drop_neutral(program: Any) -> Any:
    """select(P, v, c) -> v where every way for P to be false already makes v equal c."""

    def step(t: Any) -> Any:
        t = node(t)
        if is_op(t, "select") and isinstance(t.args[2], Const):
            p, v, c = t.args
            needed = [q for q in conjuncts(p) if _where_false(v, q) is not c]
            if not needed and (conjuncts(p)):
                return v
            if len(needed) < len(conjuncts(p)):
                return node(apply("select", apply("and", *needed) if len(needed) > 1 else needed[0], v, c))
        return t

    return rewrite((program,), step)[0]
