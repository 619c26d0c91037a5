"""Where terms are interned, and what is known of them beside their identity: names, spans, facts, answers.

with Arena():
    …                     every term that is made here stands in it
arena()                   the one in force
@once                     a function of terms, whose answers stand there too
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .core import Term

F = TypeVar("F", bound=Callable[..., Any])


class Arena:
    """Where terms are interned, one a compilation: `with Arena(): ...`.  Names and spans sit beside identity, and so do
    the facts that were proved about terms, and what passes have to say: remarks, and permissions that they used, with
    the lines for which they did.
    `members` are the terms and `programs` the programs that were found to be of a language; `orders` are the last long
    walks, and `analyses` what passes found out about statements and other passes ask again."""

    __slots__ = ("analyses", "facts", "members", "names", "orders", "programs", "remarks", "spans", "table", "used")

    def __init__(self) -> None:
        self.analyses: dict[Any, Any] = {}
        self.facts: dict[Term, Any] = {}
        self.members: dict[Any, set[Term]] = {}
        self.programs: set[tuple[Any, Term]] = set()
        self.orders: dict[tuple[Any, ...], list[Term]] = {}
        self.table: dict[Any, Term] = {}
        self.names: dict[Term, str] = {}
        self.spans: dict[Term, tuple[Any, ...]] = {}
        self.remarks: dict[Any, None] = {}
        self.used: dict[str, set[int]] = {}

    def __enter__(self) -> Arena:
        _OUTER.set((*_OUTER.get(), _ARENA.get()))
        _ARENA.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        *outer, before = _OUTER.get()
        _OUTER.set(tuple(outer))
        _ARENA.set(before)


_ARENA: ContextVar[Arena] = ContextVar("intent_np_arena", default=Arena())  # noqa: B039
# what each `with` of a context goes back to: an arena may be entered again, and by several threads
_OUTER: ContextVar[tuple[Arena, ...]] = ContextVar("intent_np_outer_arenas", default=())


arena: Callable[[], Arena] = _ARENA.get
"""The arena in force."""


def once(function: F) -> F:
    """Decorator: what a function finds out about terms is kept in the arena, since terms never change.  Its arguments
    are terms and other values that are equal only where they mean the same; nobody changes what it returns."""

    @wraps(function)
    def asked(*arguments: Any) -> Any:
        analyses = _ARENA.get().analyses
        known = analyses.get(function)
        if known is None:
            known = analyses[function] = {}
        try:
            return known[arguments]
        except KeyError:
            found = known[arguments] = function(*arguments)
            return found

    return asked  # type: ignore[return-value]
