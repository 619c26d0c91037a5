"""Buffers over coordinates: views of memory of the kernel's own, whose first dimensions are the points with one each.

    for i in parallel over 0..M:                   b = view workspace f32[M, 8] strides [8, 1]
      allocate b = buffer f32[8]
      write b[j] = x[i, j]                         store b[i, j] = x[i, j]

A buffer of an iteration needs no dimension for it: iterations follow each other, and one finds what another left as it
finds any contents that nobody gave.  So a buffer is ordered, waited for and fetched as every view is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..rules.affine import affine
from ..rules.bounds import end
from ..rules.simplify import node, simplify, substitute
from ..terms import logical as L
from ..terms.core import arena, find, inherit
from ..terms.dtypes import DType
from ..terms.index import Value, apply, const, is_op, mul, sub
from ..terms.normal import Axis, Coord, Final, Found, Load, View
from .lower_regions import Positions, refused

NAMED: Any = (View, L.Extent, L.Stride, L.Param)
"""Terms by whose names the program knows what a call gives it."""


class Buffers:
    """The workspaces of the buffers that were allocated so far, of which no name is one of the program's.  `scalar`
    gives the index over coordinates that a scalar of the program is."""

    def __init__(self, program: L.LogicalProgram, scalar: Callable[[Value], Value]) -> None:
        self.taken, self.scalar = {t.name for t in find(program, NAMED)}, scalar
        self.cut = {d.extent: d for d in find(program, L.Domain) if d.source is not None}
        self.held: dict[L.Buffer, tuple[View, Positions]] = {}

    @property
    def views(self) -> tuple[View, ...]:
        return tuple(view for view, _ in self.held.values())

    def allocate(self, s: L.Allocate, points: tuple[tuple[Axis, L.Domain], ...]) -> None:
        """Memory for a buffer: one for each member of the domains around it, of which `points` has the axes."""
        shape: list[Value] = []
        at: list[Any] = []
        for axis, domain in points:
            lo, hi = self._bounds(domain)
            shape.append(_extent(s, lo, hi, "a buffer of each point of a domain that memory decides on"))
            at.append(node(sub(Coord(axis), lo)))
        for e in s.buffer.shape:
            shape.append(_extent(s, const(0), self._most(e), "a buffer whose extent memory decides on"))
        view = workspace(arena().names.get(s.buffer, s.buffer.name), s.buffer.dtype, shape, self.taken)
        self.held[s.buffer] = inherit(s.buffer, view), tuple(at)  # type: ignore[assignment]

    def _most(self, e: Value) -> Value:
        """An extent, or one that it does not exceed where the host can't know it."""
        most = largest(self.scalar(e))
        return most if visible(most) or e not in self.cut else extent(*self._bounds(self.cut[e]))

    def _bounds(self, d: L.Domain) -> tuple[Value, Value]:
        """Bounds of the axis of a domain; of one that the host can't know, those of the domain that it was cut from."""
        if d.step is not None:  # numbered from 0
            return const(0), largest(self.scalar(d.extent))
        lo, hi = self.scalar(d.lo), self.scalar(d.hi)
        if visible(lo) and visible(hi):
            return lo, hi
        if isinstance(d.source, L.Domain) and d.source.step is None:
            return self._bounds(d.source)
        return end(lo, last=False), largest(hi)

    def place(self, memory: Any) -> tuple[View, Positions]:
        """The view that a statement accesses, and the coordinates in front of its own ones."""
        return (memory, ()) if isinstance(memory, View) else self.held[memory]


def workspace(hint: str, dtype: DType, shape: Iterable[Value], taken: set[str]) -> View:
    """Contiguous memory of the kernel's own; its name is none of `taken`, of which it is one from now on."""
    name, number = hint, 1
    while name in taken:
        number += 1
        name = f"{hint}_{number}"
    taken.add(name)
    shape = tuple(shape)
    return View(name, "workspace", dtype, shape, row_major(shape))


def row_major(shape: Iterable[Value]) -> tuple[Value, ...]:
    """Strides in elements of contiguous memory of this shape."""
    strides: list[Value] = []
    step: Value = const(1)
    for e in reversed(tuple(shape)):
        strides.insert(0, step)
        step = node(mul(step, e))
    return tuple(strides)


def largest(v: Value) -> Value:
    """`v`, or what it does not exceed where it is another one for some members, or in some iterations."""
    if visible(v):
        return v
    for t, weight in affine(v).items():
        if t is not None and weight > 0 and is_op(t, "minimum"):
            for least in t.args:  # type: ignore[attr-defined]
                if visible(bound := simplify(substitute(v, {t: least}))):
                    return bound  # type: ignore[no-any-return]
    return end(v, last=True)


def visible(v: Value) -> bool:
    """Whether the host knows a number before the launch."""
    return not (v.lanes or v.needs or any(True for _ in find(v, (Load, Final, Found))))  # type: ignore[arg-type]


def extent(lo: Value, hi: Value) -> Value:
    """How many members there are between two bounds; a domain may end before it begins."""
    return node(apply("maximum", node(sub(hi, lo)), const(0)))  # type: ignore[no-any-return]


def _extent(s: L.Allocate, lo: Value, hi: Value, what: str) -> Value:
    if not (visible(lo) and visible(hi)):
        how = "give it a bound that the call knows: I.minimum(n, N), or a part of a domain of known extent"
        raise refused(s, what, f"{how}; or run it with target='reference'")
    return extent(lo, hi)
