"""The ways out of a block before its end: `break`, `continue` and `return` as flags that merge as names do.

A flag is False, True, or a bool scalar where it depends on the run.  Flags live among the names of a frame, under the
keywords that set them, which are no names of an author; so branches merge them and loops carry them.  What stands
behind a statement that may leave is read under the condition that it did not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from intent_np.terms.dtypes import bool_
from intent_np.terms.index import Value, const
from intent_np.terms.logical import Branch

from .arithmetic import logic, negated
from .context import capture
from .elaborate import select
from .frames import Frame, Missing

BREAK, CONTINUE, RETURN = FLAGS = ("break", "continue", "return")
RESULT = "the result"


class _Nothing:
    """The result where no `return` was met."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


def entered() -> dict[str, Any]:
    """The flags at the start of a function."""
    return {RETURN: False, RESULT: NOTHING}


def iteration(names: dict[str, Any]) -> dict[str, Any]:
    """The flags at the start of an iteration, with the names that it sees."""
    kept = names.get(RETURN, False)
    return {**names, BREAK: False, CONTINUE: False, RETURN: kept if isinstance(kept, Missing) else False}


def forbidden(names: dict[str, Any]) -> dict[str, Any]:
    """The same for a point of a parallel loop, which only `continue` may end."""
    refused = {flag: Missing("E122", {"statement": flag}) for flag in (BREAK, RETURN)}
    return {**names, CONTINUE: False, **refused}


def left(names: dict[str, Any], *flags: str) -> Any:
    """Whether one of the flags (of all, if none is named) is set: False, True, or a bool scalar."""
    found = [names[flag] for flag in flags or FLAGS if flag in names and not isinstance(names[flag], Missing)]
    if any(v is True for v in found):
        return True
    runtime = tuple(v for v in found if v is not False)
    return logic("or", runtime, "or") if runtime else False


def either(condition: Value, a: Any, b: Any) -> Any:
    """A flag behind a branch.  A side that reads memory is asked only where the branch takes it."""
    if a is True and b is False:
        return condition
    if a is False and b is True:
        return negated(condition)
    return a if a is b else select(condition, *(const(v, bool_) if isinstance(v, bool) else v for v in (a, b)))


def unless_left(f: Frame, gone: Value, rest: Callable[[], bool]) -> bool:
    """Read what follows where `gone` does not hold.  Whether that leaves too, so that nothing falls off the end."""
    from .statements import merged

    state = capture()
    ways = [flag for flag in FLAGS if f.names.get(flag, False) is not False and not isinstance(f.names[flag], Missing)]
    away = {**f.names, ways[0]: True} if len(ways) == 1 else f.names
    f.names = {**f.names, **dict.fromkeys(ways, False)}
    stayed = negated(gone)
    with state.block(stayed) as effects:
        ended = rest()
    f.names = merged(gone, away, f.names, (True, ended))
    if effects:
        state.emit(Branch(stayed, tuple(effects)))
    return ended


def certain(body: Sequence[ast.stmt]) -> bool:
    """Whether the text alone shows that nothing falls off the end of these statements."""
    for s in body:
        if isinstance(s, ast.Return | ast.Break | ast.Continue):
            return True
        if isinstance(s, ast.If) and certain(s.body) and certain(s.orelse):
            return True
    return False


def returns(body: Sequence[ast.stmt]) -> list[ast.Return]:
    """The `return` statements in these, in source order."""
    found = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Return))
    return sorted(found, key=lambda n: n.lineno)
