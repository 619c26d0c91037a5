"""Calls as what they call: a call and its body are one, so that what is known of one is known of the other."""

from __future__ import annotations

from typing import Any

from ..core import replace, rewrite
from ..normal import Memory
from .effects import written
from .procedures import Call, Opened, Perform, Returned, over, performed
from .tensors import Read

BLOCKS = ("body", "then", "otherwise")  # fields that hold statements


def inlined(t: Any) -> Any:
    """`t` with each call replaced by the helper's result, or by its statements, over the call's arguments."""
    return rewrite((t,), _Inliner().step)[0]


class _Inliner:
    """One rewriting, bottom-up: what a call is made of was inlined already."""

    def __init__(self) -> None:
        self.calls: dict[Any, Opened] = {}
        self.last: dict[Perform, dict[Memory, Any]] = {}

    def step(self, u: Any) -> Any:
        match u:
            case Call():
                return self.opened(u).results[u.position]
            case Returned(call, position):
                return self.opened(call).results[position]
        names = [n for n in BLOCKS if hasattr(u, n)]
        if any(isinstance(e, Perform) for n in names for e in getattr(u, n)):
            return replace(u, **{n: self.statements(getattr(u, n)) for n in names})
        return self.settled(u)

    def settled(self, u: Any) -> Any:
        """A read behind a call names the statement that wrote last in it."""
        if isinstance(u, Read) and isinstance(u.after, Perform) and (w := self.writers(u.after).get(u.view)):
            return replace(u, after=w)
        return u

    def opened(self, call: Perform | Call) -> Opened:
        key = call.procedure, call.args
        if key not in self.calls:
            self.calls[key] = over(call, self.settled)
        return self.calls[key]

    def statements(self, body: tuple[Any, ...]) -> tuple[Any, ...]:
        """Statements with those of calls among them."""
        return tuple(x for e in body for x in (self.opened(e).body if isinstance(e, Perform) else (e,)))

    def writers(self, call: Perform) -> dict[Memory, Any]:
        """The last statement in a call that writes each view."""
        if call not in self.last:
            inside = (w for e in self.opened(call).body for w in performed(e))
            self.last[call] = {view: w for w in inside if (view := written(w)) is not None}
        return self.last[call]
