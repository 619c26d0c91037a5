"""grouped -> blocked: every axis becomes blocks.

    group over (m, n)                                      blocked over (tile of m by BM, tile of n by BN)
    contract over k of a[m, k], b[k, n]                    fold sum over slice of k by BK of
                                                             contract over k of (a[m, k] valid m < M && k < K), …

A reduction, a contraction and a region are one loop form, `Fold`.  A reduction may permute, so it keeps partial results
apart lane by lane and reduces across lanes once, behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..rules.simplify import node, substitute, substitute_all
from ..terms.blocked import (
    BLOCKED,
    BlockedGroup,
    BlockedProgram,
    Fold,
    Point,
    Slice,
    Tile,
    Traverse,
    Whole,
    complete,
    member,
)
from ..terms.core import children, inherit, replace, walk
from ..terms.grouped import GROUPED, GroupedProgram, Last
from ..terms.index import AxisLike, Const, Value, conjunction, const, lt, select
from ..terms.normal import (
    Carry,
    Contract,
    Coord,
    Final,
    Load,
    Part,
    Proj,
    Reduce,
    Region,
    Scan,
    Store,
    Turn,
    Update,
    builtin,
    identity,
)
from ..terms.updates import Found
from .base import nanopass
from .blocks import fragments
from .one_hot import counted
from .scans import prefixes, scanned
from .weights import NOTHING, exponential, has_members, relative, weights


@nanopass(GROUPED, BLOCKED, allowed={"sizes": range(1, (1 << 20) + 1)})
def block_axes(program: GroupedProgram, *, sizes: Mapping[str, int] = {}, lanewise: bool = True) -> BlockedProgram:
    """Give each axis its fragment: program axes tiles or points, inner axes whole or sliced by a loop.

    Every access and every reduced operand gets the membership of its padded lanes as an ordinary predicate.
    Preserves each stored element; padded lanes touch nothing and combine as identities.
    """
    taken: set[str] = set()
    groups = []
    for group in program.groups:
        fragment = fragments(group, sizes, taken)
        blocking = _Blocking(fragment, lanewise, weights(group.effects))
        effects = tuple(blocking(e) for e in group.effects)
        groups.append(inherit(group, BlockedGroup(tuple(fragment[a] for a in group.workset), effects)))
    return BlockedProgram(
        program.name, program.parameters, tuple(groups), program.permissions, program.target,
        program.warps, program.registers,
    )  # fmt: skip


class _Blocking:
    def __init__(self, fragment: dict[Any, AxisLike], lanewise: bool, weights: Mapping[Any, Any]) -> None:
        self.fragment, self.lanewise, self.weights = fragment, lanewise, weights
        self.done: dict[Any, Any] = {}
        self.updates: dict[Update, Update] = {}  # what is performed inside of the loops
        self.prefixes: dict[Scan, tuple[Any, ...]] = {}  # the components of a scan

    def __call__(self, root: Any) -> Any:
        for t in walk(root, below=lambda t: () if t in self.done else children(t)):
            if t not in self.done:
                self.done[t] = inherit(t, self.step(t))
        return self.done[root]

    def of(self, axis: Any) -> Any:
        return self.fragment[axis.axis if isinstance(axis, Part) else axis]

    def step(self, t: Any) -> Any:
        match t:
            case Carry() | Final():
                varies = (self.of(a) for a in t.varies)
                kept = sorted((a for a in varies if not isinstance(a, Point)), key=lambda a: a.digest)
                return replace(node(t.rebuild(self.done)), varies=tuple(kept))  # type: ignore[union-attr]
            case Coord() if not isinstance(t.axis, Turn):
                # an inner axis keeps its logical coordinate until its binder decides which block it is in
                return (
                    Coord(self.of(t.axis)) if isinstance(self.of(t.axis), (Tile, Whole)) or self._scalar(t.axis) else t
                )
            case Reduce() | Contract() | Region():
                return self._bind(t)
            case Scan():
                self.prefixes[t] = found = self._scan(t)
                return found[0]
            case Proj(Scan() as scan, position):
                return self.prefixes[scan][position]
            case Load():
                return self._guarded(node(t.rebuild(self.done)))  # type: ignore[attr-defined]
            case Store():
                return self._store(node(t.rebuild(self.done)))  # type: ignore[attr-defined]
            case Update():
                return self._update(t)
            case Last(along, effects):
                return Last(self.of(along), tuple(self.done[e] for e in effects))
            case Found():
                return Found(self.updates[t.update])
            case Slice() | Tile() | Whole():
                return t
        return node(t.rebuild(self.done))

    def _scalar(self, axis: Any) -> bool:
        return not isinstance(self.of(axis), (Slice, Tile, Whole))

    def _guard(self, axis: Any) -> Value | None:
        """Membership of the lane that `axis` (logical, when its block is not chosen yet) stands for."""
        fragment = axis if isinstance(axis, (Tile, Whole, Slice)) else self.of(axis)
        p = member(fragment)
        # not simplified: a logical coordinate is certainly inside, and this one stands for a lane that may not be
        return None if p is None else lt(Coord(axis), fragment.axis.hi)

    def _guarded(self, t: Any) -> Any:
        lanes = sorted(frozenset().union(*(i.lanes for i in t.index)), key=lambda a: a.digest)
        return node(replace(t, valid=conjunction(t.valid, *(self._guard(a) for a in lanes))))

    def _store(self, t: Store) -> Any:
        lanes = t.value.lanes.union(*(i.lanes for i in t.index), t.valid.lanes if t.valid is not None else ())
        ordered = sorted(lanes, key=lambda a: a.digest)
        effect: Any = node(replace(t, valid=conjunction(t.valid, *(self._guard(a) for a in ordered))))
        lanes_of = (sorted(i.lanes, key=lambda a: a.digest) for i in reversed(t.index))
        return self._nested(effect, (a.axis if isinstance(a, Slice) else a for lanes in lanes_of for a in lanes))

    def _update(self, t: Update) -> Any:
        """An update in the blocks of what it is over; padded lanes are not valid."""
        over = tuple(self.of(a) for a in t.over)
        parts: Any = {a: self.done[a] for a in children(t) if a not in t.over} | dict(zip(t.over, over, strict=True))
        new = t.rebuild(parts)  # type: ignore[attr-defined]
        guards = (self._guard(a) for a in over if isinstance(a, (Tile, Whole, Slice)))
        self.updates[t] = effect = inherit(t, node(replace(new, valid=conjunction(new.valid, *guards))))
        return self._nested(effect, reversed(t.over))

    def _nested(self, effect: Any, axes: Iterable[Any]) -> Any:
        """An effect in the loops over the blocks of these axes, the innermost first."""
        t, nest = effect, dict.fromkeys(axes)
        carried = scanned(t)  # their loops are innermost, since they carry states
        for a in sorted(nest, key=lambda a: a not in self.fragment or self.of(a) not in carried):
            if a in self.fragment and isinstance(self.of(a), Slice):
                s = self.of(a)
                effect = Traverse(s, substitute(effect, {Coord(a): Coord(s)}))
        return effect

    def _bind(self, t: Any) -> Any:
        s = self.of(t.axis)
        here = {Coord(t.axis): Coord(s)}
        if isinstance(t, Region):
            here = {Coord(Part(t.axis)): Coord(s)}
            values = substitute_all((self.done[v] for v in t.values), here)
            return Fold(s, t.combine, values, t.identities)
        part = isinstance(t.axis, Part)  # inside a region, one block is in hand
        if isinstance(t, Contract):
            sides = substitute_all((self.done[t.left], self.done[t.right]), here)
            both = zip((t.left, t.right), sides, strict=True)
            left, right = (self._member(v, blocked, s, _zero(blocked)) for v, blocked in both)
            core = inherit(t, node(Contract(s, left, right, t.acc)))
            if part or not isinstance(s, Slice):
                return core
            return Fold(s, builtin("sum", t.acc), (core,), (identity("sum", t.acc),))
        values = substitute_all((self.done[v] for v in t.values), here)
        given = zip(t.values, values, t.identities, strict=True)
        values = tuple(self._member(v, blocked, s, i) for v, blocked, i in given)
        if part or not isinstance(s, Slice):
            return node(Reduce(s, t.combine, values, t.identities))
        if self.lanewise and all(s in v.lanes for v in values) and counted(t) is None:
            partial = inherit(t, Fold(s, t.combine, values, t.identities, True))
            return node(Reduce(s, t.combine, self._components(partial), t.identities))
        core = node(Reduce(s, t.combine, values, t.identities))
        return Fold(s, t.combine, self._components(core), t.identities)

    def _scan(self, t: Scan) -> tuple[Any, ...]:
        """The components of a scan at the member in hand."""
        s = self.of(t.axis)
        here = {Coord(t.axis): Coord(s)}
        values = substitute_all((self.done[v] for v in t.values), here)
        if t.reverse:  # padded lanes come first
            values = tuple(self._masked(v, s, i) for v, i in zip(values, t.identities, strict=True))
        block = inherit(t, node(Scan(s, t.combine, values, t.identities, t.reverse)))
        found = self._components(block)
        return prefixes(t, s, found) if isinstance(s, Slice) and not isinstance(t.axis, Part) else found

    def _components(self, t: Any) -> tuple[Any, ...]:
        return (t,) if not isinstance(t.type, tuple) else tuple(Proj(t, i) for i in range(len(t.type)))

    def _member(self, v: Any, blocked: Any, s: Any, neutral: Any) -> Any:
        """`v`, which is combined along `s`, in blocks: the identity for padded lanes, or what sums to the same."""
        if exponential(v) in self.weights and has_members(s):
            return relative(blocked, lambda x: self._masked(x, s, Const(NOTHING, x.type)))
        return self._masked(blocked, s, neutral)

    def _masked(self, v: Any, s: Any, neutral: Any) -> Any:
        """`v` for members, the identity for padded lanes; a value without the lane gets it from the predicate."""
        if complete(s) and s in v.lanes:
            return v
        return node(select(lt(Coord(s), s.axis.hi), v, neutral))


def _zero(v: Any) -> Value:
    return const(0, v.type)
