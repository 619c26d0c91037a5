"""Mutants of the rules: without a guard, with another number, with operands exchanged, with another operator; with
something wrong in a function that a guard or a right side computes with, for this rule alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Final

from ...rules.pattern import Expr, Rule
from ...rules.rule_set import RuleSet, Table, active, using
from ...rules.tables import BUILTIN
from ...terms.operators import OPERATORS
from .functions import Functions, changed_functions
from .source import Mutant

OTHER: Final = {
    "lt": "le", "le": "lt", "eq": "ne", "ne": "eq", "minimum": "maximum", "maximum": "minimum", "add": "sub",
    "sub": "add", "floordiv": "ceil_div", "ceil_div": "floordiv", "and": "or", "or": "and",
}  # fmt: skip


def rule_mutants(of_each: int | None) -> list[Mutant]:
    """So many mutants of each rule, its guards first, or all."""
    found = []
    for r in BUILTIN.rules:
        same: Counter[str] = Counter()
        changed = []
        for kind, new in _changes(r):
            same[kind] += 1
            number = f" {same[kind]}" if same[kind] > 1 else ""
            shown = f"{new.left} -> {new.right} {list(new.when)}"
            changed.append(Mutant(f"rule {r.name}: {kind}{number}", kind, shown, _put(r, lambda new=new: (new, {}))))  # type: ignore[misc]
        for kind, shown, made in changed_functions(r, BUILTIN.table(r)):
            same[kind] += 1
            number = f" {same[kind]}" if same[kind] > 1 else ""
            changed.append(Mutant(f"rule {r.name}: {kind}{number}", kind, shown, _put(r, made)))
        found += changed[: max(of_each, len(r.when))] if of_each is not None else changed
    return found


def mutated(mutant: Mutant) -> Rule:
    """The rule that a mutant of a rule puts in force."""
    with mutant.applied():
        return active().rule(mutant.name.removeprefix("rule ").partition(":")[0])


def _put(old: Rule, made: Callable[[], tuple[Rule, Functions]]) -> Callable[[], AbstractContextManager[None]]:
    rules = cache(lambda: exchanged(BUILTIN, old, *made()))  # compiled once

    @contextmanager
    def applied() -> Iterator[None]:
        with using(rules()):
            yield

    return applied


def exchanged(rules: RuleSet, old: Rule, new: Rule, functions: Functions | None = None) -> RuleSet:
    """The rules with another in the place of one, and functions that it computes with."""
    tables: list[Table] = []
    for t in rules.tables:
        more = functions if functions and old in t.rules else {}
        made = tuple(new if r is old else r for r in t.rules)
        tables.append(replace(t, rules=made, functions={**t.functions, **more}))
    return RuleSet(tuple(tables))


def _changes(r: Rule) -> Iterator[tuple[str, Rule]]:
    """Everything that can be wrong with a rule, guards first, each kind of change at most once of each place."""
    for i in range(len(r.when)):
        yield f"dropped guard {i + 1}", replace(r, when=r.when[:i] + r.when[i + 1 :])
    for what, new in _wrong(r.right):
        yield what, replace(r, right=new)
    for i, g in enumerate(r.when):
        for what, new in _wrong(g):
            yield f"{what} in guard {i + 1}", replace(r, when=(*r.when[:i], new, *r.when[i + 1 :]))
    names = [a for a in _variables(r.left) if a is not r.right and a.args != r.right.args]
    if r.right.head == "var":
        for other in names:
            if other.head == "var" and other.args[1] == r.right.args[1]:
                yield "another operand", replace(r, right=other)
    if r.right.head == "const" and isinstance(r.right.args[0], bool):
        yield "wrong constant", replace(r, right=Expr("const", (not r.right.args[0],)))


def _variables(e: Expr) -> list[Expr]:
    found: dict[Any, Expr] = {}
    stack = [e]
    while stack:
        x = stack.pop()
        if x.head in ("var", "literal"):
            found.setdefault(x.args, x)
        stack += [a for a in x.args if isinstance(a, Expr)]
    return list(found.values())


def _wrong(e: Expr) -> Iterator[tuple[str, Expr]]:
    """An expression with one thing wrong in it."""
    if e.head == "const" and type(e.args[0]) is int:
        yield "off by one", Expr("const", (e.args[0] + 1,))
    if e.head in OTHER:
        yield "wrong operator", Expr(OTHER[e.head], e.args)
    if e.head in OPERATORS and len(e.args) == 2 and not OPERATORS[e.head].commutative:
        yield "swapped operands", Expr(e.head, e.args[::-1])
    if e.head == "select":
        yield "swapped operands", Expr(e.head, (e.args[0], e.args[2], e.args[1]))
    for i, a in enumerate(e.args):
        if isinstance(a, Expr):
            for what, new in _wrong(a):
                yield what, Expr(e.head, (*e.args[:i], new, *e.args[i + 1 :]))
