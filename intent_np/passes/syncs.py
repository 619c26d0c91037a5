"""Where a sync has to stand: what a load must see is stored before it, and two stores to one element keep their order.

store y[i] = v                              store y[i] = v
store z[i] = load y[0] after that store     sync 1
                                            store z[i] = load y[0] after sync 1

In a loop, what an iteration stores comes before what the next one loads and stores.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from ..rules.affine import affine
from ..terms.core import inherit, replace, walk
from ..terms.grouped import Sync
from ..terms.index import Value
from ..terms.normal import Begin, Coord, Effect, Load, Recur, Turn, Update
from ..terms.ordered import Rewritten, asked_for, loads, loops
from ..terms.updates import fenced
from .dependences import alike, changing, disjoint
from .order_updates import Changes, conflict

Cut = tuple[int, int]  # (after, at most): an effect that a sync must follow, and one that it must not follow


def synced(effects: Sequence[Any]) -> tuple[Any, ...]:
    """The effects with as few syncs between them as will do; a load reads after one, or what the launch found."""
    return _Syncs(tuple(effects)).inserted()


def laid_out(effects: Sequence[Any]) -> tuple[list[Body], dict[Any, tuple[Body, int]]]:
    """The lists of effects, with the places of the syncs in each, and where each effect stands."""
    syncs = _Syncs(tuple(effects))
    syncs.number(None)
    return list(syncs.bodies.values()), syncs.place


class Body:
    """A list of effects: those of the program, or of the loop whose iterations are `turn`, inside of others."""

    def __init__(self, effects: tuple[Any, ...], loop: Recur | None, around: frozenset[Turn] = frozenset()) -> None:
        self.effects, self.loop = effects, loop
        self.turn = loop.turn if loop else None
        self.turns = around | {loop.turn} if loop else around
        self.stores = [changing(e) for e in effects]
        self.storing: dict[Any, list[int]] = {}  # where each view is stored into
        for i, stores in enumerate(self.stores):
            for view in {s.view for s in stores}:
                self.storing.setdefault(view, []).append(i)
        self.needed: list[Cut] = []
        self.cuts: list[int] = []  # where the syncs are, in order
        self.syncs: dict[int, Sync] = {}

    def overwritten(self, view: Any, after: int) -> int:
        """The first effect behind `after` that stores into a view."""
        places = self.storing.get(view, [])
        k = bisect_right(places, after)
        return places[k] if k < len(places) else len(self.effects)

    def between_stores(self) -> None:
        """Cuts between stores that may be to one element."""
        kinds = alike((i, t) for i, stores in enumerate(self.stores) for t in stores)
        near = Changes((n, t) for n, (_, t) in enumerate(kinds))
        for here, t in kinds:
            for n, s in near.of(t):
                there = kinds[n][0]  # of several before one, the last is the one that is closest to it
                if there[0] < here[-1] and meet_again(s, t):
                    self.needed += [(there[bisect_left(there, j) - 1], j) for j in here if there[0] < j]
        if self.loop is not None:
            turn = self.loop.turn
            inside = {turn, *(r.turn for r in loops(self.effects))}
            for here, t in kinds:
                if any(_come_again(s, t, turn, inside) for _, s in near.of(t)):
                    self.needed += [(-1, j) for j in here]


class _Syncs:
    def __init__(self, effects: tuple[Any, ...]) -> None:
        self.bodies: dict[Recur | None, Body] = {}
        self.place: dict[Any, tuple[Body, int]] = {}  # where each effect stands; what is before the first stands at -1
        self.asked_last: set[Recur] = set()  # loops whose condition reads what an iteration stored
        self._lay_out(effects, None)
        self._need(effects, None, {})
        self.numbers = 0
        self.done = Rewritten()

    def _lay_out(self, effects: tuple[Any, ...], loop: Recur | None, around: frozenset[Turn] = frozenset()) -> None:
        body = self.bodies[loop] = Body(effects, loop, around)
        body.between_stores()
        if loop is not None:
            self.place[Begin(loop.turn)] = body, -1
        for i, e in enumerate(effects):
            self.place[e] = body, i
            if isinstance(e, Recur):
                self._lay_out(e.effects, e, body.turns)

    # ---- what loads need

    def _need(self, effects: tuple[Any, ...], loop: Recur | None, path: dict[Body, int]) -> None:
        """Add what the loads of these effects need; `path` says where the loops around them stand."""
        body = self.bodies[loop]
        for i, e in enumerate(effects):
            here = {**path, body: i}
            if isinstance(e, Recur):
                self._loads((e.turn, *e.inits), here)
                self._need(e.effects, e, here)
                if e.condition is not None:
                    self._loads((e.condition,), here, e)
            else:
                self._loads((e,), here)
        if loop is not None:
            self._loads(loop.yields, {**path, body: len(effects)})

    def _loads(self, roots: tuple[Any, ...], path: dict[Body, int], asking: Recur | None = None) -> None:
        for t in loads(*roots):
            if t.after is not None:
                body, after = self.place[t.after]
                if asking is not None and body.loop is asking:
                    self.asked_last.add(asking)
                    for around, at in path.items():  # and before the first iteration
                        earlier = [i for i in range(at) if any(s.view is t.view for s in around.stores[i])]
                        around.needed += [(i, at) for i in earlier[-1:]]
                else:
                    body.needed.append((after, min(body.overwritten(t.view, after), path[body])))

    # ---- the syncs

    def inserted(self) -> tuple[Any, ...]:
        """The effects of the program with the syncs."""
        self.number(None)
        return self._rebuilt(None)

    def number(self, loop: Recur | None) -> None:
        """Give the syncs of a body, and of the loops in it, numbers in order."""
        body = self.bodies[loop]
        cuts = {*_cuts(body.needed), *((len(body.effects),) if loop in self.asked_last else ())}
        body.cuts = sorted(cuts)
        for i, e in enumerate((*body.effects, None)):
            if i in cuts:
                self.numbers += 1
                body.syncs[i] = Sync(self.numbers, body.turn)
            if isinstance(e, Recur):
                self.number(e)

    def _rebuilt(self, loop: Recur | None) -> tuple[Any, ...]:
        body = self.bodies[loop]
        out: list[Any] = []
        for i, e in enumerate((*body.effects, None)):
            out += [body.syncs[i]] if i in body.syncs else []
            if isinstance(e, Recur):
                value = lambda v: self._value(v, self.done)  # noqa: E731
                syncs = self.bodies[e].syncs
                syncs |= {k: replace(sync, turn=value(e.turn)) for k, sync in syncs.items()}
                inside = self._rebuilt(e)  # first: states may be what its updates found
                performed = {t: new for t, new in self.done.items() if isinstance(t, Effect)}
                states: Any = tuple(value(s) for s in e.states)
                inits, yields = (tuple(value(v) for v in vs) for vs in (e.inits, e.yields))
                asked = None if e.condition is None else self._value(e.condition, Rewritten(performed), e)
                out.append(inherit(e, Recur(value(e.turn), states, inits, yields, inside, asked)))
            elif e is not None:
                out.append(self._value(e, self.done))
        return tuple(out)

    def _value(self, root: Any, done: Rewritten, asking: Recur | None = None) -> Any:
        """`root` whose loads read after syncs; those of the condition of the loop `asking` after its last one."""
        for t in walk(root, below=lambda t: () if t in done else asked_for(t)):
            if t not in done:
                new = t
                if isinstance(t, Load) and t.after is not None:
                    body, after = self.place[t.after]
                    own = asking is not None and body.loop is asking
                    at = body.cuts[-1 if own else bisect_right(body.cuts, after)]  # the first behind it is early enough
                    new = replace(t, after=body.syncs[at])
                done[t] = inherit(t, new.rebuild(done))  # type: ignore[attr-defined]
        return done[root]


def meet_again(s: Any, t: Any) -> bool:
    """Whether two stores may be to one element, without being to the very same ones lane by lane."""
    if isinstance(s, Update) or isinstance(t, Update):
        return fenced(s, t) or conflict(s, t)
    return s.view is t.view and s.index != t.index and not disjoint(s, t)


def _come_again(s: Any, t: Any, turn: Turn, inside: set[Turn]) -> bool:
    """Whether an iteration may store by `t` to an element that an earlier one stored to by `s`, in another lane."""
    if fenced(s, t):
        return True
    if s.view is not t.view or disjoint(s, t):
        return False
    if isinstance(s, Update) or isinstance(t, Update):
        if not conflict(s, t):
            return False
    elif s.index == t.index and not any(i.needs & inside for i in t.index):
        return False  # a store has no element in two lanes
    return not any(x is y and _moves(x, turn, inside) for x, y in zip(s.index, t.index, strict=True))


def _moves(x: Value, turn: Turn, inside: set[Turn]) -> bool:
    """Whether a coordinate is another one in each iteration, the same in all lanes."""
    form = affine(x)
    rest = [k for k in form if k is not None and k is not Coord(turn)]
    return Coord(turn) in form and not any(k.lanes or k.needs & inside for k in rest)


def _cuts(needed: Iterable[Cut]) -> list[int]:
    """The fewest places that serve all needs, by their last possible place."""
    cuts: list[int] = []
    for after, at in sorted(needed, key=lambda c: c[1]):
        if not cuts or cuts[-1] <= after:
            cuts.append(at)
    return cuts
