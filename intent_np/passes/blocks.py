"""Block extents: a first choice for every axis, by what it does.  Physical parameters; a tuner may choose others.

Contractions: 128 x 128 tiles of the two free axes (128 x 256 where the operands are small), 128 bytes of the summed
axis.  Reductions along a row: a whole resident row, or blocks of it; short rows several at a time.  Pointwise: one run
along the contiguous axis, or square tiles where two axes are contiguous in different views.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from math import prod
from typing import Any

from ..errors import error
from ..rules.simplify import substitute
from ..terms.blocked import Point, Slice, Tile, Whole
from ..terms.core import arena, children, find, inherit, named, once, replace, walk
from ..terms.dtypes import DType, index
from ..terms.grouped import Group
from ..terms.index import Apply, AxisLike, Physical, is_const
from ..terms.normal import Axis, Contract, Coord, Load, Part, Recur, Reduce, Region, Scan, Store, Update
from ..terms.ordered import loops
from .expand_contractions import free_axes
from .legalize_dot import ACCUMULATORS
from .one_hot import counted
from .roles import axes, contiguous, extent_bound, is_resident

POINTWISE = 1024  # elements of a pointwise block: eight a thread
RECURRENT = 128  # of one whose loops go on for long, so that there are many of them
ROW_BLOCK = 4096  # elements of a traversal block, whose states take two registers at most
LINE, ACROSS = 128, 8192  # bytes of columns that fill a line of memory, and elements, where reductions run across them
SMALL_ROW = 2048  # elements that several short rows fill together
SHORT = 128  # rows, or columns, of a product that are few
PAIRS = 64, 128  # members of the two axes of which all meet all
LARGEST = 32768  # elements of a fragment: 64 registers of each of 16 warps' threads; half as many of 64 bits
ALONE = 8192  # of one of the only instance, which has all of it to compute and nobody else's to wait for
COUNTED = 8192  # of one whose members are counted by their numbers
SCANNED = 2048  # of one whose prefixes are made: each thread combines its own ones step by step


def power_of_two(n: int) -> int:
    """The least power of two that is not below `n`."""
    return 1 << max(0, n - 1).bit_length()


def fragments(group: Group, sizes: Mapping[str, int], names: set[str]) -> dict[Axis, AxisLike]:
    """The fragment axis that stands for each logical axis; `sizes` overrides extents by axis name, `names` are
    those that parameters have already.

    A ragged axis has the bounds that it has at the instance's point of the axes along which they vary.
    """
    every = axes(group.effects)
    extents, resident = planned(every) or block_extents(group)
    shared: dict[Any, Physical] = {}  # a block extent of the copies of one axis is one parameter
    sharing: dict[Any, list[Axis]] = {}
    together = held_together(group)
    owners = {b: None for a in every for b in sorted(a.lo.lanes | a.hi.lanes, key=lambda b: b.digest)}
    owners |= dict.fromkeys(_ending_apart(group))
    if apart := {b for b in owners if b not in group.workset}:
        where = (_span(e) for e in group.effects if any(apart & (a.lo.lanes | a.hi.lanes) for a in axes((e,))))
        what = "a domain whose bounds vary along an axis that instances do not own"
        raise error("E708", next(where, None), construct=what)
    points = {Coord(b): Coord(Point(b)) for b in owners}  # type: ignore[arg-type]
    directions: dict[Any, set[bool]] = {}
    for t in find(group.effects, Scan):
        directions.setdefault(t.axis, set()).add(t.reverse)
    out: dict[Axis, AxisLike] = {}
    for a in every:
        label = arena().names.get(a, "i")
        n = 1 if a in owners else sizes.get(label, extents[a])
        program = a in group.workset
        if program and n == 1:
            out[a] = named(Point(a), label)
            continue
        kind: Any = Tile if program else Whole if a in resident else Slice
        least = (extent_bound(a) or 1) if kind is Whole else 1  # a whole axis fits its fragment
        of: Any = (label, a.lo, a.hi, n) if a.role == "loop" else a
        while any(a in t and b in t for b in sharing.get(of, ()) for t in together):
            of = (of,)  # two axes of one fragment are told apart by their extents
        sharing.setdefault(of, []).append(a)
        if of not in shared:
            shared[of] = Physical(_parameter(label, names), power_of_two(max(n, least)))
        size = shared[of]
        more = (True,) if kind is Slice and directions.get(a) == {True} else ()  # the loop follows the scans
        out[a] = named(kind(_at(a, points), size, *more), label)
    for r in loops(group.effects):
        if any(isinstance(out.get(a), Slice) for s in r.states for a in s.varies):  # type: ignore[call-overload]
            what = "a carried tensor that is too long for an instance to hold"
            how = "write its extent into the annotation as a number, if it is small, or run it with target='reference'"
            raise error("E708", span=_span(r), construct=what, fix=how)
    return out


def _ending_apart(group: Group) -> list[Any]:
    """The axes whose members have numbers of iterations of their own: each has an instance of its own."""
    found: dict[Any, None] = {}
    for r in loops(group.effects):
        apart = r.turn.lanes | (r.condition.lanes if r.condition is not None else frozenset())
        if any(a not in group.workset for a in apart):
            raise error("E708", span=_span(r), construct="a loop that ends at other times for members of one instance")
        found |= dict.fromkeys(sorted(apart, key=lambda a: a.digest))
    return list(found)


def _span(t: Any) -> Any:
    return next(iter(arena().spans.get(t, ())), None)


def _at(a: Axis, points: Mapping[Any, Any]) -> Axis:
    lo, hi = (substitute(b, points, everywhere=True) for b in (a.lo, a.hi))
    return a if (lo, hi) == (a.lo, a.hi) else inherit(a, replace(a, lo=lo, hi=hi))  # type: ignore[no-any-return]


def _parameter(label: str, taken: set[str]) -> str:
    """`BM` for an axis `m`, `BLOCK_COLUMNS` for `columns`."""
    base = "B" + label.upper() if len(label) == 1 else "BLOCK_" + label.upper()
    name, i = base, 1
    while name in taken:
        name, i = f"{base}_{i}", i + 1
    taken.add(name)
    return name


def planned(every: list[Axis]) -> tuple[dict[Axis, int], set[Axis]] | None:
    """The extents and the whole axes that a plan has decided on, if there is one."""
    if not every or not all(a.role for a in every):
        return None
    return {a: a.block for a in every}, {a for a in every if a.role == "whole"}


def block_extents(group: Group, walked: Iterable[Axis] = ()) -> tuple[dict[Axis, int], set[Axis]]:
    """The extent of each axis' fragment, and the axes that are whole in theirs, by rules of thumb; those `walked` are
    not."""
    every = axes(group.effects)
    contracts = list(find(group.effects, Contract))
    carried = {a for r in loops(group.effects) for s in r.states for a in s.varies}
    cut = {r.axis for r in find(group.effects, Region)}  # a region is a loop over its axis
    held = lambda a: a in carried - cut and (extent_bound(a) or LARGEST + 1) <= LARGEST  # noqa: E731
    resident = {
        a: power_of_two(extent_bound(a) or 1)
        for a in every
        if a not in group.workset and a not in walked and (held(a) or is_resident(a, group.effects))
    }
    pairs = _pairs(group)
    for a in pairs.keys() & resident.keys():
        if resident[a] > pairs[a] and a not in carried:
            del resident[a]
    if contracts:
        chosen = _beside(group, contracts, _reduced(group, every, resident) | pairs) | _contracted(group, contracts)
    elif recurrent := _recurrent(group, every):
        chosen = recurrent
    elif any(a not in group.workset for a in every):
        chosen = _reduced(group, every, resident) | pairs
    else:
        chosen = _pointwise(group)
    extents = {a: resident.get(a) or a.block or chosen.get(a, 1) for a in every}  # a pass may have decided on some
    most = LARGEST if group.workset or contracts else ALONE
    for together, registers in held_together(group).items():
        _fit(together, extents, resident, carried, most // registers, LARGEST // registers)
    for t in find(group.effects, Scan):
        _fit(tuple(sorted(_whole_axes(t.lanes), key=lambda a: a.digest)), extents, resident, carried, SCANNED, LARGEST)
    return extents, set(resident)


def _pairs(group: Group) -> dict[Axis, int]:
    """Blocks of two axes whose members meet all with all: what is read along either serves the whole other block."""
    found: dict[Axis, int] = {}
    for t in find(group.effects, Reduce):
        loads = list(find(t.values, Load))
        if not isinstance(t.axis, Axis) or t.axis not in contiguous(loads):
            continue
        ranked = any(t.axis in r.lanes for r in find(t.values, Reduce))
        for a in (a for a in t.values[0].lanes - {t.axis} if isinstance(a, Axis)):
            beside = ranked or a in contiguous([x for x in loads if t.axis not in x.lanes])
            if beside and not any({a, t.axis} <= x.lanes for x in loads):
                for axis, size in zip((a, t.axis), PAIRS, strict=True):
                    found[axis] = min(size, found.get(axis, size))
    return found


@once
def held_together(group: Group) -> dict[tuple[Axis, ...], int]:
    """The axes of each value that a fragment has to hold, with the 32-bit registers of an element: the members of a
    reduction, whose components are of one shape, and the products of a contraction that no instruction takes, too."""
    found: dict[tuple[Axis, ...], int] = {}
    for t in walk(*group.effects, below=_held):
        lanes = _whole_axes(t.over if isinstance(t, Update) else t.lanes)
        if isinstance(t, Reduce) and counted(t) is None:
            lanes |= _whole_axes((t.axis,))
        if isinstance(t, Contract):
            beside = t.left.lanes & t.right.lanes - {t.axis}
            alone = all(a in group.workset for a in beside)  # else there is a matrix for each of several members
            if not alone or t.acc not in ACCUMULATORS.get(t.left.type, ()):  # type: ignore[arg-type]
                lanes |= _whole_axes(t.left.lanes | t.right.lanes)
        key = tuple(sorted(lanes, key=lambda a: a.digest))
        found[key] = max(found.get(key, 1), _registers(t))
    return found


def _registers(t: Any) -> int:
    """How many registers an element takes; coordinates are computed from a few, of one axis each."""
    types = t.type if isinstance(t.type, tuple) else (t.type,)
    held = not isinstance(t, (Apply, Coord))
    return 2 if any(isinstance(d, DType) and d.bytes == 8 and (held or d is not index) for d in types) else 1


def _held(t: Any) -> tuple[Any, ...]:
    """The values that a value is made of; no fragment holds what members and bins of a count are compared by."""
    parts = counted(t)
    return children(t) if parts is None else tuple(v for v in (parts.key, parts.valid) if v is not None)


def _whole_axes(lanes: Iterable[Any]) -> set[Axis]:
    """The axes that lanes are of; those of a region's part are of the axis that is cut."""
    return {b for a in lanes if isinstance(b := a.axis if isinstance(a, Part) else a, Axis)}


def _fit(
    together: tuple[Axis, ...],
    extents: dict[Axis, int],
    resident: dict[Axis, int],
    carried: Container[Any],
    most: int,
    whole: int,
) -> None:
    """Halve the largest blocks until a fragment has no more than `most` lanes; where whole axes alone have more than
    `whole`, give up that one is."""
    while (lanes := prod(extents[a] for a in together)) > most:
        free = [a for a in together if a not in resident and extents[a] > 1]
        if not free and lanes <= whole:
            break
        a = max(free or [a for a in together if a not in carried] or together, key=lambda a: extents[a])
        if a in resident:
            del resident[a]
            extents[a] = min(extents[a], ROW_BLOCK)
        else:
            extents[a] = power_of_two(extents[a]) // 2


def stores(group: Group) -> list[Any]:
    """The stores and updates of a group, in order."""
    return list(find(group.effects, (Store, Update)))  # type: ignore[arg-type]


def _store_order(group: Group) -> list[Axis]:
    return [a for e in stores(group) for i in e.index for a in sorted(i.lanes, key=lambda a: a.digest)]


def _contracted(group: Group, contracts: list[Any]) -> dict[Axis, int]:
    several = len(contracts) > 1 or any(True for _ in find(group.effects, Region))
    chained = any(True for t in contracts for _ in find((t.left, t.right), Contract))
    chosen: dict[Axis, int] = {}
    for t in contracts:
        width = max(1, t.left.type.bytes)
        row, column = sides(group, t)
        axis = getattr(t.axis, "axis", t.axis)
        if several:  # the result of one product is an operand of another, in registers; then one group of warps has all
            rows, columns, depth = 64 if chained else 128, 64, 64
        elif not _vectorized(t):  # addresses a lane at a time take registers, too
            rows, columns, depth = {1: (64, 256, 32), 2: (64, 256, 32), 4: (64, 128, 32)}.get(width, (64, 64, 16))
        elif width <= 2:
            rows, columns, depth = 128, 256 if _plain(group) else 128, 128 // width
        else:
            rows, columns, depth = (64, 128, 32) if width == 4 else (64, 64, 16)
        if not several and width <= 2 and _vectorized(t) and (few := _short(row, column)):
            rows, columns, depth = (*few, 256 // width)
        if row:
            chosen.setdefault(row, rows)
        if column:
            chosen.setdefault(column, columns)
        chosen.setdefault(axis, depth)
    return chosen


def sides(group: Group, t: Contract) -> tuple[Axis | None, Axis | None]:
    """The axes of the rows and of the columns of a product: of those that one operand alone varies along, the innermost
    in what is stored.  A side without one is a sum of products."""
    order = _store_order(group)
    owners = {b for a in axes(group.effects) for b in a.lanes}  # each has a point of its own
    place = {a: i for i, a in enumerate(order)}
    free = ([a for a in side if a not in owners] for side in free_axes(t))
    left, right = (max(side, key=lambda a: place.get(a, len(order)), default=None) for side in free)
    return left, right


def _beside(group: Group, contracts: list[Contract], chosen: dict[Axis, int]) -> dict[Axis, int]:
    """What is chosen for the inner axes that products have nothing to do with."""
    own = {b for t in contracts for b in _whole_axes((t.axis, *t.left.lanes, *t.right.lanes))}
    return {a: n for a, n in chosen.items() if a not in own and a not in group.workset}


def _short(row: Axis | None, column: Axis | None) -> tuple[int, int] | None:
    """The rows and columns of a product that has few of one of them: the other operand is read at the speed of memory,
    for which there have to be many instances."""
    if row is None or column is None:
        return None
    bounds = [extent_bound(a) or SHORT + 1 for a in (row, column)]
    few = max(16, power_of_two(min(bounds)))
    if few > SHORT:
        return None
    many = 64 if few < SHORT else 128
    few = min(few, 64)
    return (few, many) if bounds[0] <= bounds[1] else (many, few)


def _vectorized(t: Contract) -> bool:
    """Whether both operands are read from views with a unit stride."""
    return all(any(is_const(s, 1) for s in load.view.strides) for load in find((t.left, t.right), Load))


def _plain(group: Group) -> bool:
    """One store of one contraction: the accumulator may be large."""
    return len(stores(group)) == 1


def _pointwise(group: Group) -> dict[Axis, int]:
    runs = [a for a in contiguous(group.effects) if a in group.workset]
    run = RECURRENT if any(loops(group.effects)) else POINTWISE
    if len(runs) >= 2:
        return dict.fromkeys(runs[-2:], 64)
    if not group.workset:
        return {}
    along = (runs or [group.workset[-1]])[0]
    width = min(run, power_of_two(extent_bound(along) or run))
    beside = [a for a in group.workset if a is not along][-1:] if width < run else []  # rows, where they are short
    return {along: width} | dict.fromkeys(beside, run // width)


def _recurrent(group: Group, every: list[Axis]) -> dict[Axis, int]:
    """Members side by side where ordered loops go through their elements one by one, whatever is done in front of the
    loops and behind them; nothing where there are no such loops."""
    inner = [a for a in every if a not in group.workset]
    outermost = [e for e in group.effects if isinstance(e, Recur)]
    if not (inner and outermost and group.workset) or any(a in axes(outermost) for a in inner):
        return {}
    return {group.workset[-1]: RECURRENT} | dict.fromkeys(inner, POINTWISE // RECURRENT)


def _reduced(group: Group, every: list[Axis], resident: dict[Axis, int]) -> dict[Axis, int]:
    inner = [a for a in every if a not in group.workset]
    runs = contiguous(group.effects)
    chosen: dict[Axis, int] = {}
    outer = [a for a in group.workset if a in runs]
    along = [a for a in inner if a in runs]
    # members of a row that a fragment holds beside each other; those of different fragments are not
    rows = (prod(resident.get(a, 1) for a in together if a in inner) for together in held_together(group))
    row = max(rows, default=1)
    if outer and not along:  # the reduction runs across memory: blocks are wide along the contiguous program axis
        width = min((t.view.dtype.bytes for t in find(group.effects, Load) if outer[-1] in t.lanes), default=4)
        chosen[outer[-1]] = columns = LINE // max(2, min(4, width))
        return chosen | {a: ACROSS // columns for a in inner if a not in resident}
    short = max(1, SMALL_ROW // row)  # rows beside each other
    chosen |= {a: _row_block(group, a) if a in runs or row == 1 else short for a in inner if a not in resident}
    chosen |= {t.axis: COUNTED for t in find(group.effects, Reduce) if counted(t) is not None}
    if group.workset and inner and all(a in resident for a in inner) and row < SMALL_ROW:
        chosen[group.workset[-1]] = max(1, SMALL_ROW // row)
    return chosen


def _row_block(group: Group, a: Axis) -> int:
    """Elements of a block of a traversal: fewer where each has a large state, such as a number and its 64-bit place."""
    states = [sum(max(1, v.type.bytes // 4) for v in t.values) for t in find(group.effects, Reduce) if t.axis is a]
    return min(ROW_BLOCK, 2 * ROW_BLOCK // power_of_two(max(states, default=1)))
