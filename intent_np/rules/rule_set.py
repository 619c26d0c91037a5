"""The rules that a compilation rewrites with: the built-in tables, with more from outside, or without one of them.

    with using(BUILTIN.extended(*load("my_rules.py")).without("mod-small")):
        ...

What tables are compiled to is kept with the set, so that leaving a set and coming back costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from ..errors import error
from ..terms.language import Language
from . import matcher, structures
from .pattern import Rule

Step = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Table:
    """Rules of one subject.

    A table over scalar operators has no `language`, and `functions` beside those that all such tables compute with; one
    over the terms of a language computes with its `functions` alone, and ends by `measure`, which each of its rules
    makes smaller (scalar rules end by an order of their patterns).
    """

    name: str
    rules: tuple[Rule, ...]
    about: str = ""
    language: Language | None = None
    functions: Mapping[str, Any] = field(default_factory=dict)
    measure: Callable[[Any], int] | None = None
    tempting: tuple[Rule, ...] = ()
    """What looks like a rule and is none; a counterexample to each is known."""

    @classmethod
    def of(cls, module: ModuleType, name: str, **given: Any) -> Table:
        """The table that a module declares as `RULES`, described by its docstring."""
        tempting, about = getattr(module, "TEMPTING", ()), (module.__doc__ or "").strip()
        return cls(name, tuple(replace(r, subject=name) for r in module.RULES), about, tempting=tempting, **given)


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Tables in force together; names of rules are given once."""

    tables: tuple[Table, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, by table and in order."""
        return tuple(r for t in self.tables for r in t.rules)

    def rule(self, name: str) -> Rule:
        """The rule called `name`; E801 with close names otherwise."""
        for r in self.rules:
            if r.name == name:
                return r
        raise error("E801", name=name, candidates=[r.name for r in self.rules])

    def table(self, r: Rule) -> Table:
        """The table that `r` stands in."""
        return next(t for t in self.tables if r in t.rules)

    def extended(self, *tables: Table) -> RuleSet:
        """With more tables behind these; E802 where a name is given twice."""
        names = [r.name for t in (*self.tables, *tables) for r in t.rules]
        for name in names:
            if names.count(name) > 1:
                raise error("E802", name=name)
        return RuleSet((*self.tables, *tables)) if tables else self

    def without(self, *names: str) -> RuleSet:
        """Without the rules of these names."""
        gone = {self.rule(n) for n in names}
        return (
            RuleSet(tuple(replace(t, rules=tuple(r for r in t.rules if r not in gone)) for t in self.tables))
            if gone
            else self
        )

    @cached_property
    def scalar(self) -> dict[str, Any]:
        """`{operator: step}` of the rules over scalar operators."""
        over = [t for t in self.tables if t.language is None]
        own = {name: f for t in over for name, f in t.functions.items()}
        return matcher.compile_rules((r for t in over for r in t.rules), own)

    @cached_property
    def structured(self) -> dict[type, Step]:
        """`{class: step}` of the rules over logical terms, which `compose_shapes` applies."""
        return self._over("logical")

    @cached_property
    def folds(self) -> dict[type, Step]:
        """`{class: step}` of the rules over the terms of all lower languages, which every simplification applies."""
        return self._over("normal")

    def _over(self, language: str) -> dict[type, Step]:
        steps: dict[type, list[Step]] = {}
        for t in self.tables:
            if t.language is not None and t.language.name == language:
                for kind, step in structures.compile_rules(t.rules, t.language, t.functions).items():
                    steps.setdefault(kind, []).append(step)
        return {kind: _first(those) for kind, those in steps.items()}


def _first(steps: list[Step]) -> Step:
    def step(t: Any) -> Any:
        for s in steps:
            if (found := s(t)) is not None:
                return found
        return None

    return steps[0] if len(steps) == 1 else step


_active: ContextVar[RuleSet | None] = ContextVar("rules in force", default=None)
Observer = Callable[[str, Any, Any], None]
_observer: ContextVar[Observer | None] = ContextVar("observer of rules", default=None)


def active() -> RuleSet:
    """The rules in force."""
    return _active.get() or _builtin()


@cache
def _builtin() -> RuleSet:
    from .tables import BUILTIN  # its tables are made of modules that rewrite by what is in force

    return BUILTIN


@contextmanager
def using(rules: RuleSet) -> Iterator[None]:
    """Put `rules` in force for what runs inside."""
    token = _active.set(rules)
    try:
        yield
    finally:
        _active.reset(token)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Call `observer(rule, before, after)` for each rule that fires inside."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def fired(name: str, before: Any, after: Any) -> None:
    """Tell the observer, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(name, before, after)
