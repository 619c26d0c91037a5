"""normal -> normal: what one instance would overwrite before another has read it is read in a copy.

x = view inout f32[N, N] strides […]          x_before = view copy f32[N, N] strides […] of x
program @turn(x, N) {                         program @turn(x, N, x_before) {
  store x[i, j] = load x[j, i]                  store x[i, j] = load x_before[j, i]
}                                             }
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import Remark
from ..terms.core import arena, find, inherit, replace, rewrite
from ..terms.normal import NORMAL, Load, Program, View
from ..terms.ordered import loads
from .base import nanopass
from .dependences import changing
from .groups import groups


@nanopass(NORMAL, NORMAL)
def copy_first(program: Program) -> Program:
    """Read views as the launch finds them in copies, where one instance alone could read them before it stores.

    Instances run in any order and none waits for all others, so that only the host can keep what they overwrite: it
    copies such a view before each launch.  Before the program is spread over instances.
    Preserves what each load finds.
    """
    wanted = _read_before(program.effects)
    if not wanted or not (serial := _serial(program)):
        return program
    fewest = _serial(with_copies(program, wanted))
    if fewest == serial:
        return program
    for v in tuple(wanted):
        others = [w for w in wanted if w is not v]
        if _serial(with_copies(program, others)) == fewest:
            wanted = others
    return with_copies(program, wanted)


def _serial(program: Program) -> int:
    """How many groups of statements one instance would have to perform."""
    return sum(g.serial for g in groups(program.effects))


def _read_before(effects: tuple[Any, ...]) -> list[View]:
    """The views that are changed, and of which somebody reads what the launch found there."""
    old = {t.view: None for t in loads(*effects) if t.after is None}
    changed = {t.view for t in changing(*effects)}
    return [v for v in old if v in changed and v.mode == "inout"]


def copy_remarks(program: Any) -> list[Remark]:
    """P009 for each copy: where it is read."""
    found: dict[str, Remark] = {}
    for t in find(program, Load):
        if t.view.mode == "copy":
            text = (
                f"{t.view.source}: instances run in any order, and overwrite what others read; another output saves it"
            )
            span = next(iter(arena().spans.get(t, ())), None)
            found.setdefault(t.view.source, Remark("P009", text, span))
    return list(found.values())


def with_copies(program: Any, views: Iterable[View]) -> Any:
    """A program, of any language with loads, that reads what the launch found of these views in copies."""
    taken = {p.name for p in find(program, View)} | {p.name for p in program.parameters}
    copies: dict[View, View] = {}
    for v in views:
        name = v.name + "_before"
        while name in taken:
            name += "_"
        taken.add(name)
        copies[v] = replace(v, name=name, mode="copy", same=(), source=v.name)

    def step(t: Any) -> Any:
        if isinstance(t, Load) and t.after is None and t.view in copies:
            return inherit(t, replace(t, view=copies[t.view]))
        return t

    (new,) = rewrite((program,), step, Load)
    return replace(new, parameters=(*new.parameters, *copies.values()))
