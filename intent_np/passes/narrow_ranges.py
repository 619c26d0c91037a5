"""blocked -> blocked: a loop's range splits where its predicates are all true, mixed, or all false.

    loop 0..N: … valid c < N                     loop 0..N//B*B: …            (no predicate)
                                                 loop N//B*B..N: … valid c < N

Exact monotone reasoning on predicates that are affine in the loop's coordinate: membership, causal masks, windows and
triangles are one case.  A block is skipped only with the proof that its members change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..rules.affine import Affine, difference
from ..rules.facts import at_most
from ..rules.simplify import node, simplify, substitute, substitute_all
from ..terms.blocked import BLOCKED, Base, BlockedProgram, Branch, Loop, Point, Segment, Whole, complete, scoped
from ..terms.core import arena, children, contains, find, inherit, named, replace, walk
from ..terms.dtypes import bool_, index
from ..terms.index import Const, Value, add, apply, const, is_const, is_op, lt, mul, sub
from ..terms.normal import Carry, Contract, Coord, Load, Reduce, Scan, Store, Update, strays
from ..terms.ordered import Rewritten
from ..terms.updates import Found
from .base import nanopass

FEW = 6
"""Blocks of a range that predicates cut at both ends: with at most so many, one loop that asks them in each block takes
the place of three, each of which waits for its first loads."""

APART = (Load, Found, Reduce, Scan, Contract, Loop)
"""What is in no branch, since it has its place among others, or takes all of an instance."""

BRANCHED = 40
"""The same where a loop multiplies matrices and asks in the blocks at the ends alone, in a branch.  Causal attention to
the last 256 keys, 5 blocks of 64, takes .182 ms in one loop with a branch on one H200, .204 in one loop that always
masks, .220 in three loops, all written by hand; to the last 1024, 17 blocks, .367, .442 and .393.  What three loops
wait for is the same for any range, and the branch is asked in each block: by these numbers they meet at 40 blocks."""


@nanopass(BLOCKED, BLOCKED, allowed={"branched": range(1 << 20)})
def narrow_ranges(
    program: BlockedProgram, *, skip: bool = True, peel: bool = True, branched: int = BRANCHED
) -> BlockedProgram:
    """Cut every loop into segments whose predicates are decided, and drop the ends that change nothing.

    A loop of products over at most `branched` blocks, between ends that are both cut, stays in one piece: what its
    masks choose is chosen in the blocks at the ends, under a condition on the block.

    Before combines are applied, since the proof needs the summaries apart from the state; outer loops first, so that
    an inner loop sees what is decided around it.
    Preserves values: predicates become true only where they hold in every active lane, and blocks go only by proof.
    """
    narrowing = _Narrowing(skip, peel, branched)
    groups = (replace(g, effects=tuple(narrowing(e) for e in g.effects)) for g in program.groups)
    return replace(program, groups=tuple(groups))  # type: ignore[no-any-return]


class _Narrowing:
    def __init__(self, skip: bool, peel: bool, branched: int) -> None:
        self.skip, self.peel, self.branched = skip, peel, branched
        self.done: dict[Any, Any] = {}

    def __call__(self, root: Any) -> Any:
        """Rewrite top-down: a loop is cut first, then what is inside its segments."""
        stack = [root]
        while stack:
            t = stack[-1]
            if t in self.done:
                stack.pop()
                continue
            cut: Any = self._cut(t) if isinstance(t, Loop) else t
            waiting = [c for c in children(cut) if c not in self.done]
            if waiting:
                stack.extend(waiting)
                continue
            self.done[t] = inherit(t, node(cut.rebuild(self.done)))
            stack.pop()
        return self.done[root]

    def _cut(self, loop: Loop) -> Loop:
        (whole,) = loop.segments
        return replace(loop, segments=tuple(self._segments(loop, whole)))  # type: ignore[no-any-return]

    def _segments(self, loop: Loop, whole: Segment) -> list[Segment]:
        axis, s = loop.slice.axis, loop.slice
        lo, hi, size = axis.lo, axis.hi, const(s.size.value)
        member = node(lt(Coord(s), hi))
        start, stop = lo, hi
        true_from: list[Value] = []
        true_to: list[Value] = []
        decided: dict[Any, Any] = {}
        predicates = _predicates(loop, whole)
        if not complete(s):
            true_to.append(hi)
            decided[member] = Const(True, bool_)
        for p in predicates:
            bounds = [_bound(q, s) for q in _sides(p)]
            if p is member or None in bounds:
                continue
            ends: list[Any] = [(up, extreme(limit, "least"), extreme(limit, "most")) for up, limit in bounds]  # type: ignore[misc]
            if any(x is None or not x.needs <= loop.needs for _, *found in ends for x in found):
                continue
            vanishes = self.skip and false_changes_nothing(p, loop, whole)
            if len(ends) > 1 and not vanishes:  # hardly any block is all equal: nothing is worth two more loops
                continue
            for upper, least, most in ends:
                if upper:  # the predicate holds up to `limit`
                    true_to.append(simplify(add(least, const(1))))
                    stop = _least(stop, simplify(add(most, const(1)))) if vanishes else stop
                else:
                    true_from.append(most)
                    start = _most(start, _down(least, lo, size)) if vanishes else start
            decided[p] = Const(True, bool_)
        if any(t.slice is not s and s in t.lanes | t.needs for t in find(whole, Loop)):
            # the loops inside of this one cost more than the masks around them, and would be written twice
            return [replace(whole, lo=start, hi=stop)]
        if not decided or not self.peel or (set(decided) == {member} and member not in predicates):
            return [replace(whole, lo=start, hi=stop)]
        label = arena().names.get(s, "the axis")
        if true_from and true_to:
            blocks = lambda n: at_most(stop, start, -n * s.size.value)  # noqa: E731
            if blocks(self.branched) and any(isinstance(t, Contract) for t in scoped(_roots(whole), s)):
                begin, end = _inner(start, stop, true_from, true_to, lo, size)
                for bound, which in ((begin, "full"), (end, "rest")):
                    named(bound, f"{label}_{which}")
                at_ends = apply("or", node(lt(Base(s), begin)), node(apply("le", end, Base(s))))
                if (one := _branched(whole, decided, at_ends, s)) is not None:
                    return [replace(one, lo=start, hi=stop, note=f"blocks of {label}, boundary blocks masked")]
            if blocks(FEW):
                return [replace(whole, lo=start, hi=stop)]
        return self._split(whole, decided, (start, stop), (true_from, true_to), lo, size, label)

    def _split(
        self, whole: Segment, decided: Mapping[Any, Any], bounds: Any, inner: Any, lo: Value, size: Value, label: str
    ) -> list[Segment]:
        (start, stop), (true_from, true_to) = bounds, inner
        begin, end = _inner(start, stop, true_from, true_to, lo, size)
        out = []
        if true_from:
            out.append(replace(whole, lo=start, hi=begin, note=f"boundary blocks of {label}"))
        decided_now = substitute_all((*whole.effects, *whole.values), decided)
        effects, values = decided_now[: len(whole.effects)], decided_now[len(whole.effects) :]
        if any(_strays(t) for t in find(effects, Store)):
            return [replace(whole, lo=start, hi=stop)]  # where no block is whole, and an address hangs on a predicate
        out.append(Segment(begin, end, values, effects, f"whole blocks of {label}", decided=True))
        if true_to:
            out.append(replace(whole, lo=end, hi=stop, note=f"boundary blocks of {label}"))
        return out


def _inner(
    start: Value, stop: Value, true_from: list[Value], true_to: list[Value], lo: Value, size: Value
) -> tuple[Value, Value]:
    """The part of a range in whose blocks predicates hold that do from, and up to, these coordinates on."""
    begin, end = start, stop
    for x in true_from:
        begin = _most(begin, _up(x, lo, size))
    for x in true_to:
        end = _least(end, _down(x, lo, size))
    begin = _least(begin, stop) if true_from else begin
    return begin, _most(end, begin) if true_to else end


def _branched(whole: Segment, decided: Mapping[Any, Any], at_ends: Value, s: Any) -> Segment | None:
    """A segment that masks what is made of products in the blocks `at_ends` alone; None where nothing is, or where what
    goes into a product is masked, which comes from memory as it is in a loop of its own."""
    own = set(scoped(_roots(whole), s))
    closed = lambda t: t not in own or isinstance(t, Loop) and t.slice is s  # noqa: E731
    done = Rewritten()
    found = False
    for t in walk(*_roots(whole), below=lambda t: () if closed(t) else children(t)):
        if t in own and not closed(t):
            done[t] = new = inherit(t, node(t.rebuild(done)))  # type: ignore[attr-defined]
            if is_op(new, "select") and s in new.args[0].lanes and is_const(substitute(new.args[0], decided), True):
                mask, value, other = new.args
                if not contains(value, Contract) or contains(mask, *APART) or contains(other, *APART):
                    return None
                done[t] = inherit(new, Branch(at_ends, new, value))
                found = True
    effects, values = tuple(done[e] for e in whole.effects), tuple(done[v] for v in whole.values)
    return replace(whole, effects=effects, values=values) if found else None  # type: ignore[no-any-return]


def _roots(whole: Segment) -> tuple[Any, ...]:
    return (*whole.effects, *whole.values)


def _strays(t: Store) -> bool:
    """Whether what is stored, or whether it is, varies along more than the address does."""
    parts = (t.value, *((t.valid,) if t.valid is not None else ()))
    return any(True for p in parts for _ in strays(t, "it", p))


# ---- predicates --------------------------------------------------------------------------------------------------


def _predicates(loop: Loop, whole: Segment) -> list[Any]:
    """Index comparisons that vary along the loop's slice."""
    terms = scoped((*whole.values, *whole.effects), loop.slice)
    return [t for t in terms if is_op(t, "lt", "le", "eq") and t.args[0].type is index and loop.slice in t.lanes]


def _sides(p: Any) -> tuple[Any, ...]:
    """Comparisons that hold together where `p` holds: an equality is one from either side."""
    return (apply("le", *p.args), apply("le", *p.args[::-1])) if p.op.name == "eq" else (p,)


def _bound(p: Any, s: Any) -> tuple[bool, Affine] | None:
    """`p` as coordinate <= limit (True) or coordinate >= limit (False); None when it is neither."""
    gap = difference(p.args[1], p.args[0])  # p holds when gap >= 0 (> 0 for lt)
    if p.op.name == "lt":
        gap[None] = gap.get(None, 0) - 1
    _of_quotient(gap, s)
    c = gap.pop(Coord(s), 0)
    if abs(c) != 1 or any(k is not None and s in k.lanes for k in gap):
        return None
    return (True, gap) if c < 0 else (False, {k: -v for k, v in gap.items()})


def _of_quotient(gap: Affine, s: Any) -> None:
    """Make a gap in c // d, of the slice's coordinate c, one in c: c // d <= x where c <= x d + d - 1, and c // d >= x
    where c >= x d."""
    for k, c in gap.items():
        if k is not None and abs(c) == 1 and s in k.lanes and (taken := _quotient(k)) is not None:
            inner, d = taken
            rest = {t: n * d for t, n in gap.items() if t is not k}
            gap.clear()
            gap.update(rest)
            for t, n in inner.items():
                gap[t] = gap.get(t, 0) + c * n
            gap[None] = gap.get(None, 0) + (d - 1 if c < 0 else 0)
            return


def _quotient(k: Any) -> tuple[Affine, int] | None:
    """The dividend and the divisor of a quotient by a positive constant."""
    if is_op(k, "floordiv") and isinstance(k.args[1], Const) and k.args[1].value > 0:
        return difference(k.args[0], const(0)), int(k.args[1].value)
    return None


def coordinate_range(axis: Any) -> tuple[Value, Value]:
    """First and last coordinate of the block in hand, as scalars."""
    if isinstance(axis, Whole):
        return axis.axis.lo, simplify(sub(axis.axis.hi, const(1)))
    if isinstance(axis, Point):
        return Coord(axis), Coord(axis)
    last: Any = add(Base(axis), const(axis.size.value))
    if not complete(axis):
        last = apply("minimum", last, axis.axis.hi)
    return Base(axis), simplify(sub(last, const(1)))


_OTHER = {"least": "most", "most": "least"}


def extreme(form: Affine, which: str) -> Value | None:
    """Least or greatest value of an affine form over all lanes; None when something else varies than a coordinate
    or a quotient of some."""
    total: Any = const(form.get(None, 0))
    for k, c in form.items():
        if k is None:
            continue
        if isinstance(k, Coord) and k.lanes:
            least, most = coordinate_range(k.axis)
            k = most if (c > 0) == (which == "most") else least
        elif k.lanes:
            taken = _quotient(k)
            side = extreme(taken[0], which if c > 0 else _OTHER[which]) if taken is not None else None
            if taken is None or side is None:
                return None
            k = apply("floordiv", side, const(taken[1]))
        total = add(total, mul(k, const(c)))
    return simplify(total)  # type: ignore[no-any-return]


def false_changes_nothing(p: Any, loop: Loop, whole: Segment) -> bool:
    """Members for which `p` is false have no effect: each summary is its identity, or its combine ignores it."""
    false = {p: Const(False, bool_)}
    if not all(_no_store(substitute(e, false)) for e in whole.effects):
        return False
    position = 0
    for combine in loop.combines:
        n = len(combine.dtypes)
        values = substitute_all(whole.values[position : position + n], false)
        identities = loop.identities[position : position + n]
        if values != identities:
            state = tuple(Carry(loop.slice, position + i, d, ()) for i, d in enumerate(combine.dtypes))
            if apply_combine(combine, state, values) != state:
                return False
        position += n
    return True


def _no_store(e: Any) -> bool:
    return isinstance(e, (Store, Update)) and e.valid is not None and is_const(e.valid, False)


def apply_combine(combine: Any, left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    """The combine's bodies at two summaries."""
    from ..terms.normal import Arg

    places: dict[Any, Any] = {}
    for side, values in (("a", left), ("b", right)):
        places |= {Arg(side, i, d): v for i, (d, v) in enumerate(zip(combine.dtypes, values, strict=True))}
    return substitute_all(combine.bodies, places, everywhere=True)


# ---- bounds in whole blocks ----------------------------------------------------------------------------------------


def _least(a: Value, b: Value) -> Value:
    return a if at_most(a, b) else b if at_most(b, a) else node(apply("minimum", a, b))  # type: ignore[no-any-return]


def _most(a: Value, b: Value) -> Value:
    return b if at_most(a, b) else a if at_most(b, a) else node(apply("maximum", a, b))  # type: ignore[no-any-return]


def _down(x: Value, lo: Value, size: Value) -> Value:
    """The last block boundary at or below x."""
    return simplify(add(lo, mul(apply("floordiv", sub(x, lo), size), size)))  # type: ignore[no-any-return]


def _up(x: Value, lo: Value, size: Value) -> Value:
    """The first block boundary at or above x."""
    return simplify(add(lo, mul(apply("ceil_div", sub(x, lo), size), size)))  # type: ignore[no-any-return]
