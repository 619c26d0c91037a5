"""Which loops of a blocked program may stand before the loop that they are in, for emitter and machine alike."""

from __future__ import annotations

from typing import Any

from .blocked import Loop
from .core import contains, once


@once
def invariant_loops(loop: Loop) -> list[Loop]:
    """The loops inside `loop` whose results are the same around it: no loop in between has a block of its own of what
    they need."""
    found: dict[Loop, None] = {}
    seen: set[Any] = set()
    outside = loop.needs - {loop.slice}
    stack: list[Any] = [(t, outside) for s in reversed(loop.segments) for t in reversed((*s.values, *s.effects))]
    while stack:
        t, visible = stack.pop()
        if not contains(t, Loop) or (t, visible) in seen:
            continue
        seen.add((t, visible))
        if isinstance(t, Loop):
            if t.needs <= visible:
                found[t] = None
            visible = visible - {t.slice}
        stack.extend((c, visible) for c in reversed(t.children()))
    return list(found)
