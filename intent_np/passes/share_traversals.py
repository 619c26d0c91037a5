"""blocked -> blocked: folds and traversals that can run in one loop do.

fold max over slice of c …; fold sum over slice of c … (independent)      loop over slice of c combining max, sum …
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..rules.simplify import node, substitute_all
from ..terms.blocked import (
    BLOCKED,
    BlockedProgram,
    Fold,
    Loop,
    Perform,
    Running,
    Segment,
    Traverse,
    scoped,
)
from ..terms.core import children, find, holding, inherit, named, replace, walk
from ..terms.grouped import Last, Sync
from ..terms.normal import Carry, Final, Load, Proj, Recur, Store
from ..terms.ordered import evaluated, in_order, loads
from ..terms.updates import Found, Update
from .base import nanopass
from .dependences import changing
from .lower_regions import refused
from .scopes import crosses


@nanopass(BLOCKED, BLOCKED, needed="makes the loops that the passes behind it read")
def share_traversals(program: BlockedProgram, *, merge: bool = True) -> BlockedProgram:
    """Merge the loops of one axis that stand at one place and do not wait for each other.

    After masks are settled, since equal terms in one loop are computed once; from here on every loop is a Loop.
    Preserves values and effects: members of a cohort have the same level, so none reads another's result.
    """
    groups = (replace(g, effects=_Cohorts(g.effects, merge).effects(g.effects)) for g in program.groups)
    return replace(program, groups=tuple(groups))  # type: ignore[no-any-return]


def _phases(effects: Iterable[Any]) -> dict[Any, int]:
    """The sync behind which each fold or traversal comes: the last that its loads read after, or that it stands
    behind."""
    phase: dict[Any, int] = {}
    now = 0
    for e in in_order(effects):
        now = e.number if isinstance(e, Sync) else now
        for t in holding(e, (Sync, Fold, Traverse)):
            inside = max((phase.get(c, 0) for c in children(t)), default=0)
            phase[t] = max(phase.get(t, 0), t.number if isinstance(t, Sync) else inside)
        below = e
        while isinstance(below, Traverse):  # what is stored keeps its place
            phase[below] = now
            below = below.effect
    return phase


def _results(effects: Iterable[Any]) -> dict[Any, tuple[Any, ...]]:
    """The ordered loops that come before each fold or traversal: those whose results it needs, and of a traversal those
    that stand before it."""
    found: dict[Any, frozenset[Any]] = {}
    performed: set[Any] = set()
    for e in in_order(effects):
        for t in holding(e, (Final, Fold, Traverse)):
            below = frozenset().union(*(found.get(c, frozenset()) for c in children(t)))
            found[t] = found.get(t, frozenset()) | below | ({t.turn} if isinstance(t, Final) else frozenset())
        inner = e
        while isinstance(inner, Traverse):
            found[inner] |= performed
            inner = inner.effect
        if isinstance(e, Recur):
            performed.add(e.turn)
    return {t: tuple(sorted(turns, key=lambda a: a.digest)) for t, turns in found.items()}


def _needs(effects: Iterable[Any], turns: frozenset[Any] = frozenset()) -> dict[Any, frozenset[Any]]:
    """What must be open to perform each traversal: also the ordered loops that it stands in without asking for them."""
    found: dict[Any, frozenset[Any]] = {}
    for e in effects:
        if isinstance(e, Recur):
            found |= _needs(e.effects, turns | {e.turn})
        elif isinstance(e, Last):
            found |= _needs(e.effects, turns)
        inner = e
        while isinstance(inner, Traverse):
            found[inner] = inner.needs | turns
            inner = inner.effect
    return found


def _levels(terms: list[Any], phase: dict[Any, int], needs: dict[Any, frozenset[Any]]) -> dict[Any, int]:
    """How many loops wait for each other up to each term.

    A traversal that stores where others read what was there, or where earlier ones store, comes in their loop or later;
    later if other blocks of theirs read it.  One whose updates others ask what they found comes in one loop with all of
    these.
    """
    loops = [t for t in terms if isinstance(t, (Fold, Traverse))]
    reads = {t: _names(t, Load) for t in loops}
    changes = {t: _names(t, Store) for t in loops}
    writes = {t: {x.view.name for x in changing(t)} for t in loops}
    waits: dict[Any, list[Any]] = {}
    for i, t in enumerate(loops):
        others = (
            (j, r)
            for j, r in enumerate(loops)
            if writes[t] and needs.get(r, r.needs) == needs.get(t, t.needs) and j != i and phase[r] <= phase[t]
        )
        waits[t] = [r for j, r in others if writes[t] & reads[r] or j < i and writes[t] & changes[r]]
    replaced = lambda t, r: t.slice is r.slice and replaces(t, r, needs.get(t, t.needs))  # noqa: E731
    behind = {t: [r for r in rs if replaced(t, r)] for t, rs in waits.items()}
    performs = {u: t for t in loops for u in changing(t) if isinstance(u, Update)}
    asked: dict[Any, set[Any]] = {}
    for t in loops:
        for found in (x for x in evaluated(t) if isinstance(x, Found)):
            by = performs.get(found.update, t)
            if by is not t and by.slice is t.slice:
                asked.setdefault(by, set()).add(t)
                asked.setdefault(t, set()).add(by)
    behind = {t: [r for r in rs if not _waits_for(r, t, waits, asked)] for t, rs in behind.items()}
    level: dict[Any, int] = {}
    while True:
        new: dict[Any, int] = {}
        for t in terms:
            below = max((new.get(c, 0) for c in t.parts), default=0)
            beside = [level.get(r, 0) for r in (*waits.get(t, ()), *asked.get(t, ()))]
            new[t] = max(below + (t in waits), *beside, *(level.get(r, 0) + 1 for r in behind.get(t, ())), 0)
        if new == level:
            return level
        level = new


def replaces(t: Traverse, r: Any, here: Any) -> bool:
    """Whether other blocks of a traversal store what a block of the loop `r` reads; `here` are the loops around."""
    slices = {r.slice, *(x.slice for x in find(r, (Fold, Traverse)))}  # type: ignore[attr-defined]
    read = [x for x in loads(r) if x.needs & slices]
    around: dict[Any, set[Any]] = {}
    for x in find(t, Traverse):
        for s in changing(x):
            around.setdefault(s, set()).add(x.slice)
    return any(crosses(s, x, own, here) for s, own in around.items() for x in read)


def _waits_for(t: Any, other: Any, *waits: dict[Any, Any]) -> bool:
    """Whether a loop waits for another one, or is in one that does."""
    seen, stack = {t}, [t]
    while stack:
        r = stack.pop()
        new = {x for w in waits for x in w.get(r, ())} | {x for x in find(r, (Fold, Traverse)) if x in waits[0]}
        stack += new - seen
        seen |= new
    return other in seen


def _names(t: Any, kind: type[Load | Store]) -> set[str]:
    """The views that the accesses below `t` may be to."""
    found = changing(t) if kind is Store else loads(t)
    return {name for x in found for name in x.view.names}


class _Cohorts:
    def __init__(self, roots: Iterable[Any], merge: bool) -> None:
        self.done: dict[Any, Any] = {}
        self.performed: set[Any] = set()
        self.members: dict[Any, list[Any]] = {}
        self.key: dict[Any, Any] = {}
        roots = tuple(roots)
        terms = holding(roots, (Fold, Traverse))
        phase, results, needs = _phases(roots), _results(roots), _needs(roots)
        level = _levels(terms, phase, needs)
        around: dict[Any, dict[Any, None]] = {}
        for e in in_order(roots):
            inner = e
            while isinstance(inner, Traverse):
                for t in find(inner.effect, (Fold, Traverse)):
                    if inner.slice in t.needs:
                        around.setdefault(t, {})[inner] = None
                inner = inner.effect

        def key(t: Any) -> tuple[Any, ...]:
            """What those that one loop serves have in common: also the loops that they are performed in."""
            within = frozenset(key(o) for o in around.get(t, ()))
            if t.slice.axis.role:  # the copy of an axis that one loop walks, whatever waits in it
                return (t.slice, within)
            return (t.slice, needs.get(t, t.needs), level[t], phase[t], results[t], within)

        for i, t in enumerate(terms):
            if isinstance(t, (Fold, Traverse)):
                self.key[t] = key(t) if merge else (i,)
                self.members.setdefault(self.key[t], []).append(t)

    def effects(self, roots: tuple[Any, ...]) -> tuple[Any, ...]:
        out = [self(e) for e in roots]
        return tuple(dict.fromkeys(out))  # a loop with several traversals is performed once

    def __call__(self, root: Any) -> Any:
        for t in walk(root, below=lambda t: () if t in self.done else children(t)):
            if t in self.done:
                continue
            if t in self.key:
                self._loop(self.members[self.key[t]])
            elif isinstance(t, Proj) and isinstance(self.done[t.value], tuple):
                self.done[t] = inherit(t, self.done[t.value][t.position])
            else:
                new = node(t.rebuild(self.done))  # type: ignore[attr-defined]
                if isinstance(new, (Recur, Last)):
                    new = replace(new, effects=tuple(dict.fromkeys(new.effects)))
                self.done[t] = inherit(t, new)
        return self.done[root]

    def _loop(self, cohort: list[Any]) -> None:
        """Build the cohort's loop; a fold of several components becomes the tuple of its projections."""
        folds = [f for f in cohort if isinstance(f, Fold)]
        traverses = [f for f in cohort if isinstance(f, Traverse)]
        axis = cohort[0].slice.axis
        values = tuple(self(v) for f in folds for v in f.values)
        effects = tuple(self(f.effect) for f in traverses)
        combines, lanewise = tuple(f.combine for f in folds), tuple(f.lanewise for f in folds)
        identities = tuple(i for f in folds for i in f.identities)
        if running := _running(cohort[0], (*values, *effects)):
            carried: dict[Any, Any] = {}
            for (combine, totals, starts), terms in running.items():
                for r in terms:
                    varies = tuple(sorted(r.lanes, key=lambda a: a.digest))
                    carry = Carry(r.slice, len(values) + r.position, r.type, varies)  # type: ignore[arg-type]
                    carried[r] = named(inherit(r, carry), "before")
                values, identities = (*values, *totals), (*identities, *starts)
                combines, lanewise = (*combines, combine), (*lanewise, False)
            values, effects = substitute_all(values, carried), substitute_all(effects, carried)
        segment = Segment(axis.lo, axis.hi, values, effects)
        loop = Loop(cohort[0].slice, combines, identities, (segment,), lanewise)
        position = 0
        for f in folds:
            parts = tuple(Proj(loop, position + i) for i in range(len(f.values)))
            position += len(parts)
            if len(parts) == 1:
                self.done[f] = inherit(f, parts[0])
            else:  # the states of a region are called what its summaries are called
                self.done[f] = tuple(inherit(v, p) for v, p in zip(f.values, parts, strict=True))
        self.done |= dict.fromkeys(traverses, Perform(loop))


def _running(member: Any, roots: tuple[Any, ...]) -> dict[Any, list[Running]]:
    """What the loop of a cohort has to carry for the scans in it: the running values of each fold."""
    found: dict[Any, list[Running]] = {}
    for t in scoped(roots, member.slice):
        if isinstance(t, Running) and t.slice is member.slice:
            if not t.needs <= member.needs | {t.slice}:
                raise refused(t, "a scan inside of a traversal of another axis, which each of its blocks begins again")
            found.setdefault((t.combine, t.values, t.identities), []).append(t)
    return found
