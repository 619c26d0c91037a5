"""Axes, the memory of a program, and what reads and writes it: the part of `normal` that every access is made of."""

from __future__ import annotations

from typing import Any

from .core import NO_AXES, Literal, Term, term
from .dtypes import DType, bool_, index
from .index import AxisLike, Physical, Value, representable


class Effect(Term):
    """Sort: something that happens; a program is a sequence of effects, every instance performs them in order."""

    __slots__ = ()


ROLES = ("", "space", "whole", "loop")


@term
class Axis(AxisLike):
    """One occurrence of the domain lo..hi (half open, unit step); `use` tells two coordinates of one domain apart.
    `role` is what a plan has decided: `space`, spread over instances; `whole`, held in a fragment; `loop`, walked by
    one loop; by blocks of `block` members.  Without one, later passes decide."""

    lo: Value
    hi: Value
    use: int = 0
    role: str = ""
    block: int = 0
    syntax = "axis {lo}..{hi}{ use |use|}{ as |role|}{ by |block|}"
    binds = True

    def infer(self) -> None:
        if self.lo.type is not index or self.hi.type is not index:
            raise TypeError(f"the bounds of an axis are {self.lo.type} and {self.hi.type}, not index")
        if self.role not in ROLES or (self.block > 0) is not bool(self.role):
            raise TypeError(f"an axis has one of the roles {', '.join(ROLES[1:])} and a block, or neither")

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return self.lo.lanes | self.hi.lanes, self.lo.needs | self.hi.needs


def varying(t: Term) -> frozenset[Any]:
    """The axes that `t` varies along: where the members of one of its own axes begin or end, counts too."""
    found: frozenset[Any] = t.lanes
    while further := frozenset[Any]().union(*(a.lanes for a in found)) - found:
        found |= further
    return found


@term
class Part(AxisLike):
    """Any contiguous, non-empty part of an axis: what a region's summary is written over."""

    axis: Axis
    syntax = "part of {axis}"
    binds = True


@term
class Coord(Value):
    """The coordinate along an axis (absolute, in the domain's own numbering)."""

    axis: AxisLike
    syntax = "{axis}"

    def infer(self) -> DType:
        if isinstance(self.axis, Physical):
            raise TypeError(f"a coordinate along {self.axis.name}, which is a number")
        return index

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return self.axis.coordinate_axes()


class Memory(Term):
    """Sort: what an access reads or writes."""

    __slots__ = ()
    name: str
    mode: str
    dtype: DType
    shape: tuple[Value, ...]


@term
class View(Memory):
    """A parameter in memory.  `aligned`: bytes that divide its address and every stride that is not 1; `finite`: the
    caller promises neither NaN nor infinity; `same`: views that may be the very array that this one is: those of its
    alias group, and behind `find_in_place` those for which that is proved.  A `workspace` is memory of the kernel's
    own, a `counter` such memory that every launch finds, and leaves, full of zeros; a `copy` is one of the view
    `source`, made before the launch; a `report` comes zeroed, is added to, and is read by the host behind the
    launch."""

    name: str
    mode: str
    dtype: DType
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]
    finite: bool = False
    aligned: int = 1
    same: tuple[str, ...] = ()
    source: str = ""
    syntax = (
        "view {mode} {dtype}[{shape}] strides [{strides}]{ finite|finite|}{ aligned |aligned|}{ or |same|}"
        "{ of |source|}"
    )
    binds = True

    def infer(self) -> DType:
        if self.mode not in ("in", "out", "inout", "workspace", "counter", "copy", "report"):
            raise TypeError(f"unknown view mode {self.mode}")
        if (self.mode == "copy") is not bool(self.source):
            raise TypeError(f"{self.name} is a {self.mode} view of {self.source or 'nothing'}")
        if len(self.shape) != len(self.strides):
            raise TypeError(f"{self.name}: {len(self.shape)} extents, {len(self.strides)} strides")
        if any(e.type is not index for e in (*self.shape, *self.strides)) or self.aligned < 1:
            raise TypeError(f"{self.name}: extents and strides are index values, alignment is positive")
        return self.dtype

    @property
    def names(self) -> frozenset[str]:
        """The views whose elements may be elements of this one."""
        return frozenset((self.name, *self.same))


def holds(d: DType, v: bool | int | float) -> bool:
    """Whether a number that is written without its dtype (0 for 0.0 or false) is an element of `d`."""
    if d is bool_:
        return v in (0, 1)
    return representable(float(v), d) if d.is_float else type(v) is int and representable(v, d)


def check_access(view: View, indices: tuple[Value, ...], valid: Value | None) -> None:
    """`TypeError` where the indices or the validity of an access do not fit the view."""
    if len(indices) != len(view.shape):
        raise TypeError(f"{view.name} has rank {len(view.shape)}, indexed with {len(indices)}")
    for i in indices:
        if i.type is not index:
            raise TypeError(f"an index into {view.name} is {i.type}, not index")
    if valid is not None and valid.type is not bool_:
        raise TypeError(f"the validity of an access to {view.name} is {valid.type}, not bool")


@term
class Store(Effect):
    """Write `value` where `valid`; an invalid lane has no effect.  `again` counts the stores into the view before this
    one, so that two statements are never one term."""

    view: View
    index: tuple[Value, ...]
    value: Value
    valid: Value | None = None
    again: int = 0
    syntax = "store {view}[{index}] = {value}{ valid (|valid|)}{ again |again|}"

    def infer(self) -> None:
        check_access(self.view, self.index, self.valid)
        if self.value.type is not self.view.dtype:
            raise TypeError(f"a {self.value.type} is stored into {self.view.name} of {self.view.dtype}")


@term
class Load(Value):
    """An element of a view; invalid lanes touch nothing and give `fill`.  A load of a view that the program may write
    names the effect `after` which it reads; without one, it reads what the launch found there."""

    view: View
    index: tuple[Value, ...]
    valid: Value | None = None
    fill: Literal = 0
    after: Effect | None = None
    syntax = "load {view}[{index}]{ valid (|valid|) fill $fill}{ fill |fill|}{ after |after|}"

    def infer(self) -> DType:
        check_access(self.view, self.index, self.valid)
        if not holds(self.view.dtype, self.fill):  # type: ignore[arg-type]
            raise TypeError(f"{self.fill!r} is no element of {self.view.name}, which holds {self.view.dtype}")
        return self.view.dtype

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        # `after` orders the load; it does not make the element vary along the axes of that effect
        parts = self.index if self.valid is None else (*self.index, self.valid)
        return NO_AXES.union(*(p.lanes for p in parts)), Term.axes(self)[1]
