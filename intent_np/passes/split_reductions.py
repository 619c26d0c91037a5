"""grouped -> grouped: where few instances would go through many members, each takes a part, and the last one of them
combines what all have found.

    group over (n)                                group over (part, n)
      store y[n] = reduce sum over m of x[m, n]     store partial[part, n] = reduce sum over m_1 of x[m_1, n]
                                                    last along part {
                                                      sync 1
                                                      store y[n] = reduce sum over each of load partial[each, n]
                                                    }

m_1 are the members of the part: consecutive ones, in whole blocks.  How many parts there are is a launch expression, so
that the same call is always combined the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..rules.simplify import node, simplify, substitute
from ..terms.core import arena, contains, find, inherit, named, replace, rewrite, walk
from ..terms.grouped import GROUPED, Group, GroupedProgram, Last, Sync
from ..terms.index import Value, add, apply, const, is_const, le, mul, select, sub
from ..terms.normal import (
    Axis,
    Carry,
    Contract,
    Coord,
    Load,
    Part,
    Proj,
    Recur,
    Reduce,
    Region,
    Store,
    Turn,
    View,
    builtin,
    identity,
    processors_of,
)
from ..terms.ordered import asked_for, loops
from .base import nanopass
from .blocks import SHORT, block_extents, power_of_two, sides
from .expand_contractions import free_axes
from .lower_buffers import extent, visible, workspace
from .narrow_ranges import apply_combine
from .one_hot import bins_of
from .roles import STRUCTURED, contiguous, extent_bound, may_be_resident


class Cost(NamedTuple):
    """What is worth it, by the kind of a reduction.

    instances:  wanted on each processor, so that there are loads enough in flight
    parts:      at most; the last instance reads what all others wrote, alone
    members:    of a part, at least, and what divides their number
    block:      parts that are combined at a time, where there are other axes
    """

    instances: int
    parts: int
    members: int
    block: int


ALONG = Cost(4, 1024, 4096, 16)
"""Of elements side by side: a block of them is a wide load for every thread."""
ACROSS = Cost(4, 512, 128, 64)
"""Of rows, for each of many columns."""
COUNTS = Cost(4, 1024, 8192, 32)
"""Of members that are counted by their numbers: whoever is last reads a row of counts of each part."""
SLICES = Cost(2, 32, 512, 1)
"""Of folds of slices, whose summaries are combined one after the other."""
PRODUCT = Cost(2, 16, 512, 1)
"""Of matrix products, whose partial results are tiles."""

WORTH = 8
"""Parts of the least size that there are to be, so that a ticket is cheap beside what is read."""


class Split(NamedTuple):
    """How a group could be split.

    reductions:  the outermost ones, each of which goes through all of `along`, the outer axes first
    blocks:      the instances that there are otherwise
    likely:      how many there are where it is not known yet whether the rows or columns of a product are few
    """

    reductions: tuple[Any, ...]
    along: tuple[Axis, ...]
    blocks: Value
    likely: Value
    cost: Cost

    @property
    def members(self) -> Value:
        """How many members each instance goes through otherwise."""
        total: Any = const(1)
        for a in self.along:
            total = node(mul(total, extent(a.lo, a.hi)))
        return total  # type: ignore[no-any-return]

    def pays(self, processors: int) -> Value:
        """Whether a call has few instances that go through many members."""
        few = node(le(node(mul(self.likely, const(2))), const(processors)))
        many = node(le(const(WORTH * self.cost.members), self.members))
        return node(apply("and", few, many))  # type: ignore[no-any-return]


@nanopass(GROUPED, GROUPED, allowed={"instances": range(1 << 20), "members": range(1 << 30), "parts": range(1 << 20)})
def split_reductions(
    program: GroupedProgram, *, split: bool = False, instances: int = 0, parts: int = 0, members: int = 0
) -> GroupedProgram:
    """Spread reductions and matrix products over instances along what they go through, where a call has few others.

    That is known of the class of a call: `split`.  `instances` are wanted of each group, `parts` are at most made, of
    at least `members`; where they are 0, by the device and by a first cost model.
    Behind grouping, which decides what the other instances are, and before blocks are chosen.
    Preserves values up to the order in which members are combined, which is that of the parts and fixed for a call.
    """
    if not split:
        return program
    made = _Parts(program, instances, parts, members, processors_of(program.target))
    groups = tuple(made.group(g) for g in program.groups)
    return replace(program, parameters=(*program.parameters, *made.views), groups=groups)  # type: ignore[no-any-return]


def found(group: Group) -> Split | None:
    """How the reductions of a group could be split, if one instance of several may do all that is left behind them."""
    loads = find(group.effects, Load)
    if group.serial or not all(isinstance(e, Store) for e in group.effects) or any(t.after is not None for t in loads):
        return None
    heads = _outermost(group.effects)
    chains = [_chain(t) for t in heads]
    along = tuple(t.axis for t in chains[0]) if chains else ()
    if not along or any(tuple(t.axis for t in chain) != along for chain in chains):
        return None
    if not all(isinstance(a, Axis) and not a.role and visible(a.lo) and visible(a.hi) for a in along):
        return None
    if not all(_is_whole(chain, group) for chain in chains):
        return None
    left = walk(*group.effects, below=lambda t: () if t in heads else asked_for(t))
    inner = {t.axis for t in left if isinstance(t, Coord)}.difference(group.workset)
    if not all(isinstance(a, Axis) and may_be_resident(a, group.effects) for a in inner):
        return None  # whoever is last would go through many members alone
    extents = block_extents(group)[0]
    blocks = likely = _instances(group, extents)
    products = [chain[-1] for chain in chains if isinstance(chain[-1], Contract) and all(free_axes(chain[-1]))]
    if products:
        row, column = sides(group, products[0])
        if row in group.workset and column in group.workset and not (extent_bound(row) or extent_bound(column)):  # type: ignore[arg-type]
            short = _instances(group, extents | dict.fromkeys((row, column), FEW_ROWS))
            fewer = apply("minimum", *(extent(a.lo, a.hi) for a in (row, column)))  # type: ignore[union-attr]
            likely = simplify(select(le(fewer, const(SHORT)), short, blocks))
    cost = PRODUCT if products else ALONG if along[-1] in contiguous(group.effects) else ACROSS
    cost = SLICES if any(isinstance(t, Region) for t in heads) else cost
    cost = COUNTS if any(bins_of(chain[-1]) for chain in chains) else cost
    return Split(tuple(heads), along, blocks, likely, cost)


FEW_ROWS = 64
"""Members in a block of either side of a product that has few of one."""


def _instances(group: Group, extents: Mapping[Any, int]) -> Value:
    """How many instances a group has with blocks of these extents."""
    blocks: Any = const(1)
    for a in group.workset:
        blocks = mul(blocks, apply("ceil_div", extent(a.lo, a.hi), const(extents[a])))
    return simplify(blocks)  # type: ignore[no-any-return]


def _outermost(effects: tuple[Any, ...]) -> list[Any]:
    """The structured values that are inside of no other one."""
    seen: dict[Any, None] = {}
    stack: list[Any] = list(effects)
    while stack:
        t = stack.pop()
        if t not in seen:
            seen[t] = None
            stack.extend(() if isinstance(t, STRUCTURED) else asked_for(t))
    return [t for t in walk(*effects) if t in seen and isinstance(t, STRUCTURED)]


def _chain(t: Any) -> tuple[Any, ...]:
    """A reduction and those inside of it that only go on with it along other axes."""
    if not isinstance(t, Reduce):
        return (t,)
    inner: Any = t.values[0]
    if len(t.values) > 1:
        whole = inner.value if isinstance(inner, Proj) else inner
        inner = whole if t.values == _components(whole) else None
    if isinstance(inner, Reduce):
        goes_on = inner.combine is t.combine and inner.identities == t.identities
    else:
        goes_on = isinstance(inner, Contract) and t.combine is builtin("sum", inner.acc)
    return (t, *_chain(inner)) if goes_on else (t,)


def _is_whole(chain: tuple[Any, ...], group: Group) -> bool:
    """Whether every instance goes through the members once, and computes nothing dear for each of them."""
    head, core = chain[0], chain[-1]
    if isinstance(core, Region):
        return contains(core, Load) and _is_whole_region(core, group)
    plain = isinstance(core, (Reduce, Contract)) and not any(contains(v, *STRUCTURED) for v in _operands(core))
    return plain and contains(core, Load) and set(head.lanes) - {bins_of(core)} == set(group.workset)


def _is_whole_region(t: Region, group: Group) -> bool:
    """The same of a fold of slices, whose summaries may be tensors that a fragment holds."""
    inner = [x.axis for v in t.values for x in find(v, STRUCTURED)]
    own = {a for lanes in t.component_lanes() for a in lanes if a not in group.workset}
    held = own.union(a for a in inner if a is not Part(t.axis))
    return set(group.workset) <= set(t.lanes) and all(
        isinstance(a, Axis) and visible(a.lo) and visible(a.hi) and may_be_resident(a, group.effects) for a in held
    )


def _operands(t: Any) -> tuple[Value, ...]:
    return (t.left, t.right) if isinstance(t, Contract) else t.values  # type: ignore[no-any-return]


def _components(t: Any) -> tuple[Any, ...]:
    return (t,) if not isinstance(t.type, tuple) else tuple(Proj(t, i) for i in range(len(t.type)))


class _Parts:
    """Splits the groups of a program, with memory for what the instances find."""

    def __init__(self, program: GroupedProgram, instances: int, parts: int, members: int, processors: int) -> None:
        self.instances, self.parts, self.members, self.processors = instances, parts, members, processors
        self.taken = {t.name for t in program.parameters} | {v.name for v in find(program, View)}  # type: ignore[attr-defined]
        self.use = max((a.use for a in find(program, Axis)), default=0)
        self.views: list[View] = []
        self.turns = {r.turn.name for g in program.groups for r in loops(g.effects)}

    def group(self, group: Group) -> Group:
        """The group with an instance for each part, or as it is."""
        split = found(group)
        if split is None:
            return group
        most = self.parts or split.cost.parts
        counts = self._counts(split, most)
        total: Any = const(1)
        for n in counts:
            total = mul(total, n)
        total = simplify(apply("minimum", total, const(most)))  # it is no more, but that shows here
        total = total if is_const(total) else named(total, "parts")
        part = self._axis("part", total)
        pieces = self._pieces(split, counts, part)
        lone = not any(head.lanes for head in split.reductions)
        how = ("loop", split.cost.block) if not lone else ("whole", power_of_two(most))
        members = self._axis("each", total, *how)
        sync, stores, folds = Sync(1), [], []
        final: dict[Any, Any] = {}
        for head in split.reductions:
            if isinstance(head, Region):
                kept, fold = self._region(head, group, part, pieces, sync)
                stores += kept
                folds.append(fold)
                results = [fold.final(i) for i in range(len(kept))]
                final |= dict(zip(_components(head), results, strict=True))
                continue
            partial = _over(_chain(head), pieces)
            loads = []
            for value in _components(partial):
                store, load = self._kept(value, head.lanes, head, group, part, Coord(members), sync)
                stores.append(store)
                loads.append(load)
            combine, identities = _combining(head)
            final[head] = inherit(head, node(Reduce(members, combine, tuple(loads), identities)))
        rest = tuple(substitute(e, final, everywhere=True) for e in group.effects)
        last = Last(part, (sync, *folds, *rest))
        return replace(group, workset=(part, *group.workset), effects=(*stores, last))  # type: ignore[no-any-return]

    def _counts(self, split: Split, most: int) -> list[Value]:
        """How many parts there are along each axis; the outer ones have them member by member."""
        wanted = const(self.instances or split.cost.instances * self.processors)
        left: Any = apply("minimum", apply("floordiv", wanted, apply("maximum", split.blocks, const(1))), const(most))
        counts: list[Value] = []
        for a in split.along:
            pieces = apply("ceil_div", extent(a.lo, a.hi), const(self._least(split, a)))
            count = simplify(apply("maximum", apply("minimum", left, pieces), const(1)))
            left = apply("floordiv", left, count)
            counts.append(count)
        return counts

    def _least(self, split: Split, a: Axis) -> int:
        return (self.members or split.cost.members) if a is split.along[-1] else 1

    def _pieces(self, split: Split, counts: list[Value], part: Axis) -> dict[Axis, Axis]:
        """The members of a part along each axis."""
        pieces: dict[Axis, Axis] = {}
        rest: Any = Coord(part)
        for a, n in zip(reversed(split.along), reversed(counts), strict=True):
            outermost = a is split.along[0]
            number = rest if outermost else node(apply("mod", rest, n))
            rest = rest if outermost else node(apply("floordiv", rest, n))
            least = const(self._least(split, a))
            length: Any = simplify(mul(apply("ceil_div", extent(a.lo, a.hi), mul(n, least)), least))
            length = length if is_const(length) else named(length, "length")
            lo = simplify(add(a.lo, mul(number, length)))
            hi = simplify(apply("minimum", a.hi, add(lo, length)))
            pieces[a] = inherit(a, named(Axis(lo, hi, a.use), arena().names.get(a, "i")))
        return pieces

    def _axis(self, name: str, extent: Value, role: str = "", block: int = 0) -> Axis:
        """A new axis of all parts."""
        self.use += 1
        return named(Axis(const(0), extent, self.use, role, block), name)  # type: ignore[no-any-return]

    def _region(
        self, head: Region, group: Group, part: Axis, pieces: dict[Axis, Axis], sync: Sync
    ) -> tuple[list[Store], Recur]:
        """The stores of the summaries of each part, and the loop that combines them in order."""
        piece = pieces[head.axis]
        values = rewrite(head.values, lambda t: piece if t is head.axis else node(t))
        partial = inherit(head, Region(piece, head.combine, tuple(values), head.identities))
        name = "each"
        while name in self.turns:
            name += "_"
        self.turns.add(name)
        turn = named(Turn(name, self._axis("each", part.hi)), "each")
        stores, loads, states = [], [], []
        for i, (value, lanes) in enumerate(zip(_components(partial), head.component_lanes(), strict=True)):
            every = lanes.union(group.workset)
            store, load = self._kept(value, every, head, group, part, Coord(turn), sync)
            stores.append(store)
            loads.append(load)
            states.append(Carry(turn, i, value.type, tuple(sorted(every, key=lambda a: a.digest))))
        yields = apply_combine(head.combine, tuple(states), tuple(loads))
        return stores, inherit(head, Recur(turn, tuple(states), head.identities, yields, ()))  # type: ignore[arg-type]

    def _kept(
        self, value: Any, lanes: Any, head: Any, group: Group, part: Axis, each: Value, sync: Sync
    ) -> tuple[Store, Load]:
        """The store of what an instance finds, along these lanes, and the load of what all have found."""
        axes = (*group.workset, *sorted(lanes.difference(group.workset), key=lambda a: a.digest))
        shape = [part.hi, *(extent(a.lo, a.hi) for a in axes)]
        view = workspace("partial", value.type, shape, self.taken)
        self.views.append(view)
        at = tuple(node(sub(Coord(a), a.lo)) for a in axes)
        store = inherit(head, Store(view, (Coord(part), *at), value))
        return store, Load(view, (each, *at), after=sync)


def _over(chain: tuple[Any, ...], pieces: dict[Axis, Axis]) -> Any:
    """A chain of reductions over these axes instead of its own."""
    t = chain[0]
    axis = pieces[t.axis]
    if len(chain) > 1:
        return inherit(t, node(Reduce(axis, t.combine, _components(_over(chain[1:], pieces)), t.identities)))
    operands: Any = [substitute(v, {Coord(a): Coord(b) for a, b in pieces.items()}) for v in _operands(t)]
    if isinstance(t, Contract):
        left, right = operands
        return inherit(t, node(Contract(axis, left, right, t.acc)))
    return inherit(t, node(Reduce(axis, t.combine, tuple(operands), t.identities)))


def _combining(head: Any) -> tuple[Any, tuple[Any, ...]]:
    """What combines two partial results, and what there is of nothing."""
    if isinstance(head, Contract):
        return builtin("sum", head.acc), (identity("sum", head.acc),)
    return head.combine, head.identities
