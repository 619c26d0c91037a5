"""What statements read of memory that others in front of them have replaced is put aside while it is there.

for t: store b[i] = load b[n - i] + 1                       for t: store b_before[i] = load b[i]
       store y[i] = load b[n - i] after that + load b[i]           store b[i] = load b[n - i] + 1
                                                                   store y[i] = load b[n - i] + load b_before[i]

A statement that reads nothing newer may be performed first instead, and what no loop reads in blocks has a name.  Used
by `stage_stores`, which does the same for what a statement replaces itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from ..rules.bounds import inside
from ..rules.simplify import node
from ..terms.blocked import Slice
from ..terms.core import inherit, replace, walk
from ..terms.index import Value, const, sub
from ..terms.normal import Axis, Begin, Coord, Final, Load, Program, Recur, Store, Update
from ..terms.ordered import Rewritten, evaluated, in_order, loads
from ..terms.updates import Found
from .blocks import fragments
from .dependences import apart_now, changing
from .groups import groups
from .lower_buffers import extent, visible, workspace
from .put_aside import Memory, key, span
from .roles import STRUCTURED
from .syncs import Body, laid_out


def late_reads(program: Program) -> list[Load]:
    """The loads of what other statements of a group have replaced before, where they could not be made earlier."""
    if all(t.after is None for t in loads(*program.effects)):
        return []
    bodies, place = laid_out(program.effects)
    group: dict[Any, int] = {}
    sliced: frozenset[Any] = frozenset()
    found: dict[Any, None] = {}
    if not any(True for b in bodies for _ in _replaced(b, place)):
        return []
    for i, g in enumerate(groups(program.effects)):
        group |= {key(s): i for s in changing(*g.effects)}
        sliced |= {a for a, f in fragments(g, {}, set()).items() if isinstance(f, Slice)}
    for body in bodies:
        for j, t, k in _replaced(body, place):
            both = changing(body.effects[k], *body.effects[j : j + 1])
            together = body.loop is not None or len({group.get(key(s)) for s in both}) == 1
            if together and not _movable(body, k, j) and t in _stuck(body, k, j, sliced, place):
                found[t] = None
    return list(found)


def _roots(body: Body, j: int) -> tuple[Any, ...]:
    """What stands at a place: an effect, or behind the last one what states become."""
    if j < len(body.effects):
        return (body.effects[j],)
    return body.loop.yields if body.loop is not None else ()


def _replaced(body: Body, place: dict[Any, Any]) -> Iterator[tuple[int, Load, int]]:
    """Where a load stands, and the first effect that has replaced by then what it reads."""
    for j in range(len(body.effects) + 1):
        roots = _roots(body, j)
        end = j + any(isinstance(e, Recur) for e in roots)
        for t in loads(*roots):
            if t.after is None or place[t.after][0] is not body:
                continue
            k = body.overwritten(t.view, place[t.after][1])
            while k < end and all(_apart(s, t, body) for s in changing(body.effects[k])):
                k = body.overwritten(t.view, k)
            if k < end:
                yield j, t, k


def _apart(s: Any, t: Load, body: Body) -> bool:
    return s.view is not t.view or apart_now(s, t, body.turns)


def _movable(body: Body, k: int, j: int) -> bool:
    """Whether an effect may be performed in front of an earlier one: it waits for nothing, and nothing waits for it."""
    (e,) = _roots(body, j) if j < len(body.effects) else (None,)
    if e is None or isinstance(e, Recur) or any(k < cut <= j for cut in body.cuts):
        return False
    changed = {s.view for s in changing(e)}
    between = evaluated(*body.effects[k:j])
    return not any(isinstance(t, (Load, Store, Update)) and t.view in changed for t in between)


def _stuck(body: Body, k: int, j: int, sliced: frozenset[Any], place: dict[Any, Any]) -> set[Load]:
    """The loads at a place that are made there, or in a loop there: others come in front of effect `k`."""
    ends = {e.turn: i for i, e in enumerate(body.effects) if isinstance(e, Recur)}

    def waits(t: Any) -> bool:
        if isinstance(t, Final):
            return ends.get(t.turn, -1) >= k
        if isinstance(t, Found):
            return place[t.update][0] is body and place[t.update][1] >= k
        if not isinstance(t, Load) or t.after is None or place[t.after][0] is not body:
            return False
        at = bisect_right(body.cuts, place[t.after][1])
        return at < len(body.cuts) and body.cuts[at] > k

    def early(t: Any) -> bool:
        """Whether a value is computed ahead: a fragment or a scalar by itself, or by a loop of its own."""
        own = not t.lanes & sliced and all(n in body.turns for n in t.needs)
        return own and not any(map(waits, evaluated(t)))

    found: set[Load] = set()
    seen: set[Any] = set()
    stack: list[Any] = list(_roots(body, j))
    while stack:
        t = stack.pop()
        if t in seen or isinstance(t, (Load, *STRUCTURED)) and early(t):
            continue
        seen.add(t)
        if isinstance(t, Load):
            found.add(t)
        stack += t.effects if isinstance(t, Recur) else ()
        stack += [c for c in t.children() if isinstance(c, Value)]
    return found


def put_aside(program: Program, late: Iterable[Load]) -> Program:
    """The program that reads copies instead, which are made as soon as there is something to be read."""
    if not (late := frozenset(late)):
        return program
    memory, (_, place) = Memory(program), laid_out(program.effects)
    behind: dict[Any, list[Any]] = {}

    def listed(effects: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(x for e in effects for x in (e, *behind.get(e, ())))

    done = Rewritten()
    for t in walk(*in_order(program.effects)):
        new: Any = inherit(t, node(t.rebuild(done)))  # type: ignore[attr-defined]
        if isinstance(new, Recur):
            new = inherit(t, replace(new, effects=(*behind.get(Begin(new.turn), ()), *listed(new.effects))))
        elif t in late and (copied := _copied(new, _steady(t, place), memory)) is not None:
            behind.setdefault(new.after, []).append(copied[0])
            new = copied[1]
        done[t] = new
    effects = listed(done[e] for e in program.effects)
    return replace(program, parameters=(*program.parameters, *memory.made), effects=effects)  # type: ignore[no-any-return]


def _steady(t: Load, place: dict[Any, Any]) -> list[bool]:
    """Which coordinates of a load, and whether its condition behind them, are known as soon as there is what it reads,
    and the same wherever it is made."""
    body, at = place[t.after]
    ends = {e.turn: i for i, e in enumerate(body.effects) if isinstance(e, Recur)}

    def late(x: Any) -> bool:
        if isinstance(x, Final):
            return ends.get(x.turn, at) > at
        after = x.after if isinstance(x, Load) else x.update if isinstance(x, Found) else None
        return after is not None and place[after][0] is body and place[after][1] > at

    steady = lambda v: all(n in body.turns for n in v.needs) and not any(map(late, evaluated(v)))  # noqa: E731
    return [steady(v) for v in (*t.index, *((t.valid,) if t.valid is not None else ()))]


def _copied(t: Load, steady: list[bool], memory: Memory) -> tuple[Store, Load] | None:
    """A store of what a load may find, and the load that finds it there: along the axes of the steady coordinates,
    and along the other dimensions of its view.  None where the host can't know how much that is."""
    valid = t.valid if t.valid is not None and steady[-1] else None
    sure = valid is t.valid
    whole = lambda i: all(isinstance(a, Axis) for b in i.lanes for a in (b, *b.lanes))  # noqa: E731
    kept = [s and whole(i) and (sure or inside(i, e)) for i, e, s in zip(t.index, t.view.shape, steady, strict=False)]
    axes = {a for i, k in zip(t.index, kept, strict=True) if k for b in i.lanes for a in (b, *b.lanes)}  # type: ignore[attr-defined]
    if valid is not None and not valid.lanes <= axes:
        return None
    shape: list[Value] = []
    at: list[Value] = []
    for a in sorted(axes, key=lambda a: (a.use, a.digest)):  # type: ignore[attr-defined]
        if (spread := span(a, memory.spans)) is None:
            return None
        lo, hi = spread
        shape.append(extent(lo, hi))
        at.append(node(sub(Coord(a), lo)))
    found, index = list(at), list[Value]()
    for i, e, k in zip(t.index, t.view.shape, kept, strict=True):
        if not (k or visible(e)):
            return None
        if not k:
            memory.uses += 1
            shape.append(e)
            found.append(i)
            at.append(Coord(Axis(const(0), e, memory.uses)))
        index.append(i if k else at[-1])
    view = workspace(f"{t.view.name}_before", t.view.dtype, shape, memory.taken)
    memory.made.append(view)
    store = inherit(t, Store(view, tuple(at), replace(t, index=tuple(index), valid=valid)))
    return store, inherit(t, Load(view, tuple(found), t.valid, t.fill, store))  # type: ignore[return-value]
