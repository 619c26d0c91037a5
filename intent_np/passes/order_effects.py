"""normal -> normal: a load that comes after a store of its own element is what was stored.

store y[i] = v;  store z[i] = (load y[i] after that store) + 1        store y[i] = v;  store z[i] = v + 1
"""

from __future__ import annotations

from typing import Any

from ..errors import error
from ..rules.simplify import node
from ..terms.core import arena, find, rewrite
from ..terms.normal import NORMAL, Load, Program, Store
from .base import nanopass


@nanopass(NORMAL, NORMAL)
def order_effects(program: Program) -> Program:
    """Forward stores to the loads that read exactly them, and refuse what would need other instances to have finished.

    Before the program is spread over instances: afterwards every load reads what the launch found in memory, at an
    element that no other instance writes.
    Preserves the order of effects that the author wrote.
    """

    def step(t: Any) -> Any:
        if isinstance(t, Load) and isinstance(t.after, Store) and t.after.index == t.index and t.after.valid is None:
            return t.after.value
        return node(t)

    program = rewrite((program,), step)[0]
    stores: dict[Any, list[Store]] = {}
    for s in program.effects:
        stores.setdefault(s.view, []).append(s)  # type: ignore[attr-defined, arg-type]
    for t in find(program, Load):
        for s in stores.get(t.view, []):
            if s.index != t.index or t.after is not None:
                span = next(iter(arena().spans.get(t, ())), None)
                raise error("E707", span=span, name=t.view.name)
    return program  # type: ignore[no-any-return]
