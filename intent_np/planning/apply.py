"""A plan as a group: from picks to a plan term, and from a plan to a group over renamed axes.

reduce max over columns of x[row, columns]  in two loops     reduce max over columns@1 of x[row, columns@1], …@2 …
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from ..passes.lower_buffers import row_major
from ..passes.online import region
from ..passes.roles import STRUCTURED, in_index_order
from ..rules.simplify import node, substitute
from ..terms.core import arena, children, contains, find, inherit, named, replace, rewrite
from ..terms.dtypes import dtype
from ..terms.grouped import Group, Sync
from ..terms.index import Cast, Const, Value, apply, sub
from ..terms.normal import (
    Axis,
    Carry,
    Contract,
    Coord,
    Final,
    Load,
    Proj,
    Recur,
    Reduce,
    Region,
    Scan,
    Store,
    Turn,
    Update,
    View,
)
from ..terms.plan import (
    Behind,
    Computed,
    Execution,
    Gathered,
    Held,
    Kept,
    Peak,
    Place,
    Plan,
    Read,
    Role,
    Scanned,
    Stored,
    Summed,
    Taken,
    Walk,
    Weighed,
    loops_around,
)  # fmt: skip
from .andor import Node
from .cheapest import Pick
from .layout import Layout
from .origins import Origins, kind
from .places import Frame
from .places import Place as Numbered
from .problem import captured
from .saturate import Saturated


def plan_of(s: Saturated, frame: Frame, blocks: Iterable[int], pick: Pick) -> Plan:
    """The picked executions of a frame as a term."""
    axes = s.problem.axes
    roles = tuple(Role(a, r, b) for a, r, b in zip(axes, frame.roles, blocks, strict=True))
    return Plan(roles, _Extracted(s, frame, pick).statements())


class _Extracted:
    def __init__(self, s: Saturated, frame: Frame, pick: Pick) -> None:
        self.s, self.pick = s, pick
        self.root = s.graph.roots[frame.number]
        self.walks: dict[int, Any] = {p.number: self._place(p) for p in frame.places}
        self.done: dict[int, Any] = {}

    def _place(self, p: Numbered) -> Place | None:
        place: Walk | None = None
        every = [*self.s.problem.axes, *self.s.problem.turns]
        for a, turn in p.path:
            place = Walk(every[a], turn, place)
        return place if not p.base or self.s.problem.order.is_plain else Behind(p.base, place)

    def node(self, c: int) -> Node:
        own = self.s.graph.classes[c]
        return own[self.pick[c]] if len(own) > 1 else own[0]

    def statements(self) -> tuple[Stored, ...]:
        out: list[Stored] = []
        stack = [self.root]
        while stack:
            n = self.node(stack.pop())
            if n.op == "Seq":
                stack += reversed(n.classes)
                continue
            i, p = n.literals
            s = self.s.problem.statements[i]
            out.append(Stored(s.effect, self(n.classes[0]), self.walks[p], s.part))
        return tuple(out)

    def __call__(self, c: int) -> Any:
        if c not in self.done:
            n = self.node(c)
            self.done[c] = self._made(n, [self(k) for k in n.classes if self.node(k).op != "Loop"])
        return self.done[c]

    def _made(self, n: Node, below: list[Any]) -> Any:
        by: Any
        match n.op, n.literals:
            case "XLeaf", (leaf, p):
                return Taken(self.s.leaves[leaf], self.walks[p])
            case "XUn", (op, _, p) if op.startswith("load "):
                return Gathered(self.s.gathers[int(op.removeprefix("load "))], tuple(below), self.walks[p])
            case (("XUn" | "XBin" | "XTri"), (op, _, p)):
                return Computed(op, tuple(below), self.walks[p])
            case "XHold", (name, axis, _, p):
                return Held(self.s.combines[name, axis], tuple(below), self.walks[p])
            case "XScan", (name, axis, _, p):
                return Scanned(self.s.combines[name, axis], tuple(below), self.walks[p])
            case "XFold", (name, axis, _, q):
                return Summed(self.s.combines[name, axis], tuple(below), self.walks[q])  # type: ignore[arg-type]
            case "XTop", (axis, _, q):
                return Peak(self.s.combines["max", axis], below[0], self.walks[q])  # type: ignore[arg-type]
            case "XWeighed", (what, _, q):
                name, _, cast = what.partition(" cast ")
                axis = self.s.problem.bit[self.walks[q].axis]  # type: ignore[union-attr]
                by, factor = self.s.combines[name, axis], below[1] if len(below) > 1 else None
                return Weighed(by, below[0], self.walks[q], cast and f"cast {cast}", factor)  # type: ignore[arg-type]
            case "XWrite", (value, _, q):
                return Kept(value, below[0], self.walks[q])  # type: ignore[arg-type]
            case "XRead", (_, _, p, _):
                return Read(below[0], self.walks[p])  # type: ignore[arg-type]
            case "Get", _:
                return below[0]
        raise AssertionError(n.op)


class Applied(NamedTuple):
    """A group over a copy of each axis for each loop, with the roles and blocks of the plan in the axes.

    buffers:  the memory in which values are kept from loop to loop
    used:     the permissions that the plan took
    """

    group: Group
    buffers: tuple[View, ...]
    used: set[str]


def applied(plan: Plan, group: Group, taken: Iterable[str] = ()) -> Applied:
    """The group as the plan has it; buffers get names that are not `taken`."""
    work = _Applied(plan, group, set(taken))
    new = work.group()
    algebra = {"relaxed_algebra"} if work.origin.invented else set()
    return Applied(new, tuple(work.buffers.values()), algebra | ({"relaxed_normalization"} if work.members else set()))


class _Applied:
    def __init__(self, plan: Plan, group: Group, taken: set[str]) -> None:
        self.plan, self.original, self.taken = plan, group, taken
        self.buffers: dict[Kept, View] = {}
        self.role = {r.axis: r for r in plan.roles}
        self.used = {(a.lo, a.hi): set[int]() for a in self.role}
        for a in self.role:
            self.used[a.lo, a.hi].add(a.use)
        self.copies: dict[Any, Axis] = {}
        self.labels: dict[Axis, str] = {}  # what the copies of one axis have in common, and of two never
        for a in self.role:
            base = arena().names.get(a, "i")
            names = (f"{base}_{n}" if n else base for n in count())
            self.labels[a] = next(n for n in names if n not in self.labels.values())
        self.done: dict[Execution, Any] = {}
        self.along: dict[Kept, list[Axis]] = {}  # the axes that a kept value has elements for
        self.members: dict[Peak, list[Weighed]] = {}
        for t in find(plan, Weighed):
            self.members.setdefault(t.peak, []).append(t)
        self.origin = Origins(group)
        self.layout = Layout(plan, group)

    def group(self) -> Group:
        for t in self._order():
            if t not in self.done:
                self.done[t] = self._made(t)
        effects = self._numbered(self._body(self.original.effects, None))
        stores = [s.statement for s in self.plan.statements if not s.part]
        spread = {a: None for e in stores for a in in_index_order(e) if self.role[a].role == "space"}
        ahead = [a for a in self.original.workset if a in self.role]
        order = dict.fromkeys((*ahead, *spread)) if all(a in ahead for a in spread) else spread
        space = tuple(self.copy(a, None) for a in order)
        return inherit(self.original, Group(space, effects, self.original.serial))  # type: ignore[no-any-return]

    def _order(self) -> list[Execution]:
        """The executions, what they need first; a peak needs all that is weighed by it, for they are one region."""
        order: dict[Any, None] = {}
        stack: list[tuple[Any, bool]] = [(s.value, False) for s in reversed(self.plan.statements)]
        while stack:
            t, made = stack.pop()
            if made:
                order[t] = None
            elif t not in order:
                factors = [w.factor for w in self.members.get(t, ()) if w.factor is not None]
                below = [c for c in children(t) if isinstance(c, Execution)] + factors
                stack += [(t, True), *((c, False) for c in reversed(below) if c not in order)]
        return list(order)

    def copy(self, a: Axis, place: Place | None) -> Axis:
        """The axis as it is at a place: of a looped one, the copy that the innermost loop there walks."""
        role = self.role[a]
        own = next((w for w in reversed(loops_around(place)) if w.axis is a), None) if role.role == "loop" else None
        if (a, own) not in self.copies:
            use = a.use
            if own is not None:  # a loop has a copy of its own
                taken = self.used[a.lo, a.hi]
                use = next(n for n in range(len(taken) + 1) if n not in taken)
                taken.add(use)
            made = Axis(self.at(a.lo, place), self.at(a.hi, place), use, role.role, role.block)
            self.copies[a, own] = inherit(a, named(made, self.labels[a]))
        return self.copies[a, own]

    def at(self, t: Any, place: Place | None) -> Any:
        """An opaque value or statement with the coordinates that it has at a place."""
        here: Any = {Coord(a): Coord(self.copy(a, place)) for a in self.role if a in t.lanes}
        return self._behind(substitute(t, here | self._said(t), everywhere=True))

    def _said(self, t: Any) -> dict[Any, Any]:
        """What stands for the ordered loops that a term is about, and for the axes that states vary along."""
        if not self.layout.turns:
            return {}
        found: dict[Any, Any] = {n: self.at(n, None) for n in find(t, Turn) if n is not t}
        said = {a for x in find(t, (Carry, Final)) for a in x.varies} | {
            x.axis for x in find(t, (Reduce, Contract, Scan))
        }
        fixed = (a for a in self.role if a in said and self.role[a].role != "loop")
        return found | {a: self.copy(a, None) for a in fixed}

    def _behind(self, t: Any) -> Any:
        """A term whose loads read after the syncs that there are now, if they do after one of the group's own."""
        moved = lambda x: isinstance(x, Load) and isinstance(x.after, Sync) and x.after.number in self.layout.now  # noqa: E731
        if not any(moved(x) for x in find(t, Load)):
            return t
        after = lambda s: replace(s, number=self.layout.now[s.number])  # noqa: E731
        (made,) = rewrite((t,), lambda x: inherit(x, replace(x, after=after(x.after))) if moved(x) else x)
        return made

    def _numbered(self, effects: tuple[Any, ...]) -> tuple[Any, ...]:
        """Effects with their syncs numbered from 1."""
        own = self.layout.own
        if not own:
            return effects
        return rewrite(effects, lambda t: inherit(t, replace(t, number=t.number - own)) if isinstance(t, Sync) else t)

    def sync(self, key: Sync | tuple[Any, int]) -> Sync:
        """One of the group's own syncs as it is now, or that of what loops keep."""
        turn = key.turn if isinstance(key, Sync) else getattr(key[0], "axis", None)
        return Sync(self.layout.numbers[key], None if turn is None else self.at(turn, None))

    # ---- statements

    def _body(self, effects: tuple[Any, ...], around: Walk | None) -> tuple[Any, ...]:
        """A list of effects: what its loops keep, and its statements."""
        out: list[Any] = []
        for item in self.layout.items(effects, around):
            match item:
                case int():
                    kept = ((t, view) for t, view in self.buffers.items() if t.place.around is around)
                    stored = (t for t in kept if t[0].place.turn == item)
                    out += (Store(view, self._element(t, t.place), self.done[t.value]) for t, view in stored)
                    out.append(self.sync((around, item)))
                case Sync():
                    out.append(self.sync(item))
                case Recur():
                    out.append(self._loop(item))
                case _:
                    out.append(self._stored(item))
        return tuple(out)

    def _loop(self, e: Recur) -> Recur:
        states = tuple(self.at(s, None) for s in e.states)
        inits, yields = (self._values(e, part) if states else () for part in ("from", "yielding"))
        condition = None if e.condition is None else self.at(e.condition, None)
        body = self._body(e.effects, self.layout.walks.get(e.turn))
        new = Recur(self.at(e.turn, None), states, tuple(inits), tuple(yields), body, condition)
        return inherit(e, new)  # type: ignore[no-any-return]

    def _values(self, e: Any, part: str = "") -> list[Any]:
        return [self.done[x] for x in _several((self.layout.stored[e, part].value,))]

    def _stored(self, e: Any) -> Any:
        place = self.layout.stored[e, ""].place
        values = iter(self._values(e))
        operands = tuple(next(values) for _ in (e.operands if isinstance(e, Update) else (e.value,)))
        where = lambda v: next(values) if contains(v, *STRUCTURED) else self.at(v, place)  # noqa: E731
        index = tuple(where(i) for i in e.index)
        valid = None if e.valid is None else where(e.valid)
        if isinstance(e, Store):
            return inherit(e, Store(e.view, index, operands[0], valid, e.again))
        over = tuple(self.copy(a, place) if a in self.role else a for a in e.over)
        turn = None if e.turn is None else self.at(e.turn, None)
        return inherit(e, replace(e, index=index, operands=operands, over=over, valid=valid, turn=turn))

    def _kept(self, t: Kept) -> None:
        """Memory for a kept value: an element for each instance and each member of the axes along which it varies."""
        value = self.done[t.value]
        self.along[t] = [a for a in self.role if self.role[a].role == "space" or self.copy(a, t.place) in value.lanes]
        shape = tuple(node(sub(a.hi, a.lo)) for a in self.along[t])
        name = next(n for n in (f"kept{i or ''}" for i in count()) if n not in self.taken)
        self.taken.add(name)
        self.buffers[t] = View(name, "workspace", value.type, shape, row_major(shape))

    def _element(self, t: Kept, place: Walk) -> tuple[Any, ...]:
        return tuple(node(sub(Coord(self.copy(a, place)), a.lo)) for a in self.along[t])

    def _made(self, t: Execution) -> Any:
        match t:
            case Kept():
                return self._kept(t)
            case Read():
                after = self.sync((t.kept.place.around, t.kept.place.turn))
                load = Load(self.buffers[t.kept], self._element(t.kept, t.place), after=after)
                return self.origin.same(self.done[t.kept.value], load)
            case Taken(value=Region()):
                return None  # part of the fold that it is the summary of
            case Taken():
                return self.origin.leaf(t.value, self.at(t.value, t.place))
            case Computed() if t.op == "with":
                return None  # operands of what combines several
            case Computed():
                operands = tuple(self.done[x] for x in t.operands)
                return self.origin.made(t.op, operands, node(operated(t.op, operands)))
            case Gathered(by=Load() as by):
                where = tuple(self.done[x] for x in _several(t.operands))
                rank = len(by.index)
                valid = where[rank] if len(where) > rank else None
                new = self._behind(node(replace(by, index=where[:rank], valid=valid)))
                return self.origin.made(kind(by), where, new)
            case Held() | Summed() | Scanned():
                return self._reduced(t.by, t.operands, t.place)
            case Peak() if t in self.members:
                self._together(t)
                return self.done[t]
            case Peak():
                return self._reduced(t.by, (t.scores,), t.place)
        raise AssertionError(type(t).__name__)

    def _reduced(self, by: Any, operands: tuple[Execution, ...], place: Place | None) -> Any:
        axis = self.copy(by.axis, place)
        _, *captures = values = tuple(self.done[x] for x in _several(operands))
        if not isinstance(by, Region):
            return self.origin.made(kind(by), values, node(_reduction(by, axis, values)))
        copies: Any = {a: self.copy(a, place) for a in by.lanes} | {by.axis: axis}
        copies |= dict(zip(captured(by), captures, strict=True)) | self._said(by)
        return self.origin.leaf(by, inherit(by, self._behind(substitute(by, copies, everywhere=True))))

    def _together(self, peak: Peak) -> None:
        """The maximum and its sums as components of one region."""
        by: Any = peak.by
        axis, scores = self.copy(by.axis, peak.place), self.done[peak.scores]
        top = self.origin.made(kind(by), (scores,), _reduction(by, axis, (scores,)))
        sums = [self._weighed(w, axis, scores, top) for w in self.members[peak]]
        made = region(top, sums)
        for i, (t, alone) in enumerate(zip([peak, *self.members[peak]], [top, *sums], strict=True)):
            self.done[t] = self.origin.same(alone, Proj(made, i))

    def _weighed(self, w: Weighed, axis: Axis, scores: Value, top: Value) -> Any:
        """The sum as it would be with the maximum known before: what `region` looks for."""
        made = self.origin.made
        distance = made("sub", (scores, top), sub(scores, top))
        weight = made("exp", (distance,), apply("exp", distance))
        if w.cast:
            weight = made(w.cast, (weight,), operated(w.cast, (weight,)))
        values = (weight,) if w.factor is None else (weight, self.done[w.factor])
        return made(kind(w.by), values, _reduction(w.by, axis, values))


def _several(operands: Sequence[Execution]) -> Iterator[Execution]:
    """What is combined: those of several operands, one by one."""
    for x in operands:
        if isinstance(x, Computed) and x.op == "with":
            yield from _several(x.operands)
        else:
            yield x


def _reduction(by: Any, axis: Axis, values: tuple[Any, ...]) -> Any:
    """`by` over another axis and other operands."""
    if isinstance(by, Contract):
        left, right = values
        return Contract(axis, left, right, by.acc)
    if isinstance(by, Scan):
        return Scan(axis, by.combine, values, by.identities, by.reverse)
    return Reduce(axis, by.combine, values, by.identities)


def operated(op: str, operands: Sequence[Any]) -> Any:
    """An operator of a plan on values."""
    if op.startswith("cast "):
        _, name, mode = op.split()
        return Cast(operands[0], dtype(name), mode)
    if op.startswith("proj "):
        return Proj(operands[0], int(op.removeprefix("proj ")))
    if op == "rcp":
        return apply("div", Const(1.0, operands[0].type), operands[0])
    return apply(op, *operands)
