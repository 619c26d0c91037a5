"""blocked -> blocked: every lane of every access is a member of the axes that it goes along, by proof or by a mask.

    loop 0..N//B*B: load x[c]                    proved: these blocks are whole
    loop N//B*B..N: load x[c] valid c < N        proved: the condition holds of members alone
    loop lo..hi: load x[c]                       not proved, and becomes: load x[c] valid c < N

That members are inside of what they index is proved where the author's program is read (E301).  Blocks may be longer
than what they are cut from, and nothing of them may be left over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..rules.affine import Affine, affine, combine, difference, from_affine
from ..rules.facts import at_most, multiple_of, nonnegative
from ..rules.simplify import node, simplify
from ..terms.blocked import BLOCKED, Base, BlockedProgram, Loop, Segment, Slice, Tile, Whole, complete, scoped
from ..terms.core import find, inherit, replace, walk
from ..terms.index import Const, Physical, Value, add, conjunction, conjuncts, const, is_const, is_op, lt, mul, sub
from ..terms.normal import Coord, Load, Store, Update
from .base import nanopass


@nanopass(BLOCKED, BLOCKED, needed="proves every access, or masks it")
def verify_memory(program: BlockedProgram) -> BlockedProgram:
    """Prove that no lane of an access is past the end of its axis; mask the lanes of which that is not proved.

    Last before statements are emitted: from here on no mask is taken away.
    Preserves what members load and store.
    """
    open_lanes: dict[Any, list[Any]] = {}
    for g in program.groups:
        for access, axis in unproved(g.effects):
            open_lanes.setdefault(access, []).append(node(lt(Coord(axis), axis.axis.hi)))
    if not open_lanes:
        return program

    done: dict[Any, Any] = {}
    for t in walk(program):
        new: Any = t.rebuild(done)  # type: ignore[attr-defined]
        if t in open_lanes:
            new = replace(new, valid=conjunction(new.valid, *open_lanes[t]))
        done[t] = inherit(t, new)
    return done[program]  # type: ignore[no-any-return]


def unproved(effects: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The accesses that may have lanes which are no members, each with the axis that they are past the end of."""
    whole: dict[tuple[Any, Any], bool] = {}  # accesses in segments of loops: whether every block there is whole
    for loop in find(tuple(effects), Loop):
        for segment in loop.segments:
            inside = whole_blocks(loop.slice, segment)
            for t in scoped((*segment.values, *segment.effects), loop.slice):
                if isinstance(t, (Load, Store, Update)):
                    whole[t, loop.slice] = whole.get((t, loop.slice), True) and inside
    for t in find(tuple(effects), (Load, Store, Update)):  # type: ignore[arg-type]
        for axis in lanes(t):
            if not (whole.get((t, axis), False) or masked(axis, t.valid)):
                yield t, axis


def lanes(t: Any) -> list[Any]:
    """The fragment axes that an access has lanes along."""
    along: frozenset[Any] = frozenset().union(*(i.lanes for i in t.index))
    if isinstance(t, Update):
        along |= {a for a in t.over if isinstance(a, (Tile, Slice, Whole))}
    return sorted((a for a in along if not complete(a)), key=lambda a: a.digest)


def masked(axis: Any, valid: Value | None, seen: tuple[Any, ...] = ()) -> bool:
    """Proof that a condition holds of no lane past the end of the axis."""
    end = axis.axis.hi
    for p in conjuncts(valid):
        if is_const(p, False) or p is node(lt(Coord(axis), end)):
            return True
        limit = _limit(p, axis)
        if limit is None:
            continue
        most: Any = const(1)
        for k, c in limit.items():
            k = const(1) if k is None else _furthest(k, c, valid, (*seen, axis))
            if k is None:
                break
            most = add(most, mul(k, const(c)))
        else:
            if at_most(simplify(most), end):
                return True
    return False


def _limit(p: Any, axis: Any) -> Affine | None:
    """What a coordinate is at most where `p` holds."""
    if not is_op(p, "lt", "le") or axis not in p.lanes:
        return None
    gap = difference(p.args[1], p.args[0])  # p holds where it is not below 0, or is above
    if p.op.name == "lt":
        gap[None] = gap.get(None, 0) - 1
    c = -gap.pop(Coord(axis), 0)
    # c times a coordinate is no less than the coordinate, unless that is below zero
    if c < 1 or any(k is not None and axis in k.lanes for k in gap) or c > 1 and not nonnegative(Coord(axis)):
        return None
    return gap


def _furthest(k: Any, c: int, valid: Value | None, seen: tuple[Any, ...]) -> Value | None:
    """The greatest value of a part of a limit, or the least where it counts negatively."""
    if not k.lanes:
        return k  # type: ignore[no-any-return]
    if not isinstance(k, Coord) or k.axis in seen:
        return None
    axis: Any = k.axis
    first = axis.axis.lo if isinstance(axis, Whole) else Base(axis)
    if c < 0:
        return first
    if complete(axis) or masked(axis, valid, seen):
        return sub(axis.axis.hi, const(1))
    return add(first, const(axis.size.value - 1))


def whole_blocks(s: Slice, segment: Segment) -> bool:
    """Proof that the blocks of a segment end at or before the end of the axis.

    They begin at boundaries of blocks, and so does what is behind the last one; or there are none."""
    size = s.size.value
    ends = [e for e in _arms(segment.hi, "maximum") if e is not segment.lo]
    return all(_ends_whole(e, segment.lo, s, size) for e in ends)


def _ends_whole(end: Value, begin: Value, s: Slice, size: int) -> bool:
    """The same of a range, looking at its end as it is, or as the least of several."""
    return any(_are_whole(arms, begin, s, size) for arms in ([end], _arms(end, "minimum")))


def _are_whole(arms: list[Value], begin: Value, s: Slice, size: int) -> bool:
    def before(t: Value) -> bool:
        return any(at_most(a, t) for a in arms)

    least = list(arms)
    for a in arms:  # but for what is certainly not less than another one
        if any(b is not a and (at_most(b, a) or at_most(_raised(b), a)) for b in least):
            least.remove(a)
    if not before(s.axis.hi) or not all(_boundary(a, s, size) for a in least):
        return before(begin)
    # what is no boundary is where nothing is left
    return _boundary(begin, s, size) or all(_boundary(b, s, size) or before(b) for b in _begins(begin))


def _raised(t: Value) -> Value:
    """Something as great as `t` at least: without rounding down, and with the last block that may begin."""
    form: dict[Any, int] = {}
    for k, c in affine(t).items():
        by = int(k.args[1].value) if is_op(k, "floordiv") and isinstance(k.args[1], (Const, Physical)) else 0  # type: ignore
        if by > 0 and c > 0 and c % by == 0:
            form = combine(form, affine(k.args[0]), c // by)  # type: ignore[union-attr]
        else:
            form = combine(form, {k: c})
    bases: list[Any] = [k for k, c in form.items() if isinstance(k, Base) and c > 0]
    for k in bases:
        form = combine({o: c for o, c in form.items() if o is not k}, affine(sub(k.axis.axis.hi, const(1))), form[k])
    return from_affine(form)


def _begins(t: Any) -> list[Value]:
    return [b for a in _arms(t, "maximum") for b in _arms(a, "minimum")]


def _boundary(t: Value, s: Slice, size: int) -> bool:
    return multiple_of(simplify(sub(t, s.axis.lo)), size)


def _arms(t: Any, name: str) -> list[Any]:
    """What a sum is the minimum, or the maximum, of."""
    form = affine(t)
    for k, c in form.items():
        if c == 1 and is_op(k, name):  # type: ignore[arg-type]
            rest = {o: d for o, d in form.items() if o is not k}
            return [x for a in k.args for x in _arms(from_affine(combine(rest, affine(a))), name)]  # type: ignore[union-attr]
    return [t]
