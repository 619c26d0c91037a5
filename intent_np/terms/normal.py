"""normal: functions of coordinates.  No shapes, no broadcast, no positional axes; predicates and indices are terms.

Axis identity comes from provenance: an `Axis` is an occurrence of a domain, so the columns of a load, of a reduction
over it and of a later store are one axis, while two coordinates of one domain in one value differ in `use`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .core import NO_AXES, Literal, Term, arena, children, find, term, walk
from .dtypes import DType, bool_, index
from .index import Apply, AxisLike, Cast, Const, Extent, Param, Physical, Stride, Value, representable
from .language import Language


class Effect(Term):
    """Sort: something that happens; a program is a sequence of effects, every instance performs them in order."""

    __slots__ = ()


@term
class Axis(AxisLike):
    """One occurrence of the domain lo..hi (half open, unit step); `use` tells two coordinates of one domain apart."""

    lo: Value
    hi: Value
    use: int = 0
    syntax = "axis {lo}..{hi}{ use |use|}"
    binds = True

    def infer(self) -> None:
        if self.lo.type is not index or self.hi.type is not index:
            raise TypeError(f"the bounds of an axis are {self.lo.type} and {self.hi.type}, not index")

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
    alias group, and behind `find_in_place` those for which that is proved."""

    name: str
    mode: str
    dtype: DType
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]
    finite: bool = False
    aligned: int = 1
    same: tuple[str, ...] = ()
    syntax = "view {mode} {dtype}[{shape}] strides [{strides}]{ finite|finite|}{ aligned |aligned|}{ or |same|}"
    binds = True

    def infer(self) -> DType:
        if self.mode not in ("in", "out", "inout", "workspace"):
            raise TypeError(f"unknown view mode {self.mode}")
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


def _check_access(view: View, indices: tuple[Value, ...], valid: Value | None) -> None:
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
        _check_access(self.view, self.index, self.valid)
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
        _check_access(self.view, self.index, self.valid)
        if not holds(self.view.dtype, self.fill):  # type: ignore[arg-type]
            raise TypeError(f"{self.fill!r} is no element of {self.view.name}, which holds {self.view.dtype}")
        return self.view.dtype

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        # `after` orders the load; it does not make the element vary along the axes of that effect
        parts = self.index if self.valid is None else (*self.index, self.valid)
        return NO_AXES.union(*(p.lanes for p in parts)), Term.axes(self)[1]


@term
class Arg(Value):
    """An argument of a combine region: component `position` of the left (`a`) or the right (`b`) summary."""

    side: str
    position: int
    dtype: DType
    syntax = "arg({side}, {position}, {dtype})"

    def infer(self) -> DType:
        return self.dtype


@term
class Combine(Term):
    """A closed, typed combine region: one body per component over `Arg`s; captures come as operands."""

    dtypes: tuple[DType, ...]
    bodies: tuple[Value, ...]
    syntax = "combine [{dtypes}] {bodies}"
    binds = True

    def infer(self) -> None:
        if not self.dtypes or tuple(b.type for b in self.bodies) != self.dtypes:
            raise TypeError(f"combine of {self.dtypes} has bodies of {tuple(b.type for b in self.bodies)}")


def _tuple_type(values: tuple[Value, ...], combine: Combine, identities: tuple[Const, ...]) -> Any:
    dtypes = tuple(v.type for v in values)
    if dtypes != combine.dtypes or tuple(i.dtype for i in identities) != dtypes:
        raise TypeError(
            f"values of {dtypes}, a combine of {combine.dtypes}, identities of {[i.dtype for i in identities]}"
        )
    return dtypes[0] if len(dtypes) == 1 else dtypes


@term
class Reduce(Value):
    """Combine the members of an axis in any order: associative, commutative, empty gives the identity."""

    axis: AxisLike
    combine: Combine
    values: tuple[Value, ...]
    identities: tuple[Const, ...]
    syntax = "reduce {combine} over {axis} of {values} from {identities}"

    def infer(self) -> Any:
        return _tuple_type(self.values, self.combine, self.identities)

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return bound_axes(self, self.axis)

    def component_lanes(self) -> list[frozenset[Any]]:
        return [s - {self.axis} | self.axis.lanes for s in state_lanes((self.combine,), [v.lanes for v in self.values])]


@term
class Contract(Value):
    """Sum over an axis of products in `acc`; axes that both sides have are batch, the others are free."""

    axis: AxisLike
    left: Value
    right: Value
    acc: DType
    syntax = "contract over {axis} of {left}, {right} into {acc}"

    def infer(self) -> DType:
        if self.left.type is not self.right.type:
            raise TypeError(f"contraction of {self.left.type} with {self.right.type}")
        return self.acc

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return bound_axes(self, self.axis)


@term
class Region(Value):
    """A list homomorphism over an axis: summaries of any part, combined in order."""

    axis: Axis
    combine: Combine
    values: tuple[Value, ...]
    identities: tuple[Const, ...]
    syntax = "region {combine} over {axis} of {values} from {identities}"

    def infer(self) -> Any:
        return _tuple_type(self.values, self.combine, self.identities)

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        lanes, needs = Term.axes(self)
        return lanes - {self.axis, Part(self.axis)}, needs

    def component_lanes(self) -> list[frozenset[Any]]:
        bound = {self.axis, Part(self.axis)}
        return state_lanes((self.combine,), [v.lanes - bound | self.axis.lanes for v in self.values])


@term
class Proj(Value):
    """Component `position` of a tuple value."""

    value: Value
    position: int
    syntax = "proj({value}, {position})"

    def infer(self) -> DType:
        if not isinstance(self.value.type, tuple):
            raise TypeError("projection from a value that is no tuple")
        if not 0 <= self.position < len(self.value.type):
            raise TypeError(f"component {self.position} of a tuple of {len(self.value.type)}")
        return self.value.type[self.position]

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        components = getattr(self.value, "component_lanes", None)
        return (self.value.lanes if components is None else components()[self.position]), self.value.needs


def state_lanes(combines: tuple[Combine, ...], lanes: list[frozenset[Any]]) -> list[frozenset[Any]]:
    """The axes along which each combined component varies: the least fixed point from those of the summaries."""
    lanes, changed = list(lanes), True
    while changed:
        changed, at = False, 0
        for combine in combines:
            for i, body in enumerate(combine.bodies):
                reached = lanes[at + i].union(*(lanes[at + a.position] for a in find(body, Arg)))
                changed |= reached != lanes[at + i]
                lanes[at + i] = reached
            at += len(combine.bodies)
    return lanes


def bound_axes(t: Term, axis: AxisLike) -> tuple[frozenset[Any], frozenset[Any]]:
    """Lanes and needs of a binder: its axis is no lane of the result, the axis' own bounds are uses."""
    lanes, needs = Term.axes(t)
    return (lanes - {axis}) | axis.lanes, needs | axis.needs


def check_parameters(parameters: tuple[Term, ...]) -> None:
    """The parameters of a program are views and the scalars of a launch."""
    for p in parameters:
        if not isinstance(p, (View, Extent, Stride, Param)):
            raise TypeError(f"a {type(p).__name__} is no parameter")


def same_arrays(parameters: Iterable[Term]) -> tuple[tuple[str, str], ...]:
    """The pairs of views that may be one array."""
    return tuple((v.name, name) for v in parameters if isinstance(v, View) for name in v.same)


@term
class Target(Term):
    """What the program is compiled for; passes ask it, never a device name."""

    name: str
    capability: int
    processors: int
    shared: int
    syntax = "target capability {capability} processors {processors} shared {shared}"
    binds = True


@term
class Program(Term):
    """A whole kernel: parameters in ABI order and the effects of one launch.  `permissions` are what the caller allows
    beyond exact numerics."""

    name: str
    parameters: tuple[Term, ...]
    effects: tuple[Effect, ...]
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    syntax = "program @{name}({parameters}){ permits |permissions|}{ for |target|} {{{effects:block}}}"

    def infer(self) -> None:
        check_parameters(self.parameters)


def closed_regions(program: Term) -> Iterator[str]:
    """A combine is a function of its arguments alone, and they stand nowhere else."""
    for c in find(program, Combine):
        for t in walk(*c.bodies):
            if isinstance(t, (Load, Coord, Reduce, Contract, Region)):
                yield f"a combine uses more than its arguments: {t}"
    seen: set[Term] = set()
    stack: list[Term] = [program]
    while stack:
        t = stack.pop()
        if isinstance(t, Arg):
            yield f"an argument outside of a combine: {t}"
        if t not in seen and not isinstance(t, Combine):
            seen.add(t)
            stack.extend(children(t))


def addressed(program: Term) -> Iterator[str]:
    """What is stored, and whether, varies only where the address does."""
    for t in find(program, Store):
        yield from strays(t, "the stored value", t.value)
        if t.valid is not None:
            yield from strays(t, "the validity", t.valid)


def strays(t: Any, what: str, part: Value) -> Iterator[str]:
    """A complaint about `part` of the access `t`, if it varies along more axes than its address."""
    if more := part.lanes.difference(*(i.lanes for i in t.index)):
        axes = sorted(getattr(a, "name", None) or arena().names.get(a) or str(a) for a in more)
        yield f"{what} varies along {', '.join(axes)}, where the address does not: {t}"


NORMAL = Language(
    "normal",
    about=__doc__ or "",
    root=Program,
    rules=(closed_regions, addressed),
    terms=(
        Const, Extent, Stride, Param, Apply, Cast, Axis, Part, Coord, View, Load, Arg, Combine, Reduce, Contract,
        Region,
        Proj, Store, Target, Program,
    ),
)  # fmt: skip


# ---- builtin combines --------------------------------------------------------------------------------------------

BUILTIN = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def builtin(name: str, d: DType) -> Combine:
    """The combine of a builtin reduction; one term per dtype, so that it is recognized by identity."""
    from .index import apply

    c = Combine((d,), (apply(BUILTIN[name], Arg("a", 0, d), Arg("b", 0, d)),))
    arena().names.setdefault(c, name)
    return c


def builtin_name(c: Combine) -> str | None:
    """Which builtin a combine is, if any."""
    if len(c.dtypes) == 1:
        for name in ("any", "all") if c.dtypes[0] is bool_ else ("sum", "max", "min", "prod"):
            if builtin(name, c.dtypes[0]) is c:
                return name
    return None


def identity(name: str, d: DType) -> Const:
    """The identity of a builtin reduction: the maximum of nothing is -inf, or the smallest number of the type."""
    if name in ("any", "all"):
        return Const(name == "all", bool_)
    if name in ("sum", "prod"):
        one = 0 if name == "sum" else 1
        return Const(float(one) if d.is_float else one, d)
    if d.is_float:
        from ..numerics.literals import FORMATS

        top = float("inf") if FORMATS[d.name].infinite else FORMATS[d.name].largest
        return Const(-top if name == "max" else top, d)
    return Const(d.range[0 if name == "max" else 1], d)


__all__ = [
    "BUILTIN", "NORMAL", "Arg", "Axis", "AxisLike", "Combine", "Contract", "Coord", "Effect", "Load", "Memory", "Part",
    "Physical",
    "Program", "Proj", "Reduce", "Region", "Store", "Target", "View", "bound_axes", "builtin", "builtin_name",
    "check_parameters", "identity",
]  # fmt: skip
