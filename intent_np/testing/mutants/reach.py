"""What the compilation of a kernel reaches: lines of passes, rules that fire, rules whose left side occurs.

A mutant can make a difference only where its line runs, or its rule fires; a rule that lacks a guard, where its left
side occurs.  So a trial is compiled once for all mutants, and each mutant is held against those that reach it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from ...rules import matcher
from ...rules.pattern import Expr, Rule
from ...rules.rule_set import RuleSet, observing, using
from ...rules.tables import BUILTIN
from .passes import BEHIND
from .suite import Trial

PASSES = ("intent_np/passes/", *BEHIND.values())
"""Files of which each line that runs counts."""


@dataclass
class Reach:
    """Of one trial: lines by file, as bits; rules; digests of the texts; seconds of a compilation."""

    name: str
    digests: tuple[str, str] = ("", "")
    lines: dict[str, int] = field(default_factory=dict)
    fired: frozenset[str] = frozenset()
    occurs: frozenset[str] = frozenset()
    seconds: float = 0.0

    def runs(self, file: str, first: int, last: int) -> bool:
        """Whether some line between two runs."""
        return bool(self.lines.get(file, 0) >> first & (1 << last - first + 1) - 1)


def reach(trial: Trial) -> Reach | None:
    """What a trial reaches; None where it is no kernel, or the compiler refuses it."""
    try:
        began = time.perf_counter()
        fired: set[str] = set()
        rules = _watching()
        rules.seen.clear()
        with tracing() as lines, using(rules), observing(lambda rule, old, new: fired.add(rule)):
            digests = trial.compiled().digests
        seconds = time.perf_counter() - began
    except Exception:
        return None
    return Reach(trial.name, digests, lines, frozenset(fired), frozenset(rules.seen), seconds)


# ---- lines


@contextmanager
def tracing() -> Iterator[dict[str, int]]:
    """Collects the lines of passes that run inside, by file, as bits."""
    found: dict[str, int] = {}
    sets: dict[str, set[int]] = {}

    def local(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            sets[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def called(frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not _is_pass(name):
            return None
        sets.setdefault(name, set()).add(frame.f_lineno)
        return local

    if sys.version_info >= (3, 12):
        with _monitored(sets):
            yield found
    else:
        before = sys.gettrace()
        sys.settrace(called)
        try:
            yield found
        finally:
            sys.settrace(before)
    for name, lines in sets.items():
        found[name] = sum(1 << n for n in lines)


def _is_pass(file: str) -> bool:
    return any(part in file for part in PASSES)


@contextmanager
def _monitored(sets: dict[str, set[int]]) -> Iterator[None]:
    """The same by the interpreter's monitoring, where each line tells once."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    tool = monitoring.COVERAGE_ID

    def line(code: Any, number: int) -> Any:
        if _is_pass(code.co_filename):
            sets.setdefault(code.co_filename, set()).add(number)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "mutants")
    monitoring.register_callback(tool, monitoring.events.LINE, line)
    monitoring.set_events(tool, monitoring.events.LINE)
    monitoring.restart_events()
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


# ---- rules


class _Watching(RuleSet):
    """The built-in rules, and before each its left side alone, which is seen and changes nothing."""

    def __init__(self, rules: RuleSet) -> None:
        object.__setattr__(self, "seen", set())
        functions: dict[str, Callable[[], bool]] = {}
        tables = []
        for t in rules.tables:
            both: list[Rule] = []
            for r in t.rules:
                name = f"sees{len(functions)}"
                functions[name] = self._sees(r.name)
                both += [replace(r, name=f"{r.name}?", when=(Expr("computed", (name,)),)), r]
            tables.append(replace(t, rules=tuple(both), functions={**t.functions, **functions}))
        object.__setattr__(self, "tables", tuple(tables))
        object.__setattr__(self, "functions", functions)

    seen: set[str]
    functions: dict[str, Callable[[], bool]]

    def _sees(self, name: str) -> Callable[[], bool]:
        def sees() -> bool:
            self.seen.add(name)
            return False

        return sees

    @cached_property
    def scalar(self) -> dict[str, Any]:
        every = (r for t in self.tables if t.language is None for r in t.rules)
        return matcher.compile_rules(every, self.functions)


@cache
def _watching() -> _Watching:
    return _Watching(BUILTIN)
