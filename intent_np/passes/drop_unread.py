"""normal -> normal: what nobody reads of the kernel's own memory is not stored.

b = view workspace f32[2] strides [1]
program @k(x, y, b) {                       program @k(x, y) {
  store b[0] = load x[0]                      store y[0] = load x[0]
  store y[0] = load x[0]                    }
}
"""

from __future__ import annotations

from typing import Any

from ..terms.core import inherit, replace, walk
from ..terms.normal import NORMAL, Found, Load, Program, Recur, View
from ..terms.ordered import evaluated
from .base import nanopass


@nanopass(NORMAL, NORMAL)
def drop_unread(program: Program) -> Program:
    """Drop the effects on buffers that nothing reads, and the buffers.

    Behind `forward_stores`, which leaves buffers unread: one that is gone takes no memory and no argument of a launch.
    Preserves everything that a caller sees.
    """
    effects = program.effects
    while True:
        terms = evaluated(*effects)
        read = {t.view for t in terms if isinstance(t, Load)} | {t.update.view for t in terms if isinstance(t, Found)}
        kept = _kept(effects, read)
        if kept == effects:
            break
        effects = kept  # what was dropped may have been the last to read another one
    parameters = tuple(p for p in program.parameters if not _own(p) or p in read)
    if effects == program.effects and parameters == program.parameters:
        return program
    return replace(program, parameters=parameters, effects=effects)  # type: ignore[no-any-return]


def _kept(effects: tuple[Any, ...], read: set[View]) -> tuple[Any, ...]:
    """The effects without those on buffers that are not read."""
    stays = lambda e: isinstance(e, Recur) or not _own(e.view) or e.view in read  # noqa: E731
    done: dict[Any, Any] = {}
    for t in walk(*effects):
        new = t.rebuild(done)  # type: ignore[attr-defined]
        if isinstance(new, Recur):
            new = replace(new, effects=tuple(e for e in new.effects if stays(e)))
        done[t] = t if new is t else inherit(t, new)
    return tuple(done[e] for e in effects if stays(e))


def _own(p: Any) -> bool:
    return isinstance(p, View) and p.mode == "workspace"
