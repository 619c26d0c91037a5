"""A carried tensor as memory of the kernel's own: where an iteration asks for its elements at places that no fragment
could give them from.

    for i over 0..n carrying v from x yielding roll(v):      allocate b
                                                             write b = x
                                                             for i over 0..n:
                                                               write b' = roll(read b)
                                                               write b = read b'

Used by `lower_to_coordinates`, which finds out which those are.
"""

from __future__ import annotations

from typing import Any

from ..terms import logical as L
from ..terms.core import arena, inherit, named, replace, walk
from ..terms.index import const

Carried = tuple[str, int]
"""A carry: the name of its loop, and its position there."""


class Moved(Exception):
    """An iteration asks for elements of this carry that its loop can't carry."""

    def __init__(self, carried: Carried, value: Any) -> None:
        self.carried, self.value = carried, value


def in_memory(program: L.LogicalProgram, carried: Carried) -> L.LogicalProgram | None:
    """The program whose loop keeps one of its carries in memory; None where the author has no such loop."""
    return _InMemory(program, carried).program()


class _InMemory:
    def __init__(self, program: L.LogicalProgram, carried: Carried) -> None:
        self.before = program
        self.loop, self.position = carried
        self.done: dict[Any, Any] = {}
        self.front: dict[Any, tuple[Any, ...]] = {}  # the statements in front of the loop
        self.left: Any = None  # the carry behind the loop

    def program(self) -> L.LogicalProgram | None:
        for t in walk(self.before):
            if t in self.done:
                continue
            if isinstance(t, L.Ordered) and t.name == self.loop:
                self.done[t] = self._ordered(t)
            elif isinstance(t, L.After) and t.loop.name == self.loop and t.position == self.position:
                self.done[t] = inherit(t, self.left)
            elif isinstance(t, L.State) and (t.loop, t.position) == (self.loop, self.position):
                self.done[t] = inherit(t, _read(self._buffer(t), L.Start(self.loop)))
            else:
                self.done[t] = inherit(t, self._with_front(t.rebuild(self.done)))
        return None if self.left is None else self.done[self.before]

    def _buffer(self, state: L.State, suffix: str = "") -> L.Buffer:
        made = L.Buffer(f"{state.name}{suffix}", state.dtype, state.extents)
        return named(made, arena().names.get(state, "state") + suffix.replace(" ", "_"))  # type: ignore[no-any-return]

    def _ordered(self, t: L.Ordered) -> L.Ordered:
        """The loop, which writes what the carry becomes at the end of each iteration; aside first, since that is made
        of what it was.  The carry stays, and nobody asks for it."""
        state = t.states[self.position]
        buffer, aside = self._buffer(state), self._buffer(state, " next")
        start, after = (inherit(x, self.done[x]) for x in (t.inits[self.position], t.yields[self.position]))
        first = inherit(t, L.Write(buffer, _whole(buffer), start))
        kept = inherit(t, L.Write(aside, _whole(aside), after))
        last = inherit(t, L.Write(buffer, _whole(buffer), _read(aside, kept), again=1))  # type: ignore[arg-type]
        others = {s: s for s in t.states}
        made = t.rebuild(self.done | others)  # type: ignore[attr-defined]
        yields = (*made.yields[: self.position], state, *made.yields[self.position + 1 :])
        body = (inherit(t, L.Allocate(aside)), *self._with_front(made).body, kept, last)
        made = inherit(t, replace(made, yields=yields, body=body))
        self.front[made] = (inherit(t, L.Allocate(buffer)), first)
        self.left = _read(buffer, last)
        return made  # type: ignore[no-any-return]

    def _with_front(self, t: Any) -> Any:
        """A list of statements with those that stand in front of the loop."""
        changes = {}
        for field in ("body", "then", "otherwise"):
            statements = getattr(t, field, None)
            if isinstance(statements, tuple) and any(s in self.front for s in statements):
                changes[field] = tuple(x for s in statements for x in (*self.front.get(s, ()), s))
        return replace(t, **changes) if changes else t


def _whole(buffer: L.Buffer) -> tuple[Any, ...]:
    return tuple(L.Along(L.Domain(const(0), e)) for e in buffer.shape)


def _read(buffer: L.Buffer, after: Any) -> L.Read:
    return L.Read(buffer, _whole(buffer), after)
