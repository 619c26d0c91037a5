"""gpu: a block program as statements over named-axis fragments.

A fragment's axes are the physical parameters that size them, in no order: positions, layouts and memory spaces belong
to a provider.  A name is assigned once, except for the names that a loop declares as its `iter_args`, which its body
assigns again for the next iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from .blocked import (
    BLOCKED,
    Base,
    BlockedGroup,
    BlockedProgram,
    Branch,
    Fold,
    Loop,
    Perform,
    Point,
    Running,
    Segment,
    Slice,
    Tile,
    Traverse,
    Whole,
    branches_compute,
)
from .core import NO_AXES, Literal, Term, find, term, walk
from .dtypes import DType, bool_, index
from .grouped import Last, Sync
from .index import AxisLike, Physical, Value
from .normal import (
    Axis,
    Carry,
    Combine,
    Contract,
    Coord,
    Effect,
    Final,
    Load,
    Part,
    Proj,
    Recur,
    Reduce,
    Scan,
    Store,
    Target,
    Turn,
    Update,
    addressed,
    check_parameters,
    closed_regions,
    strays,
)
from .text import NUMBER, WORD
from .updates import Found


@term
class Var(Value):
    """A named value: a scalar, a fragment with these axes, or a tuple of such."""

    name: str
    dtype: DType | tuple[DType, ...]
    varies: tuple[Physical, ...] = ()
    syntax = "{name}"

    def infer(self) -> Any:
        if not WORD.match(self.name) or NUMBER.match(self.name):
            raise TypeError(f"{self.name!r} can't be the name of a variable")
        if isinstance(self.dtype, tuple) and len(self.dtype) < 2:
            raise TypeError(f"{self.name} is a tuple of {len(self.dtype)}")
        return self.dtype

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return frozenset(self.varies), NO_AXES


def _scalar_indices(variables: tuple[Var, ...]) -> None:
    for v in variables:
        if v.dtype is not index or v.varies:
            raise TypeError(f"{v.name} counts, so it is a scalar index")


def variable(name: str, dtype: Any, lanes: frozenset[Any]) -> Var:
    """A variable with these lanes in canonical order."""
    return Var(name, dtype, tuple(sorted(lanes, key=lambda p: p.name)))


@term
class Range(Value):
    """0, 1, 2, … along a fragment axis."""

    size: Physical
    syntax = "range(0, {size})"

    def infer(self) -> DType:
        return index

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return frozenset((self.size,)), NO_AXES


@term
class Full(Value):
    """A fragment that holds one number everywhere."""

    value: Literal
    dtype: DType
    extents: tuple[Physical, ...]
    syntax = "full<fragment<{dtype}, [{extents}]>>({value})"

    def infer(self) -> DType:
        return self.dtype

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return frozenset(self.extents), NO_AXES


@term
class Broadcast(Value):
    """A value repeated along more axes."""

    value: Value
    extents: tuple[Physical, ...]
    syntax = "broadcast({value}, [{extents}])"

    def infer(self) -> Any:
        return self.value.type

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return self.value.lanes | frozenset(self.extents), NO_AXES


@term
class ContractInto(Value):
    """accumulator + the products of left and right, summed over the axes that the accumulator lacks."""

    left: Value
    right: Value
    accumulator: Value
    syntax = "contract {left}, {right}, {accumulator}"

    def infer(self) -> DType:
        if self.left.type is not self.right.type:
            raise TypeError(f"contraction of {self.left.type} with {self.right.type}")
        return self.accumulator.type  # type: ignore[return-value]

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return self.accumulator.lanes, NO_AXES

    @property
    def summed(self) -> frozenset[Any]:
        return (self.left.lanes | self.right.lanes) - self.accumulator.lanes


@term
class Let(Effect):
    """Name a value, or assign a loop's carried name for the next iteration."""

    var: Var
    value: Value
    syntax = "{var} = {value}"

    def infer(self) -> None:
        if self.var.type != self.value.type or self.var.lanes != self.value.lanes:
            raise TypeError(
                f"{self.var.name} is {self.var.type} over {sorted(p.name for p in self.var.lanes)}, its value "
                f"{self.value.type} over {sorted(p.name for p in self.value.lanes)}"
            )

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class Fetch(Effect):
    """Perform an update, and name what it found."""

    var: Var
    update: Update
    syntax = "{var} = {update}"

    def infer(self) -> None:
        if self.var.type is not self.update.view.dtype or self.var.lanes != self.update.lanes:
            raise TypeError(f"{self.var.name} can't name what this finds: {self.update}")

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class For(Effect):
    """Ordered loop `var` = lo, lo + step, … below hi; `carries` are the names that it updates.

    One over `few` blocks, those at an end of a range whose other blocks have a loop of their own, is soon over."""

    var: Var
    lo: Value
    hi: Value
    step: Value
    carries: tuple[Var, ...]
    body: tuple[Effect, ...]
    note: str = ""
    few: bool = False
    defines: ClassVar[tuple[str, ...]] = ("var",)
    syntax = "for {var} = {lo} to {hi} step {step}{ few|few|}{ iter_args(|carries|)}{ # |note|}:{body:block}"

    def infer(self) -> None:
        _scalar_indices((self.var,))

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class While(Effect):
    """Perform the body as long as `condition`, one of the names that it updates, holds."""

    condition: Var
    carries: tuple[Var, ...]
    body: tuple[Effect, ...]
    note: str = ""
    syntax = "while {condition}{ iter_args(|carries|)}{ # |note|}:{body:block}"

    def infer(self) -> None:
        if self.condition.dtype is not bool_ or self.condition.varies or self.condition not in self.carries:
            raise TypeError(f"{self.condition.name} is no scalar bool that the loop updates")

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class If(Effect):
    """Statements performed where a scalar condition holds; they define no name outside."""

    condition: Value
    body: tuple[Effect, ...]
    syntax = "if {condition}:{body:block}"

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class Dispatch(Effect):
    """An execution group that shares its launch with others: performed by the instances whose `number` is in
    first..end; number - first is decoded row-major into `coordinates`, as the number of a kernel's instance is."""

    number: Var
    first: Value
    end: Value
    grid: tuple[Value, ...]
    coordinates: tuple[Var, ...]
    body: tuple[Effect, ...]
    grouping: int = 1
    defines: ClassVar[tuple[str, ...]] = ("coordinates",)
    syntax = "group {number} in {first}..{end} over ({grid}) at ({coordinates}){ grouping |grouping|}:{body:block}"

    def infer(self) -> None:
        _scalar_indices((self.number, *self.coordinates))

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class Kernel(Term):
    """One launch: a grid of instances, decoded row-major into `coordinates`, each performing `body`; of the last two
    coordinates, the former is taken `grouping` at a time.  `warps` and `registers` as a plan has them, or 0."""

    name: str
    physical: tuple[Physical, ...]
    parameters: tuple[Term, ...]
    grid: tuple[Value, ...]
    coordinates: tuple[Var, ...]
    body: tuple[Effect, ...]
    grouping: int = 1
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    warps: int = 0
    registers: int = 0
    defines: ClassVar[tuple[str, ...]] = ("coordinates",)
    syntax = (
        "kernel @{name}<{physical}>({parameters}){ permits |permissions|}{ for |target|}{ warps |warps|}"
        "{ registers |registers|} {{\n"
        "  grid = ({grid})\n  ({coordinates}) = program_coord(grid{, group |grouping|}){body:block}}}"
    )

    def infer(self) -> None:
        check_parameters(self.parameters)
        _scalar_indices(self.coordinates)


def scalar_control(kernel: Kernel) -> Iterator[str]:
    """Loop bounds, conditions and grid extents are scalars; the grid reads no device memory."""
    for s in find(kernel, For):
        for b in (s.lo, s.hi, s.step):
            if b.lanes or b.type is not index:
                yield f"loop bound {b} is no scalar index"
    for s in find(kernel, If):
        if s.condition.lanes or s.condition.type is not bool_:
            yield f"condition {s.condition} is no scalar bool"
    groups = list(find(kernel, Dispatch))
    for g in (*kernel.grid, *(x for d in groups for x in (d.first, d.end, *d.grid))):
        if g.lanes or any(isinstance(t, (Load, Var)) for t in walk(g)):
            yield f"grid extent {g} is no launch expression"


def defined_before_use(kernel: Kernel) -> Iterator[str]:
    """Every name is defined in a dominating place; only carried names are assigned again."""
    reserved = {p.name for p in kernel.parameters} | {p.name for p in kernel.physical}  # type: ignore[attr-defined]

    def uses(t: Term, known: set[Var]) -> Iterator[str]:
        for v in find(t, Var):
            if v not in known:
                yield f"{v.name} is used before it is defined"

    def block(body: tuple[Effect, ...], known: set[Var], carried: frozenset[Var]) -> Iterator[str]:
        for s in body:
            if isinstance(s, (Let, Fetch)):
                yield from uses(s.value if isinstance(s, Let) else s.update, known)
                if s.var in known and s.var not in carried:
                    yield f"{s.var.name} is assigned twice"
                if s.var.name in reserved or any(v.name == s.var.name and v is not s.var for v in known):
                    yield f"{s.var.name} means two things"
                known.add(s.var)
            elif isinstance(s, For):
                for b in (s.lo, s.hi, s.step, *s.carries):
                    yield from uses(b, known)
                yield from block(s.body, known | {s.var}, frozenset(s.carries))
            elif isinstance(s, While):
                for v in s.carries:
                    yield from uses(v, known)
                yield from block(s.body, set(known), frozenset(s.carries))
            elif isinstance(s, Dispatch):
                yield from uses(s.number, known)
                yield from block(s.body, known | set(s.coordinates), frozenset())
            elif isinstance(s, If):
                yield from uses(s.condition, known)
                yield from block(s.body, set(known), frozenset())
            else:
                yield from uses(s, known)

    yield from block(kernel.body, set(kernel.coordinates), frozenset())


def branches_named(kernel: Kernel) -> Iterator[str]:
    """A branch is what a name is bound to, one that is bound once: statements are made of it."""
    carried = {v for s in find(kernel, (For, While)) for v in s.carries}  # type: ignore[arg-type]
    let = {s.value for s in find(kernel, Let) if s.var not in carried}
    for t in walk(kernel):
        for c in t.parts:
            if isinstance(c, Branch) and not (isinstance(t, Let) and c in let):
                yield f"a branch without a name of its own: {c}"


def lanes_agree(kernel: Kernel) -> Iterator[str]:
    """A reduction's operand has its axis, which is a fragment axis; a contraction sums over one; a load's validity
    varies only where the address does."""
    for t in walk(kernel):
        if isinstance(t, Load) and t.valid is not None:
            yield from strays(t, "the validity", t.valid)
        if isinstance(t, Reduce) and not any(t.axis in v.lanes for v in t.values):
            yield f"reduction over {t.axis} of a value without that axis: {t}"
        if isinstance(t, ContractInto) and len(t.summed) != 1:
            yield f"a contraction sums over one axis, not {len(t.summed)}: {t}"
        if isinstance(t, (Reduce, Scan)) and not isinstance(t.axis, Physical):
            yield f"a {type(t).__name__} over {t.axis}, which is no fragment axis"


GPU = BLOCKED.extend(
    "gpu", root=Kernel, about=__doc__ or "",
    add=(Var, Range, Full, Broadcast, ContractInto, Let, Fetch, For, While, If, Dispatch, Kernel),
    remove=(Axis, Part, Coord, Contract, Tile, Point, Slice, Whole, Base, Fold, Traverse, Turn, Carry, Final, Recur,
    Running, Segment, Loop, Perform, Found, Last, BlockedGroup, BlockedProgram),
    rules=(closed_regions, addressed, scalar_control, defined_before_use, branches_compute, branches_named,
    lanes_agree),
)  # fmt: skip

__all__ = [
    "GPU", "AxisLike", "Branch", "Broadcast", "Combine", "ContractInto", "Dispatch", "Fetch", "For", "Full", "If",
    "Kernel", "Let", "Load", "Physical", "Proj", "Range", "Reduce", "Scan", "Store", "Sync", "Update", "Var", "While",
    "variable",
]  # fmt: skip
