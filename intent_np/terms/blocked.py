"""blocked: every axis is a fragment axis, every loop is a Fold, a Traverse, or the Loop that shares several of them.

A program axis is a `Tile` (or a `Point` where the block is one member), a looped axis a `Slice`, a resident axis a
`Whole`.  Reductions and contractions work on one block.  Membership of padded lanes is an ordinary predicate.
`lanes` says how a value varies, `needs` which loops must be open where it is computed; they differ exactly for a
reduction inside a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import NO_AXES, Term, children, find, once, term, walk
from .dtypes import DType, bool_, index
from .grouped import GROUPED, Group, GroupedProgram, settled
from .index import AxisLike, Const, Physical, Value, is_const, lt
from .normal import (
    Axis,
    Combine,
    Contract,
    Coord,
    Effect,
    Load,
    Reduce,
    Region,
    Scan,
    Target,
    addressed,
    bound_axes,
    check_parameters,
    closed_regions,
    ends_behind_loops,
    state_lanes,
    states_in_loops,
)
from .updates import Found


@term
class Tile(AxisLike):
    """A block of an axis, owned by a program instance."""

    axis: Axis
    size: Physical
    syntax = "tile of {axis} by {size}"
    binds = True


@term
class Point(AxisLike):
    """One member of an axis, owned by a program instance: its coordinate is a scalar."""

    axis: Axis
    syntax = "point of {axis}"
    binds = True

    def coordinate_axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, NO_AXES


@term
class Slice(AxisLike):
    """A block of an axis, owned by a loop; the loop takes the last block first where it is `descending`."""

    axis: Axis
    size: Physical
    descending: bool = False
    syntax = "slice of {axis} by {size}{ descending|descending|}"
    binds = True

    def coordinate_axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return frozenset((self,)), frozenset((self,)) | self.needs


@term
class Whole(AxisLike):
    """A whole axis in one padded fragment."""

    axis: Axis
    size: Physical
    syntax = "whole {axis} in {size}"
    binds = True


@term
class Base(Value):
    """First coordinate of the block in hand: a scalar."""

    axis: AxisLike
    syntax = "base({axis})"

    def infer(self) -> DType:
        return index

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return NO_AXES, self.axis.coordinate_axes()[1]


def _loop_axes(t: Term, slice: AxisLike, keep: bool = False) -> tuple[frozenset[Any], frozenset[Any]]:
    lanes, needs = bound_axes(t, slice)
    return (lanes | {slice} if keep else lanes), needs - {slice}


@term
class Branch(Value):
    """`value` where `condition` holds, which is a scalar, and `otherwise` elsewhere: of the two an instance computes
    one."""

    condition: Value
    value: Value
    otherwise: Value
    syntax = "branch({condition}, {value}, {otherwise})"

    def infer(self) -> Any:
        if self.condition.type is not bool_ or self.condition.lanes:
            raise TypeError(f"a branch on {self.condition}, which is no scalar bool")
        if self.value.type is not self.otherwise.type:
            raise TypeError(f"a branch between {self.value.type} and {self.otherwise.type}")
        return self.value.type


@term
class Fold(Value):
    """Loop over the blocks of an axis, combining the blocks' summaries.  With `lanewise` the partial results stay
    apart, one for each lane of the block, to be reduced once behind the loop."""

    slice: Slice
    combine: Combine
    values: tuple[Value, ...]
    identities: tuple[Const, ...]
    lanewise: bool = False
    syntax = "fold {combine} over {slice} of {values} from {identities}{ lanewise|lanewise|}"

    def infer(self) -> Any:
        dtypes = tuple(v.type for v in self.values)
        if dtypes != self.combine.dtypes:
            raise TypeError(f"fold of {dtypes} with a combine of {self.combine.dtypes}")
        return dtypes[0] if len(dtypes) == 1 else dtypes

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return _loop_axes(self, self.slice, self.lanewise)

    @once
    def component_lanes(self) -> list[frozenset[Any]]:
        kept = frozenset() if self.lanewise else frozenset((self.slice,))
        return state_lanes((self.combine,), [v.lanes - kept for v in self.values])


@term
class Traverse(Effect):
    """Loop over the blocks of an axis, performing an effect for each."""

    slice: Slice
    effect: Effect
    syntax = "traverse {slice}: {effect}"

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return _loop_axes(self, self.slice)


@term
class Running(Value):
    """Component `position` of what the blocks before the one in hand combine to, in the order of the loop over `slice`;
    `values` are the summaries of a block."""

    slice: Slice
    combine: Combine
    values: tuple[Value, ...]
    identities: tuple[Const, ...]
    position: int
    syntax = "running {position} of {combine} over {slice} of {values} from {identities}"

    def infer(self) -> DType:
        if tuple(v.type for v in self.values) != self.combine.dtypes:
            raise TypeError(f"{self.combine.dtypes} of {[v.type for v in self.values]}")
        return self.combine.dtypes[self.position]

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        lanes = state_lanes((self.combine,), [v.lanes - {self.slice} for v in self.values])
        return lanes[self.position], Term.axes(self)[1] | {self.slice}


@term
class Segment(Term):
    """Part lo..hi of a loop's range, in whole blocks from `lo`, with the loop's values and effects as they simplify
    there.  In a `decided` one the predicates that its loop splits at all hold; `note` is for readers."""

    lo: Value
    hi: Value
    values: tuple[Value, ...]
    effects: tuple[Effect, ...]
    note: str = ""
    decided: bool = False
    syntax = "segment {lo}..{hi}{ decided|decided|}{ as |note|}{ values |values|}{ effects |effects|}"
    binds = True


@term
class Loop(Value):
    """One loop over the blocks of an axis that serves several folds and traversals, in segments of its range.

    Before `apply_combines` a segment's values are the summaries of its blocks; after it (`stepped`) they are the next
    states, over `Carry`.  The value is the tuple of final states.
    """

    slice: Slice
    combines: tuple[Combine, ...]
    identities: tuple[Const, ...]
    segments: tuple[Segment, ...]
    lanewise: tuple[bool, ...] = ()
    stepped: bool = False
    syntax = (
        "loop over {slice}{ combining |combines|}{ from |identities|}{ lanewise |lanewise|}{ stepped|stepped|} "
        "in {segments}"
    )
    binds = True

    def infer(self) -> Any:
        return tuple(d for c in self.combines for d in c.dtypes)

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        return _loop_axes(self, self.slice, any(self.lanewise))

    @once
    def component_lanes(self) -> list[frozenset[Any]]:
        """The axes of each state."""
        lanewise = [w for c, w in zip(self.combines, self.lanewise, strict=True) for _ in c.dtypes]
        lanes: list[frozenset[Any]] = [
            frozenset().union(*(s.values[i].lanes for s in self.segments)) for i in range(len(self.identities))
        ]
        kept = [x if w else x - {self.slice} for x, w in zip(lanes, lanewise, strict=True)]
        return state_lanes(self.combines, kept)


@term
class Perform(Effect):
    """Run a loop for its effects."""

    loop: Loop
    syntax = "perform {loop}"


@term
class BlockedGroup(Term):
    """An execution group over the blocks of `space`, the slowest first; of the last two axes, the blocks of the former
    are taken `grouping` at a time."""

    space: tuple[AxisLike, ...]
    effects: tuple[Effect, ...]
    grouping: int = 1
    syntax = "blocks over ({space}){ grouping |grouping|} {{{effects:block}}}"


@term
class BlockedProgram(Term):
    """One launch: disjoint execution groups; `warps` and `registers` as a plan has them, or 0."""

    name: str
    parameters: tuple[Term, ...]
    groups: tuple[BlockedGroup, ...]
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    warps: int = 0
    registers: int = 0
    syntax = (
        "blocked @{name}({parameters}){ permits |permissions|}{ for |target|}{ warps |warps|}{ registers |registers|} "
        "{{{groups:block}}}"
    )

    def infer(self) -> None:
        check_parameters(self.parameters)


def scoped(roots: tuple[Any, ...], slice: Slice) -> list[Any]:
    """The terms that belong to one loop over `slice`: loops that bind it again stay closed."""
    seen: dict[Any, None] = {}
    stack = list(reversed(roots))
    while stack:
        t = stack.pop()
        if t not in seen:
            seen[t] = None
            if not (isinstance(t, Loop) and t.slice is slice):
                stack.extend(reversed(children(t)))
    return list(seen)


@once
def complete(axis: AxisLike) -> bool:
    """Proof that every lane of every block is a member: the axis' extent is a known multiple of the block."""
    from ..rules.facts import multiple_of

    if isinstance(axis, (Tile, Slice)):
        from .index import sub

        return multiple_of(sub(axis.axis.hi, axis.axis.lo), axis.size.value)
    if isinstance(axis, Whole):
        return is_const(axis.axis.lo, 0) and is_const(axis.axis.hi, axis.size.value)
    return True


def member(axis: AxisLike) -> Value | None:
    """Membership of a lane, None where it is certain."""
    if complete(axis):
        return None
    return lt(Coord(axis), axis.axis.hi)  # type: ignore[attr-defined]


def only_fragments(program: BlockedProgram) -> Iterator[str]:
    """Coordinates run over fragment axes: of the space, of a loop around them, or whole ones."""
    for g in program.groups:
        for e in g.effects:
            for a in sorted(e.needs, key=lambda a: a.digest):
                yield f"a block of {a} outside of a loop over it: {e}"
        for t in walk(*g.effects):
            if isinstance(t, (Coord, Base)) and isinstance(t.axis, (Tile, Point)) and t.axis not in g.space:
                yield f"a coordinate over {t.axis}, which is not in the program space: {t}"
    for t in walk(program):
        if isinstance(t, Coord) and isinstance(t.axis, Axis):
            yield f"a coordinate over a logical axis is left: {t}"
        if isinstance(t, (Reduce, Scan, Contract)) and isinstance(t.axis, Axis):
            yield f"a {type(t).__name__} over a logical axis is left: {t}"


def branches_compute(program: Term) -> Iterator[str]:
    """What only one side of a branch needs is computed of values that are there: no access, no loop, no product."""
    for t in find(program, Branch):
        own = set(walk(t.value)) - set(walk(t.condition, t.otherwise))
        for u in sorted(own, key=lambda u: u.digest):
            if isinstance(u, (Load, Found, Reduce, Scan, Contract, Fold, Loop, Running)):
                yield f"a {type(u).__name__} on one side of a branch: {t}"


BLOCKED = GROUPED.extend(
    "blocked", root=BlockedProgram,
    add=(Physical, Tile, Point, Slice, Whole, Base, Branch, Fold, Traverse, Running, Segment, Loop, Perform,
    BlockedGroup, BlockedProgram),
    remove=(Group, GroupedProgram, Region), about=__doc__ or "",
    rules=(closed_regions, addressed, states_in_loops, ends_behind_loops, settled, only_fragments, branches_compute),
)  # fmt: skip
