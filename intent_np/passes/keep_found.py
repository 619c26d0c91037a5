"""What accesses found is kept in memory of the kernel's own, where another loop over blocks than theirs asks for it.

    update y[t] by add of x[t]                    update y[t] by add of x[t]
    update y[t] by add of (found by the first)    store found[t] = found by the first
                                                  update y[t] by add of (load found[t] after that store)

One loop can't perform both: what the second one changes has to wait for all that the first one does.  Used by
`keep_prefixes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..terms.core import find
from ..terms.grouped import Sync
from ..terms.normal import Found, Program, Recur, Turn, Update
from ..terms.ordered import evaluated
from .blocks import block_extents
from .groups import groups
from .put_aside import Ahead, Key, key


def keep_found(program: Program) -> Program:
    """The program that keeps what other loops ask for."""
    if not any(True for _ in find(program.effects, Found)):
        return program
    chosen: set[Key] = set()
    for g in groups(program.effects):
        chosen.update(_apart(g.effects, block_extents(g)[1].union(g.workset)))
    return _Keeping(program, chosen).program() if chosen else program


def _apart(effects: tuple[Any, ...], held: set[Any]) -> Iterator[Key]:
    """The updates along an axis that is not `held` of which a loop, or what a sync is in front of, asks for what
    they found."""
    phase, performed = 0, dict[Any, int]()
    for e in effects:
        phase += isinstance(e, Sync)
        for t in evaluated(e):
            if isinstance(t, Found) and not t.lanes <= held and t.update in performed:
                if isinstance(e, Recur) or performed[t.update] != phase:
                    yield key(t.update)
        if isinstance(e, Recur):
            yield from _apart(e.effects, held)
        elif isinstance(e, Update):
            performed[e] = phase


class _Keeping(Ahead):
    """The program with a store behind each of the `chosen` updates."""

    def __init__(self, program: Program, chosen: set[Key]) -> None:
        super().__init__(program)
        self.chosen = chosen

    def ahead(self, name: Any, root: Any, front: list[Any]) -> Any:
        return root

    def statement(self, e: Any, turn: Turn | None) -> list[Any]:
        made = super().statement(e, turn)
        if isinstance(e, Update) and key(e) in self.chosen:
            if (kept := self.memory.aside(Found(made[-1]), "found")) is not None:
                self.done[Found(e)] = kept[1]
                made.append(kept[0])
        return made
