"""What the last of some instances does, as statements: each takes a ticket when it has done its own.

    last along part { … }           sync
                                    ticket = update tickets[n] by add of (1) acq_rel
                                    if ticket == parts - 1:
                                      …
                                      store tickets[n] = 0

Nobody waits.  The last ticket is drawn when all others have been, whatever order instances run in; whoever draws it
sees what the others stored, and leaves the counter as the next launch has to find it.

Used by `emit`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..rules.simplify import node
from ..terms.dtypes import i32
from ..terms.gpu import Fetch, If, Last, Store, Sync, Update, Var
from ..terms.index import Cast, apply, const, sub
from ..terms.normal import View
from .emit_loops import OrderedLoops
from .lower_buffers import row_major
from .scopes import Scope


class Tickets(OrderedLoops):
    """Emits what the last of some instances does."""

    counters: list[View]
    """One for each such effect, with an element for each set of instances that have a last one."""

    @abstractmethod
    def instances(self) -> list[tuple[Any, Any, Var]]:
        """The axes of instances in hand, with how many there are and which of them one is."""

    def last(self, e: Last) -> None:
        apart = [(extent, var) for a, extent, var in self.instances() if a is not e.along]
        parts = next(extent for a, extent, _ in self.instances() if a is e.along)
        shape, at = tuple(x for x, _ in apart), tuple(v for _, v in apart)
        counter = View(self.fresh("tickets"), "counter", i32, shape, row_major(shape))
        self.taken.add(counter.name)
        self.counters.append(counter)
        ticket = Var(self.fresh("ticket"), i32)
        self.scope.body.append(Sync(self.phase))
        drawn = Update(counter, at, "add", (const(1, i32),), (), order="acq_rel")
        self.scope.body.append(Fetch(ticket, drawn))
        final = node(Cast(node(sub(self.emit(parts), const(1))), i32))
        inside = self._inside(e)
        reset = Store(counter, at, const(0, i32))
        self.scope.body.append(If(apply("eq", ticket, final), (*inside, reset)))

    def _inside(self, e: Last) -> tuple[Any, ...]:
        """The statements of the last one: what is computed only there stays there."""
        outer, root = self.scope, self.root
        self.root = self.scope = Scope(None, None, None, e.effects)
        self.root.done, self.root.taken = dict(root.done), set(root.taken)
        self.open.append(self.root)
        self.effects(e.effects)
        inside = tuple(self.root.body)
        self.open.pop()
        self.root, self.scope = root, outer
        return inside
