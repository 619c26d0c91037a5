"""normal -> normal: what replaces elements that are still read is computed aside.

for t: store x[i] = load x[i - 1] + load x[i + 1]     for t: store x_new[i] = load x[i - 1] + load x[i + 1]
                                                             store x[i] = load x_new[i]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..rules.simplify import node
from ..terms.blocked import Slice
from ..terms.core import find, inherit, replace, walk
from ..terms.index import Value, sub
from ..terms.normal import NORMAL, Coord, Load, Part, Program, Recur, Region, Store, Update, View
from ..terms.ordered import in_order, loads
from .base import nanopass
from .blocks import fragments
from .dependences import apart_now, changing
from .groups import groups
from .lower_buffers import extent, workspace
from .put_aside import certain, span, spans
from .roles import STRUCTURED, in_index_order
from .scopes import told_apart

Key = tuple[str, int]
"""A statement: the view that it changes, and which of the changes of that view it is."""


@nanopass(NORMAL, NORMAL)
def stage_stores(program: Program) -> Program:
    """Compute values into memory of the kernel's own first, where an instance goes through the elements that it stores
    in blocks, and a later block reads what an earlier one has replaced.

    Behind `bind_class`, which says what a fragment holds whole: that is read before it is written anyway.
    Preserves each stored element, and the order of effects.
    """
    if not any(_replaced(e, loads(e), ()) for e in changing(*program.effects)):
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
            if _replaced(e, _loads(e, sliced), here):
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


def _replaced(e: Any, loads: list[Load], here: tuple[Any, ...]) -> list[Load]:
    """Those loads that may be of what other blocks of the statement have replaced."""
    same = lambda t: e.index == t.index and told_apart(e)  # noqa: E731
    return [t for t in loads if t.view is e.view and not same(t) and not apart_now(e, t, here)]


class _Staging:
    """The program with the statements `late` in two steps."""

    def __init__(self, program: Program, late: set[Key]) -> None:
        self.before, self.late = program, late
        self.taken = {t.name for t in program.parameters} | {v.name for v in find(program, View)}  # type: ignore[attr-defined]
        self.made: list[View] = []
        self.spans = spans(*certain(program.effects))
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
        return replace(self.before, parameters=(*self.before.parameters, *self.made), effects=effects)  # type: ignore[no-any-return]

    def _in_front(self, effects: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(x for e in effects for x in (*self.first.get(e, ()), e))

    def _staged(self, e: Any) -> Any:
        """The statement of what is loaded, with the stores of that in front: what it gives, and what decides on its
        elements.  The statement itself where the host can't know how much memory that takes."""
        shape: list[Value] = []
        at: list[Value] = []
        for a in in_index_order(e):
            if (spread := span(a, self.spans)) is None:
                return e
            lo, hi = spread
            shape.append(extent(lo, hi))
            at.append(node(sub(Coord(a), lo)))
        front: list[Store] = []

        def kept(v: Any, valid: Value | None = e.valid) -> Any:
            if not any(t.view is e.view for t in loads(v)):
                return v
            view = workspace(f"{e.view.name}_new", v.type, shape, self.taken)
            self.made.append(view)
            front.append(inherit(e, Store(view, tuple(at), v, valid)))  # type: ignore[arg-type]
            return inherit(v, Load(view, tuple(at), valid, 0, front[-1]))

        changed: dict[str, Any] = {"index": tuple(map(kept, e.index))}
        if isinstance(e, Store):
            changed["value"] = kept(e.value)
        else:
            changed["operands"] = tuple(map(kept, e.operands))
        if e.valid is not None:
            changed["valid"] = kept(e.valid, None)
        new = inherit(e, replace(e, **changed))
        self.first[new] = front
        return new
