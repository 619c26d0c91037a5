"""Carried tensors as memory of the kernel's own: where an iteration asks for elements at places that no fragment could
give them from.

    for i over 0..n carrying v from x yielding roll(v):      allocate b
                                                             write b = x
                                                             for i over 0..n:
                                                               write b = roll(read b)

All tensors of the loop are, since each may be made of the others.  Used by `lower_to_coordinates`, which finds out
which loops those are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..terms import logical as L
from ..terms.core import arena, inherit, named, replace, walk
from ..terms.index import const


class Kept(NamedTuple):
    """A loop that keeps its tensors in memory, what stands in front of it, and what it leaves, by the carry."""

    front: tuple[Any, ...]
    loop: L.Ordered
    left: dict[int, Any]
    done: dict[Any, Any]  # what its parts became


def in_memory(program: L.LogicalProgram, loop: str) -> L.LogicalProgram:
    """The program whose loop of this name keeps the tensors that it carries in memory."""
    return _InMemory(loop).of(program)  # type: ignore[no-any-return]


def kept_in_memory(loop: L.Ordered) -> Kept:
    """The loop that keeps its tensors in memory."""
    keeping = _InMemory(loop.name)
    made = keeping.of(loop)
    return Kept(keeping.front[made], made, keeping.left, keeping.done)


class _InMemory:
    def __init__(self, loop: str) -> None:
        self.loop = loop
        self.done: dict[Any, Any] = {}
        self.front: dict[Any, tuple[Any, ...]] = {}  # the statements in front of the loop
        self.left: dict[int, Any] = {}  # the carries behind the loop

    def of(self, root: Any) -> Any:
        for t in walk(root):
            if isinstance(t, L.Ordered) and t.name == self.loop:
                self.done[t] = self._ordered(t)
            elif isinstance(t, L.After) and t.loop.name == self.loop and t.position in self.left:
                self.done[t] = inherit(t, self.left[t.position])
            elif isinstance(t, L.State) and t.loop == self.loop and not t.scalar:
                self.done[t] = inherit(t, _read(_buffer(t), L.Start(self.loop)))
            else:
                self.done[t] = inherit(t, self._with_front(t.rebuild(self.done)))  # type: ignore[attr-defined]
        return self.done[root]

    def _ordered(self, t: L.Ordered) -> L.Ordered:
        """The loop, which writes what the tensors become at the end of each iteration: aside first, where there are
        several.  The carries stay, and nobody asks for them."""
        tensors = [i for i, s in enumerate(t.states) if not s.scalar]
        inits = [self.done[t.inits[i]] for i in tensors]
        given = [self.done[t.yields[i]] for i in tensors]
        kept = [_buffer(t.states[i]) for i in tensors]
        aside: list[Any] = []
        if len(tensors) > 1:
            put = [(_buffer(t.states[i], "next"), y) for i, y in zip(tensors, given, strict=True)]
            aside = [x for b, y in put for x in (L.Allocate(b), L.Write(b, _whole(b), y))]
            given = [_read(w.view, w) for w in aside[1::2]]
        last = [L.Write(b, _whole(b), y, again=1) for b, y in zip(kept, given, strict=True)]
        made: Any = t.rebuild(self.done | {s: s for s in t.states})  # type: ignore[attr-defined]
        yields = tuple(s if not s.scalar else y for s, y in zip(t.states, made.yields, strict=True))
        body = (*self._with_front(made).body, *aside, *last)
        made = inherit(t, replace(made, yields=yields, body=body))
        first = [x for b, v in zip(kept, inits, strict=True) for x in (L.Allocate(b), L.Write(b, _whole(b), v))]
        self.front[made] = tuple(first)
        for x in (*first, *aside, *last):
            inherit(t, x)
        self.left = {i: _read(b, w) for i, b, w in zip(tensors, kept, last, strict=True)}
        return made  # type: ignore[no-any-return]

    def _with_front(self, t: Any) -> Any:
        """A list of statements with those that stand in front of the loop."""
        changes = {}
        for field in ("body", "then", "otherwise"):
            statements = getattr(t, field, None)
            if isinstance(statements, tuple) and any(s in self.front for s in statements):
                changes[field] = tuple(x for s in statements for x in (*self.front.get(s, ()), s))
        return replace(t, **changes) if changes else t


def _buffer(state: L.State, more: str = "") -> L.Buffer:
    made = L.Buffer(f"{state.name} {more}", state.dtype, state.extents)
    hint = arena().names.get(state, "state")
    return named(made, f"{hint}_{more}" if more else hint)  # type: ignore[no-any-return]


def _whole(buffer: L.Buffer) -> tuple[Any, ...]:
    return tuple(L.Along(L.Domain(const(0), e)) for e in buffer.shape)


def _read(buffer: L.Buffer, after: Any) -> L.Read:
    return L.Read(buffer, _whole(buffer), after)
