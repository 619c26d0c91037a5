"""normal: functions of coordinates.  No shapes, no broadcast, no positional axes; predicates and indices are terms.

Axis identity comes from provenance: an `Axis` is an occurrence of a domain, so the columns of a load, of a reduction
over it and of a later store are one axis, while two coordinates of one domain in one value differ in `use`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .accesses import Axis, Coord, Effect, Load, Memory, Part, Store, View, holds, varying
from .combines import BUILTIN, Arg, Combine, builtin, builtin_name, identity
from .core import Term, arena, children, find, once, term, walk
from .dtypes import DType
from .index import Apply, AxisLike, Cast, Const, Extent, Param, Physical, Stride, Value
from .language import Language
from .ordered import Begin, Carry, Final, Recur, Turn, ends_behind_loops, states_in_loops
from .updates import Found, Update


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
        """All alike: components are reduced together, as fragments of one shape."""
        return [self.lanes for _ in self.values]


@term
class Scan(Value):
    """Every prefix of the members of an axis, in order: at each member, what there is up to and with it; with `reverse`
    of the members from the last to the first.  The axis is that of a coordinate around it."""

    axis: AxisLike
    combine: Combine
    values: tuple[Value, ...]
    identities: tuple[Const, ...]
    reverse: bool = False
    syntax = "scan {combine} over {axis} of {values} from {identities}{ reverse|reverse|}"

    def infer(self) -> Any:
        return _tuple_type(self.values, self.combine, self.identities)

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        lanes, needs = Term.axes(self)
        own = self.axis.coordinate_axes()
        return lanes | own[0], needs | own[1]


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

    @once
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
            for i, positions in enumerate(_taken(combine)):
                reached = lanes[at + i].union(*(lanes[at + position] for position in positions))
                changed |= reached != lanes[at + i]
                lanes[at + i] = reached
            at += len(combine.bodies)
    return lanes


@once
def _taken(combine: Combine) -> list[set[int]]:
    """The components that each body of a combine takes."""
    return [{a.position for a in find(body, Arg)} for body in combine.bodies]


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


PROCESSORS = 132
"""Of a usual device, where a program is for none."""


def processors_of(target: Target | None) -> int:
    """How many processors the device of a program has."""
    return target.processors if target is not None and target.capability else PROCESSORS


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
            if isinstance(t, (Load, Coord, Reduce, Scan, Contract, Region, Found)):
                yield f"a combine uses more than its arguments: {t}"
    if not any(True for _ in find(program, Arg)):
        return
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
    """What is stored, and whether, varies only where the address does; an update only along what it is over."""
    for u in find(program, Update):
        over = frozenset().union(*(a.coordinate_axes()[0] | a.lanes for a in u.over))
        parts = (*u.index, *u.operands, *((u.valid,) if u.valid is not None else ()))
        if more := frozenset().union(*(p.lanes for p in parts)) - over:
            yield f"varies along {', '.join(sorted(map(str, more)))}, but is not performed over it: {u}"
    for t in find(program, Store):
        yield from strays(t, "the stored value", t.value)
        if t.valid is not None:
            yield from strays(t, "the validity", t.valid)


def strays(t: Any, what: str, part: Value) -> Iterator[str]:
    """A complaint about `part` of the access `t`, if it varies along more axes than its address."""
    if more := part.lanes.difference(*map(varying, t.index)):
        axes = sorted(getattr(a, "name", None) or arena().names.get(a) or str(a) for a in more)
        yield f"{what} varies along {', '.join(axes)}, where the address does not: {t}"


NORMAL = Language(
    "normal",
    about=__doc__ or "",
    root=Program,
    rules=(closed_regions, addressed, states_in_loops, ends_behind_loops),
    terms=(
        Const, Extent, Stride, Param, Apply, Cast, Axis, Part, Coord, View, Load, Arg, Combine, Reduce, Scan, Contract,
        Region, Proj, Store, Update, Found, Target, Program, Turn, Carry, Final, Begin, Recur,
    ),
)  # fmt: skip


__all__ = [
    "BUILTIN", "NORMAL", "Arg", "Axis", "AxisLike", "Begin", "Carry", "Combine", "Contract", "Coord", "Effect", "Final",
    "Found", "Load", "Memory", "Part", "Physical", "Program", "Proj", "Recur", "Reduce", "Region", "Scan", "Store",
    "Target", "Turn", "Update", "View", "bound_axes", "builtin", "builtin_name", "check_parameters", "holds",
    "identity", "processors_of", "varying",
]  # fmt: skip
