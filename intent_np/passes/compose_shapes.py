"""logical -> logical: what only rearranges elements becomes one rearrangement, next to where they come from.

transpose (transpose v by p) by q          transpose v by p∘q
take (v + filled 1 of [n]) at [i]          take v at [i] + 1
"""

from __future__ import annotations

from typing import Any

from ..rules.rule_set import active, fired
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


def rewritten(root: Any) -> Any:
    """`root` in the normal form of the rules.

    From the outside in, since rearrangements move inwards; what they leave is tried again.
    """
    steps = active().structured
    done: dict[Any, Any] = {}
    stack = [root]
    while stack:
        t = stack[-1]
        if t in done:
            stack.pop()
            continue
        step = steps.get(type(t))
        found = step(t) if step else None
        if found is not None:
            new, name = found
            if new not in done:
                fired(name, t, new)
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
