"""The effects of statements, in their order, and the loops that carry states from block to block.

Used by `emit`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from heapq import heappop, heappush
from itertools import takewhile
from typing import Any

from ..errors import error
from ..rules.facts import at_most
from ..rules.simplify import node
from ..terms.blocked import Base, BlockedProgram, Branch, Loop, Perform, Point, Segment, Slice, scoped
from ..terms.core import arena, contains, find, inherit, replace, walk
from ..terms.dtypes import index
from ..terms.gpu import Broadcast, Fetch, For, Full, Let, Sync, Var, variable
from ..terms.grouped import Last
from ..terms.index import add, apply, const, is_const, is_op, mul, sub
from ..terms.invariant import invariant_loops
from ..terms.normal import Carry, Load, Proj, Recur, Store, Update, View, builtin_name
from ..terms.ordered import asked_for
from ..terms.updates import Found
from .dependences import apart_now
from .emit_values import Values
from .scopes import LEAVES, Scope, integral, overtaken, read_later, seen_by, writes


class ReadLate(Exception):
    """What the launch found of a view is read behind a store into it, or into what may be the same array."""

    def __init__(self, view: View) -> None:
        self.view = view


class Effects(Values):
    """Emits effects, and the loops around values and effects."""

    def __init__(self, program: BlockedProgram) -> None:
        super().__init__(program)
        self.reread = writes(program) & {name for t in find(program, Load) for name in t.view.names}
        self.phase = 0  # number of the last sync performed
        self.asked = {t.update for t in find(program, Found)}  # updates whose findings somebody uses

    @abstractmethod
    def recur(self, e: Recur) -> None:
        """Perform an ordered loop."""

    @abstractmethod
    def last(self, e: Last) -> None:
        """Perform what the last of some instances does."""

    def effects(self, effects: tuple[Any, ...], values: tuple[Any, ...] = ()) -> None:
        """Perform effects in order.  What later ones, or the values behind them, read as it was before is read first:
        loads and loops without effects move in front of the store, a loop with effects is performed ahead of it."""
        rest = list(effects)
        reads = self._reads((*effects, *values))
        while rest:
            if isinstance(rest[0], Sync):
                self.phase = rest[0].number
                self.scope.body.append(Sync(rest.pop(0).number))
                continue
            earlier: set[Any] = set()  # the names of what effects that are not ready may change
            blocked: Any = None
            # what stands behind an ordered loop may need its results; one that changes nothing is always ready itself
            first = isinstance(rest[0], (Recur, Last))
            for e in rest[:1] if first else takewhile(self._movable, rest):
                # an ordered loop reads what was there before it, of what it stores itself, before it begins
                own = isinstance(e, Recur)
                old = self._read_later(e, reads, rest if own else [x for x in rest if x is not e], values)
                if all(old.values()) and not (earlier and {s.view.name for s in self._changing(e)} & earlier):
                    break
                blocked = blocked or next((t for t, possible in old.items() if not possible), None)
                earlier |= {name for s in self._changing(e) for name in s.view.names}
            else:
                late = blocked if isinstance(blocked, Load) else self._replaced(blocked, earlier)
                if late.view.same or late.after is None and late.view.mode == "inout":
                    raise ReadLate(late.view)
                span = next(iter(arena().spans.get(late, ())), None)
                raise error("E707", span=span, name=late.view.name, found="a read of what an earlier loop has replaced")
            for t in old:
                self.loop(t) if isinstance(t, Loop) else self.emit(t)
            self.effect(e)
            rest.remove(e)

    def _movable(self, e: Any) -> bool:
        """Whether an effect may be performed ahead of what stands in front of it."""
        return not isinstance(e, (Sync, Recur, Last)) or isinstance(e, Recur) and not self._changing(e)

    def _replaced(self, loop: Any, changed: set[str]) -> Load:
        """What a loop reads of these views, and would find changed: what may be another array, or what the launch found
        there, if there is such a load."""
        loads = [t for t in find(loop, Load) if t.view.names & changed]
        return next((t for t in loads if t.view.same), next((t for t in loads if t.after is None), loads[0]))

    def _reads(self, roots: tuple[Any, ...]) -> dict[str, list[Load]]:
        """The loads below these roots of what is stored into as well, by each view that they may be of."""
        found: dict[str, list[Load]] = {}
        for t in find(roots, Load) if self.reread else ():
            for name in t.view.names & self.reread:
                found.setdefault(name, []).append(t)
        return found

    def _read_later(
        self, e: Any, reads: dict[str, list[Load]], others: list[Any], values: tuple[Any, ...]
    ) -> dict[Any, bool]:
        changed = self._changing(e) if self.reread else []
        views = {s.view.name for s in changed} & self.reread
        if not views:
            return {}
        here = self.scope.slices()
        if replaced := {t: False for t in overtaken(e, here) if t.view.names & views}:
            return replaced
        before = {*self._loops_before(e), *([e.loop] if isinstance(e, Perform) else ())}
        done = lambda loop: loop in before or loop in self.home(loop).done  # noqa: E731
        stores = [s for s in changed if s.view.name in views]
        meets = lambda t: not all(apart_now(s, t, here) for s in stores if s.view.names & t.view.names)  # noqa: E731
        for name in views:  # what is computed in front of all loops is never read again
            reads[name] = [t for t in reads.get(name, ()) if t.needs or t not in self.root.done]
        if not any(seen_by(self.phase, t) and meets(t) for name in views for t in reads[name]):
            return {}
        known = lambda t: t in self.home(t).done  # noqa: E731
        return read_later((*others, *values), views, here, done, self.phase, meets, known)

    def _changing(self, e: Any) -> list[Any]:
        """The stores and updates that an effect still performs: not those of loops whose results it only reads."""
        done = lambda t: isinstance(t, Loop) and t in self.home(t).done  # noqa: E731
        terms = walk(e, below=lambda t: () if not contains(t, Store, Update) or done(t) else asked_for(t))
        return [t for t in terms if isinstance(t, (Store, Update))]

    def effect(self, e: Any) -> None:
        if isinstance(e, Perform):
            self.placed.setdefault(e.loop, self.scope)
            self.loop(e.loop)
            return
        if isinstance(e, Recur):
            self.recur(e)
            return
        if isinstance(e, Last):
            self.last(e)
            return
        if isinstance(e, Update):
            self._update(e)
            return
        early = [i for i in e.index if not contains(i, Load)]  # coordinates first, then loops, then what follows them
        late = sorted((*e.index, e.value), key=lambda c: not contains(c, Loop))
        parts = {c: self.emit(c) for c in (*early, *late)}
        valid = None if e.valid is None else self.emit(e.valid)
        self.scope.body.append(inherit(e, Store(e.view, tuple(parts[i] for i in e.index), parts[e.value], valid)))

    def _update(self, e: Update) -> None:
        """An update, over the fragments that it is performed over; what it finds has a name if anybody uses it."""
        indices = sorted((*e.index, *e.operands), key=lambda c: not contains(c, Loop))
        parts = {c: self.emit(c) for c in indices}
        valid = None if e.valid is None else self.emit(e.valid)
        over = tuple(a.size for a in e.over if not isinstance(a, Point))  # type: ignore[attr-defined]
        index, operands = (tuple(parts[c] for c in x) for x in (e.index, e.operands))
        new = inherit(e, replace(e, index=index, operands=operands, over=over, valid=valid, within=(), turn=None))
        if e not in self.asked:
            self.scope.body.append(new)
            return
        var = variable(self.fresh(self.names.get(Found(e), "found")), e.view.dtype, frozenset(over))
        self.scope.body.append(Fetch(var, new))
        self.scope.done[Found(e)] = inherit(Found(e), var)

    def _loops_before(self, t: Any) -> list[Loop]:
        """The loops whose results an effect or a loop only reads: they come before it."""
        loop = t.loop if isinstance(t, Perform) else t
        if not isinstance(loop, Loop):
            return list(find(t, Loop)) if contains(t, Loop) else []
        return invariant_loops(loop)

    def loop(self, loop: Loop) -> None:
        waiting = [loop]
        while waiting:
            loop = waiting[-1]
            before = [] if loop in self.home(loop).done else self._loops_before(loop)
            missing = [t for t in before if t not in self.home(t).done]
            waiting.extend(reversed(missing))
            if not missing:
                waiting.pop()
                if loop not in self.home(loop).done:
                    self._write_loop(loop)

    def _write_loop(self, loop: Loop) -> None:
        home = self.home(loop)
        here, self.scope = self.scope, home
        lanes = [frozenset(a.size for a in s) for s in loop.component_lanes()]
        states = [self._state(loop, i, d, s) for i, (d, s) in enumerate(zip(loop.infer(), lanes, strict=True))]
        bounds = self._bounds(loop)
        segments = list(zip(loop.segments, bounds, strict=True))
        for segment, (lo, hi) in segments[:: -1 if loop.slice.descending else 1]:
            if lo is not hi and not at_most(segment.hi, segment.lo):
                home.body.append(self._segment(loop, segment, lo, hi, states))
        home.done[loop] = states
        self.scope = here

    def _state(self, loop: Loop, i: int, d: Any, lanes: Any) -> Var:
        carry = Carry(loop.slice, i, d, tuple(sorted(loop.component_lanes()[i], key=lambda a: a.digest)))
        hint = self.names.get(Proj(loop, i)) or self.names.get(carry) or self._state_hint(loop, i)
        var = variable(self.fresh(hint), d, lanes)
        self.scope.body.append(Let(var, Full(integral(loop.identities[i].value), d, var.varies)))
        return var

    def _state_hint(self, loop: Loop, i: int) -> str:
        at = 0
        for c in loop.combines:
            if at == i and len(c.dtypes) == 1:
                return {"max": "largest", "min": "least", "sum": "acc"}.get(builtin_name(c) or "", "state")
            at += len(c.dtypes)
        return "largest" if i == 0 else "acc"

    def _bounds(self, loop: Loop) -> list[tuple[Any, Any]]:
        """Loop bounds as scalars; what two segments share, or is computed on the way, gets a name."""
        label = self.names.get(loop.slice, "i")
        spelled = [tuple(self._spelled(b, loop.slice) for b in (s.lo, s.hi)) for s in loop.segments]
        terms = [b for pair in spelled for b in pair]
        called = {terms[0]: "begin"} | {terms[-1]: "end"}
        for s, (lo, hi) in zip(loop.segments, spelled, strict=True):
            if s.decided:
                called = {lo: "full", hi: "rest"} | called
        inside = {b: set(walk(b)) for b in terms if not isinstance(b, LEAVES)}
        body = scoped(tuple(t for s in loop.segments for t in (*s.values, *s.effects)), loop.slice)
        asked = set(walk(*(self.asked_of_block(t.condition) for t in body if isinstance(t, Branch))))
        for b in sorted(inside, key=lambda b: len(inside[b])):
            inside_another = b in asked or any(b is not c and b in below for c, below in inside.items())
            here, home = self.scope, self.home(b)  # it may stand in front of the loop around this one as well
            if (terms.count(b) > 1 or inside_another) and b not in home.done:
                self.scope = home
                home.done[b] = self.let(self.build(b), f"{label}_{called.get(b, 'bound')}", home)
                self.scope = here
            elif home.uses.get(b, 0) > 1 or home is not here:  # it gets a name by itself
                self.names.setdefault(b, f"{label}_{called.get(b, 'bound')}")
        return [(self.emit(lo), self.emit(hi)) for lo, hi in spelled]

    def _spelled(self, bound: Any, slice: Any) -> Any:
        """A bound with block extents by name: N // BK * BK instead of N // 64 * 64.  Axes stay what they are."""
        axis, size = slice.axis, slice.size
        if bound in (axis.lo, axis.hi) or not is_op(
            bound, "add", "mul", "floordiv", "ceil_div", "sub", "minimum", "maximum"
        ):
            return bound
        a, b = (self._spelled(x, slice) for x in bound.args)
        if is_op(bound, "mul", "floordiv", "ceil_div") and is_const(b, size.value):
            b = size
        elif is_op(bound, "add") and isinstance(a, Base) and is_const(b, a.axis.size.value):  # type: ignore[attr-defined]
            b = a.axis.size  # type: ignore[attr-defined]
        return bound if (a, b) == bound.args else apply(bound.op, a, b)

    def asked_of_block(self, condition: Any) -> Any:
        """The condition of a branch, on the block of a loop, with its bounds spelled as those of the loop are."""
        blocks = [b.axis for b in find(condition, Base) if isinstance(b.axis, Slice)]

        def spelled(t: Any) -> Any:
            if is_op(t, "or", "lt", "le"):
                return inherit(t, apply(t.op, *map(spelled, t.args)))
            return inherit(t, self._spelled(t, blocks[0]) if blocks else t)

        return spelled(condition)

    def _segment(self, loop: Loop, segment: Segment, lo: Any, hi: Any, states: list[Var]) -> For:
        outer = self.scope
        label = self.names.get(loop.slice, "i")
        counted = first = Var(self.fresh(label + ("_done" if loop.slice.descending else "0")), index)
        outer.taken.discard(first.name)
        back: Any = None
        if loop.slice.descending:  # the loop counts what lies behind it
            blocks = node(apply("ceil_div", node(sub(hi, lo)), loop.slice.size))
            ends = node(add(node(add(lo, lo)), node(mul(node(sub(blocks, const(1))), loop.slice.size))))
            back = self.let(ends, label + "_ends", outer)
            first = Var(self.fresh(label + "0"), index)
            outer.taken.discard(first.name)
        self.scope = Scope(outer, loop.slice, first, (*segment.values, *segment.effects))
        self.scope.taken |= {counted.name, first.name}
        self.open.append(self.scope)
        if back is not None:
            self.scope.body.append(Let(first, sub(back, counted)))
        for c in scoped((*segment.values, *segment.effects), loop.slice):
            if isinstance(c, Carry) and c.slice is loop.slice:
                self.scope.done[c] = states[c.position]
        self.effects(segment.effects, segment.values)
        self.advance(segment.values, states)
        outer.below |= self.scope.taken | self.scope.below
        body, self.scope = tuple(self.scope.body), outer
        self.open.pop()
        few = not segment.decided and any(s.decided for s in loop.segments)
        return For(counted, lo, hi, loop.slice.size, tuple(states), body, segment.note, few)

    def advance(self, values: tuple[Any, ...], states: list[Var]) -> None:
        """Assign the next states; all are functions of the present ones, so none is overwritten before its last use."""
        new: dict[Var, Any] = {}
        for var, t in zip(states, values, strict=True):
            value = self.emit_last(t, var)
            new[var] = value if value.lanes == var.lanes else Broadcast(value, var.varies)
        place = {var: i for i, var in enumerate(new)}
        reads = {var: [v for v in walk(value) if v in place and v is not var] for var, value in new.items()}
        readers = Counter(v for read in reads.values() for v in read)
        ready = [i for var, i in place.items() if not readers[var]]  # a heap
        while new:
            if ready:
                var = states[heappop(ready)]
                if (value := new.pop(var)) is not var:
                    self.scope.body.append(Let(var, value))
            else:  # a cycle: a value that reads what is left is computed ahead
                var = next(var for var in new if reads[var])
                new[var] = self.let(new[var], var.name + "_next", self.scope)
            read, reads[var] = reads[var], []
            for v in read:
                readers[v] -= 1
                if not readers[v] and v in new:
                    heappush(ready, place[v])

    def emit_last(self, t: Any, var: Var) -> Any:
        """A next state, left inside its assignment when nothing else uses it."""
        home = self.home(t)
        if isinstance(t, (*LEAVES, Branch)) or home is not self.scope or t in home.done or home.uses.get(t, 0) > 1:
            self.names.setdefault(t, var.name + "_new")
            return self.emit(t)
        return self.build(t)
