"""logical -> logical: what only rearranges elements becomes one rearrangement, next to where they come from.

transpose (transpose v by p) by q          transpose v by p∘q
take (v + filled 1 of [n]) at [i]          take v at [i] + 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..rules.shapes import step
from ..terms.core import inherit
from ..terms.logical import LOGICAL, LogicalProgram
from .base import nanopass


@nanopass(LOGICAL, LOGICAL)
def compose_shapes(program: LogicalProgram) -> LogicalProgram:
    """Apply the rules about shapes wherever they fit, until none does.

    While values still have shapes: behind it elements are asked for through as few terms as there can be.
    Preserves every value, its dtype and its extents.
    """
    return rewritten(program)  # type: ignore[no-any-return]


def rewritten(root: Any, observe: Callable[[str, Any, Any], None] | None = None) -> Any:
    """`root` in the normal form of the rules; `observe(rule, before, after)` sees each firing.

    From the outside in, since rearrangements move inwards; what they leave is tried again.
    """
    done: dict[Any, Any] = {}
    stack = [root]
    while stack:
        t = stack[-1]
        if t in done:
            stack.pop()
            continue
        fired = step(t)
        if fired is not None:
            new, name = fired
            if observe is not None and new not in done:
                observe(name, t, new)
        else:
            waiting = [c for c in t.children() if c not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            new = t.rebuild(done)
            if new is t:
                done[t] = t
                continue
        if new in done:
            done[t] = inherit(t, done[new])
            stack.pop()
        else:
            stack.append(new)
    return done[root]
