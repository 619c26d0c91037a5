"""Which stores of a kernel have to wait until every thread of the instance has done what comes before.

The threads of an instance share the lanes of a fragment, and a provider may share them out anew for each access.  So a
thread may store an element before another one has loaded it, or stored to it, although the statements have an order.
A stored value that is computed from what was loaded there orders the two by itself; all else takes a barrier.  The
other way round a sync stands between a store and the loads that must see it, and is a barrier itself.

Used by `lower_to_triton`, since barriers are the provider's.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from ..rules.simplify import substitute
from ..terms.core import contains, find
from ..terms.gpu import Dispatch, Fetch, For, If, Let, Load, Store, Sync, Update, Var, While
from ..terms.index import Physical, Value


def waiting(body: Iterable[Any]) -> frozenset[Store | Update]:
    """The stores and updates that need a barrier in front."""
    body = tuple(body)
    search = _Search()
    if _meet(body):
        search.names(body)
        search.block(body, set())
    groups = (waiting(s.body) for s in body if isinstance(s, Dispatch))  # an instance is of one group only
    return frozenset(search.found).union(*groups)


def _meet(body: tuple[Any, ...]) -> bool:
    """Whether what a statement stores to is touched by another access at all."""
    accesses: list[Any] = [*find(body, (Load, Store, Update))]
    called: dict[str, set[Any]] = {}  # the accesses to what may have a name
    for a in accesses:
        for name in a.view.names:
            called.setdefault(name, set()).add(a)
    stores = [a for a in accesses if not isinstance(a, Load)]
    return any(len(called[name]) > 1 for s in stores for name in s.view.names)


class _Search:
    def __init__(self) -> None:
        self.loads: dict[str, set[Load]] = {}  # what each name is computed from, over all its assignments
        self.uses: dict[str, set[str]] = {}
        self.known: dict[Any, Value] = {}  # names of coordinates, and what they are over loops
        self.places: dict[Any, tuple[Value, ...]] = {}
        self.found: set[Any] = set()

    def names(self, body: Iterable[Any]) -> None:
        for s in body:
            match s:
                case Let(var, value):
                    self.loads.setdefault(var.name, set()).update(find(value, Load))
                    self.uses.setdefault(var.name, set()).update(v.name for v in find(value, Var))
                    if not contains(value, Load):
                        self.known.setdefault(var, self._known(value))
                case For(var, _, _, step, carries):
                    # one name for the variables of all loops over blocks of this size
                    over = Var(f"over_{step.name}", var.type) if isinstance(step, Physical) else var  # type: ignore[arg-type]
                    self.known[var] = over
                    self.known |= {c: c for c in carries}
                    self.names(s.body)
                case While(_, carries):
                    self.known |= {c: c for c in carries}
                    self.names(s.body)
                case If():
                    self.names(s.body)

    def block(self, body: Iterable[Any], pending: set[Any], elsewhere: Set[Any] = frozenset()) -> None:
        """Walk statements in order; `pending` holds the accesses that no barrier has closed, and is updated.  Those
        `elsewhere` are of other members of an axis than these statements are performed for."""
        apart: Set[Any] = frozenset()  # what the loops over the range up to here did,
        latest: Set[Any] = frozenset()  # and the one in front
        ends: tuple[Any, Any] = None, None
        way = ""
        for s in body:
            if isinstance(s, Sync):
                pending.clear()
            if isinstance(s, Sync | Dispatch):
                continue
            inner = s.body if isinstance(s, (For, While, If)) else ()
            if isinstance(s, For):
                on = "up" if s.lo is ends[1] else "down" if s.hi is ends[0] else ""
                apart = frozenset() if not on else latest if way and on != way else apart
                ends, way = (s.lo, s.hi), on
            elif not isinstance(s, Let):
                apart, ends, way = frozenset(), (None, None), ""
            latest = frozenset()
            for _ in range(2 if isinstance(s, (For, While)) else 1):  # twice, for what an iteration leaves to the next
                inside = set(pending)
                self.block(inner, inside, elsewhere | apart | latest)
                new = inside - pending
                pending |= inside
                latest |= {a for a in new if isinstance(s, For) and self._varies(a, s)}
            apart |= latest
            pending.update(find([p for p in s.children() if p not in inner], Load))
            s = s.update if isinstance(s, Fetch) else s
            if isinstance(s, (Store, Update)):
                if any(self._conflict(a, s, elsewhere) for a in pending):
                    self.found.add(s)
                    pending.clear()
                    pending.update(find(s, Load))
                pending.add(s)

    def _conflict(self, a: Any, s: Store | Update, elsewhere: Set[Any]) -> bool:
        """Whether a thread may touch an element by `a` that another one stores to by `s`, in the wrong order."""
        if isinstance(a, Update) and isinstance(s, Update):
            return False  # indivisible, and others have a sync between them
        if a is s or s.view.name not in a.view.names and a.view.name not in s.view.names:
            return False
        same = isinstance(s, Store) and self._place(a) == self._place(s)
        if same and a in elsewhere:
            return False  # other members have other elements: a store has none twice
        # lanes of one place are one thread's; a single element is everybody's
        if same and isinstance(a, Load) and any(i.lanes for i in s.index):
            return a not in self._behind(s)
        return True

    def _varies(self, a: Any, loop: For) -> bool:
        """Whether an access is to other elements in each iteration."""
        return any(self.known[loop.var] in find(i, Var) for i in self._place(a))

    def _place(self, a: Any) -> tuple[Any, ...]:
        if a not in self.places:
            self.places[a] = tuple(map(self._known, a.index))
        return self.places[a]

    def _known(self, v: Value) -> Value:
        """A value over what the names in it are known to be."""
        known = {x: self.known[x] for x in find(v, Var) if x in self.known}
        return substitute(v, known) if known else v  # type: ignore[no-any-return]

    def _behind(self, s: Any) -> set[Load]:
        """The loads that what `s` stores is computed from."""
        found = set(find(s.value, Load))
        names, stack = set(), [v.name for v in find(s.value, Var)]
        while stack:
            name = stack.pop()
            if name not in names:
                names.add(name)
                found |= self.loads.get(name, set())
                stack += self.uses.get(name, set())
        return found
