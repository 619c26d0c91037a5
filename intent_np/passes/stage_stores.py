"""normal -> normal: what replaces elements that are still read is computed aside.

for t: store x[i] = load x[i - 1] + load x[i + 1]     for t: store x_new[i] = load x[i - 1] + load x[i + 1]
                                                             store x[i] = load x_new[i]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..rules.simplify import node
from ..terms.blocked import Slice
from ..terms.core import inherit, replace, walk
from ..terms.index import Value, sub
from ..terms.normal import NORMAL, Coord, Load, Part, Program, Recur, Region, Store, Update
from ..terms.ordered import Rewritten, in_order, loads
from .base import nanopass
from .blocks import fragments
from .dependences import apart_now, changing, of_one_member
from .groups import groups
from .late_reads import late_reads, put_aside
from .lower_buffers import extent, workspace
from .put_aside import Memory, rebuilt, span
from .roles import STRUCTURED, in_index_order
from .scopes import told_apart

Key = tuple[str, int]
"""A statement: the view that it changes, and which of the changes of that view it is."""


@nanopass(NORMAL, NORMAL)
def stage_stores(program: Program) -> Program:
    """Compute values into memory of the kernel's own first, where an instance goes through the elements that it stores
    in blocks, and a later block, or a later statement (`late_reads`), reads what was there before.

    Behind `bind_class`, which says what a fragment holds whole: that is read before it is written anyway.
    Preserves each stored element, and the order of effects.
    """
    while True:  # with more statements, fewer axes may be held whole
        before = program
        program = _staged(put_aside(program, late_reads(program)))
        if program is before:
            return program


def _staged(program: Program) -> Program:
    """The program in which no statement replaces what its later blocks read."""
    if not any(_replaced(e, loads(e), (), in_index_order(e)) for e in changing(*program.effects)):
        return program
    late = {key for g in groups(program.effects) for key in _late(g.effects, fragments(g, {}, set()), ())}
    return _Staging(program, late).program() if late else program


def _late(effects: tuple[Any, ...], fragment: dict[Any, Any], here: tuple[Any, ...]) -> Iterator[Key]:
    """The statements of an execution group whose later blocks read what earlier ones replaced; `here` are the loops
    around them."""
    for e in effects:
        if isinstance(e, Recur):
            yield from _late(e.effects, fragment, (*here, e.turn))
        elif isinstance(e, (Store, Update)):
            sliced = frozenset(a for a in in_index_order(e) if isinstance(fragment.get(a), Slice))
            if _replaced(e, _loads(e, sliced), here, sliced):
                yield e.view.name, e.again


def _loads(e: Any, sliced: frozenset[Any]) -> list[Load]:
    """The loads that a statement makes in its loops over `sliced` axes, and in loops inside of those: what does not
    vary along them comes ahead."""
    found: dict[Any, None] = {}
    stack: list[Any] = [(t, sliced) for t in e.children() if isinstance(t, Value)]
    while stack:
        t, inside = stack.pop()
        if t.lanes & inside and (t, inside) not in found:
            found[t, inside] = None
            if isinstance(t, STRUCTURED):
                inside |= {t.axis, Part(t.axis) if isinstance(t, Region) else t.axis}
            stack.extend((c, inside) for c in t.children() if isinstance(c, Value))
    return [t for t, _ in found if isinstance(t, Load)]


def _replaced(e: Any, loads: list[Load], here: tuple[Any, ...], sliced: Iterable[Any]) -> list[Load]:
    """Those loads that may be of what other blocks of the statement, along the `sliced` axes, have replaced."""
    same = lambda t: e.index == t.index and told_apart(e) or of_one_member(e, t, sliced)  # noqa: E731
    return [t for t in loads if t.view is e.view and not same(t) and not apart_now(e, t, here)]


class _Staging:
    """The program with the statements `late` in two steps."""

    def __init__(self, program: Program, late: set[Key]) -> None:
        self.before, self.late = program, late
        self.memory = Memory(program)
        self.first: dict[Any, list[Store]] = {}  # what comes in front of a statement

    def program(self) -> Program:
        done: dict[Any, Any] = {}
        for t in walk(*in_order(self.before.effects)):
            new = inherit(t, node(t.rebuild(done)))  # type: ignore[attr-defined]
            if isinstance(new, Recur):
                new = inherit(t, replace(new, effects=self._in_front(new.effects)))
            elif isinstance(new, (Store, Update)) and (new.view.name, new.again) in self.late:
                new = self._staged(new)
            done[t] = new
        effects = self._in_front(tuple(done[e] for e in self.before.effects))
        return replace(self.before, parameters=(*self.before.parameters, *self.memory.made), effects=effects)  # type: ignore[no-any-return]

    def _in_front(self, effects: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(x for e in effects for x in (*self.first.get(e, ()), e))

    def _staged(self, e: Any) -> Any:
        """The statement of what is loaded, with the stores of that in front; the statement itself where the host can't
        know how much memory it takes.  Loads that decide on its elements are kept one by one: what is known of a
        coordinate is known of how it is made."""
        shape: list[Value] = []
        at: list[Value] = []
        for a in in_index_order(e):
            if (spread := span(a, self.memory.spans)) is None:
                return e
            lo, hi = spread
            shape.append(extent(lo, hi))
            at.append(node(sub(Coord(a), lo)))
        deciding = (*e.index, *((e.valid,) if e.valid is not None else ()))
        replaced = Rewritten()
        front: list[Store] = []
        for t in (t for t in loads(*deciding) if t.view is e.view):
            aside = self.memory.aside(rebuilt(t, replaced), f"{e.view.name}_new")
            if aside is None:
                return e
            front.append(aside[0])
            replaced[t] = aside[1]

        def kept(v: Any) -> Any:
            v = rebuilt(v, replaced)
            if not any(t.view is e.view for t in loads(v)):
                return v
            view = workspace(f"{e.view.name}_new", v.type, shape, self.memory.taken)
            self.memory.made.append(view)
            front.append(inherit(e, Store(view, tuple(at), v, valid)))  # type: ignore[arg-type]
            return inherit(v, Load(view, tuple(at), valid, 0, front[-1]))

        index = tuple(rebuilt(i, replaced) for i in e.index)
        valid = None if e.valid is None else rebuilt(e.valid, replaced)
        if isinstance(e, Store):
            new = inherit(e, replace(e, index=index, value=kept(e.value), valid=valid))
        else:
            new = inherit(e, replace(e, index=index, operands=tuple(map(kept, e.operands)), valid=valid))
        self.first[new] = front
        return new
