"""What the emission of statements keeps: scopes, and what is read before it is written.

Used by `emit`; nothing here makes a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from ..rules.affine import affine
from ..terms.blocked import Loop, Perform, Slice
from ..terms.core import find
from ..terms.gpu import Var
from ..terms.grouped import Sync
from ..terms.index import Const, Extent, Param, Physical, Stride, Value, is_op
from ..terms.invariant import invariant_loops
from ..terms.normal import Combine, Coord, Final, Load, Store, Turn, Update, View
from ..terms.ordered import loads
from ..terms.updates import Found
from .dependences import apart_now, changing, of_one_member

LEAVES = (Const, Extent, Param, Stride, Physical, Var, View, Combine)


def integral(v: Any) -> Any:
    """A number without its dtype: 0 for 0.0, so that a fill or a full fragment has one spelling."""
    whole = isinstance(v, float) and v == v and abs(v) < 2**53 and v == int(v) and str(v) != "-0.0"
    return int(v) if whole else v


def is_test(v: Any) -> bool:
    """A comparison of names: it reads best where it is used, and costs nothing there."""
    return is_op(v, "lt", "le") and all(isinstance(a, LEAVES) for a in v.args)


class Scope:
    """The statements of one loop body (or of the kernel), and what is computed there."""

    def __init__(
        self, parent: Scope | None, slice: Slice | Turn | None, first: Value | None, roots: tuple[Any, ...]
    ) -> None:
        self.parent, self.slice, self.first = parent, slice, first
        self.body: list[Any] = []
        self.taken: set[str] = set()
        self.below: set[str] = set()  # names in loops of this body that are complete
        self.done: dict[Any, Any] = {}
        self.uses = uses(roots)
        self._numbers: dict[str, int] = {}

    def first_free(self, hint: str) -> int:
        """The least number that, behind `hint`, gives a name that is not taken here; 0 for `hint` alone."""
        i = self._numbers.get(hint, 0)
        while (f"{hint}_{i}" if i else hint) in self.taken:
            i += 1
        self._numbers[hint] = i
        return i

    def slices(self) -> frozenset[Any]:
        """The slices whose loops are open."""
        return frozenset() if self.parent is None else self.parent.slices() | {self.slice}


def uses(roots: tuple[Any, ...]) -> dict[Any, int]:
    """Uses of each term in one scope: a loop counts by its bounds, not by what it computes inside."""
    count: dict[Any, int] = {}
    seen: set[Any] = set()
    stack = list(roots)
    for r in roots:
        count[r] = count.get(r, 0) + 1
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        below = [b for s in t.segments for b in (s.lo, s.hi)] if isinstance(t, Loop) else list(t.children())
        for c in dict.fromkeys(below):
            count[c] = count.get(c, 0) + 1
        stack.extend(below)
    return count


def extents_used(roots: tuple[Any, ...]) -> list[Extent]:
    """The extents that statements use, in order; the shape of a view is the view's own."""
    seen: dict[Any, None] = {}
    stack = list(reversed(roots))
    while stack:
        t = stack.pop()
        if t not in seen and not isinstance(t, View):
            seen[t] = None
            stack.extend(reversed(t.children()))
    return [t for t in seen if isinstance(t, Extent)]


def writes(*effects: Any) -> set[str]:
    """The names of the views that these effects store into."""
    return {s.view.name for s in changing(*effects)}


def overtaken(effect: Any, here: Container[Any]) -> list[Load]:
    """Loads in the loops of an effect of what earlier blocks change elsewhere in them, where the loops `here` are open;
    loops that are performed ahead of the effect read what was there, and change it before."""
    if not isinstance(effect, Perform):
        return []
    inside, looped = _without(effect, set(invariant_loops(effect.loop))), _looped(effect)
    read = [t for t in loads(effect) if t.needs & looped and t in inside]
    views = {t.view for t in read}
    changed = {s: _around(effect, s) for s in changing(effect) if s.view in views and s in inside}
    return [t for t in read if any(crosses(s, t, own, here) for s, own in changed.items())]


def crosses(s: Store | Update, t: Load, slices: Iterable[Any], here: Container[Any]) -> bool:
    """Whether a load may be of what a statement changes in other blocks of the loops over `slices` that perform it."""
    if s.view is not t.view or s.index == t.index and told_apart(s):
        return False
    return not of_one_member(s, t, slices) and not apart_now(s, t, here)  # type: ignore[arg-type]


def _looped(effect: Perform) -> frozenset[Any]:
    """The slices whose loops an effect is."""
    return frozenset((effect.loop.slice,)).union(*(frozenset((t.slice,)) for t in find(effect, Loop)))


def _around(effect: Perform, s: Store | Update) -> set[Any]:
    """The slices whose loops perform a statement again and again."""
    return {t.slice for t in find(effect, Loop) if s in changing(t)}


def told_apart(s: Store | Update) -> bool:
    """Whether no two lanes or blocks change one element: those of a store never do."""
    if isinstance(s, Store):
        return True
    varying = ([k for k in affine(i) if k is not None and k.lanes] for i in s.index)
    told = {k.axis for own in varying if len(own) == 1 for k in own if isinstance(k, Coord)}
    return all(a in told for a in s.over if a.coordinate_axes()[0])


def _without(root: Any, left_out: set[Any]) -> set[Any]:
    """What is below a term when some are left out."""
    seen: set[Any] = set()
    stack = [root]
    while stack:
        t = stack.pop()
        if t not in seen and t not in left_out:
            seen.add(t)
            stack.extend(t.children())
    return seen


def seen_by(phase: int, t: Any) -> bool:
    """Whether what a load finds is there behind the sync `phase`."""
    return t.after is None or t.after.number <= phase  # type: ignore[no-any-return]


def read_later(
    others: tuple[Any, ...],
    views: set[str],
    here: frozenset[Any],
    done: Callable[[Loop], bool],
    phase: int,
    meets: Callable[[Load], bool],
    known: Callable[[Final], bool],
) -> dict[Any, bool]:
    """The loads and loops below `others` that must not see what is to be stored into `views` behind the sync `phase`,
    and whether they can be computed where the slices `here` are open, and the results of these ordered loops `known`;
    what it does not meet sees the same."""
    old = lambda t: bool(t.view.names & views) and seen_by(phase, t) and meets(t)  # noqa: E731
    waits = lambda t: any(s.number > phase for s in find(t, Sync)) or not all(map(known, find(t, Final)))  # noqa: E731
    found: dict[Any, bool] = {}
    seen: set[Any] = set()
    stack = [(t, here) for t in reversed(others)]
    while stack:
        t, slices = stack.pop()
        if (t, slices) in seen or isinstance(t, Loop) and done(t):
            continue
        seen.add((t, slices))
        inside = slices
        if isinstance(t, Loop):
            if slices == here and t.needs <= here and not writes(t):
                if any(old(x) for x in find(t, Load)):
                    found[t] = not waits(t)
                continue
            inside = slices - {t.slice}
        elif isinstance(t, Load) and old(t):
            found[t] = found.get(t, True) and t.needs <= slices and not waits(t)
        stack.extend((c, inside) for c in reversed(t.children()) if not isinstance(t, Found))
    return found
