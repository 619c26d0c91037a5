"""Rules over terms tried on random programs: each firing keeps the type, the extents and every element.

Random terms are made of what such rules look for, and executed before and behind each firing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...passes.compose_shapes import rewritten
from ...rules.rule_set import RuleSet, Table, observing, using
from ...rules.simplify import simplify
from ...terms.core import Arena
from ...terms.language import Language
from ...terms.logical import LOGICAL
from ...terms.normal import NORMAL
from . import arranged, folded
from .meaning import same
from .shown import Call, shown


class Trial(NamedTuple):
    """How rules over the terms of a language are tried: on random terms, by what rewrites them, and by programs that
    leave the same where nothing but the rule stands between them."""

    language: Language
    term: Callable[[int], Any]
    rewritten: Callable[[Any], Any]
    calls: Callable[..., list[tuple[Call, ...]]]
    left: Callable[[Call], Any]
    seeds: int


TRIALS = (
    Trial(LOGICAL, arranged.random_value, rewritten, arranged.calls, arranged.left, 1500),
    Trial(NORMAL, folded.random_effect, simplify, folded.calls, folded.left, 150),
)
ENDLESS = 2000
"""Firings on one small value that no terminating rule needs."""
ENOUGH = 2
"""Firings of a rule after which the search for more ends."""
FEWEST = 150
"""Random terms that are tried in any case."""


class Firing(NamedTuple):
    """A rule that fired, with the terms before and behind."""

    rule: str
    old: Any
    new: Any


@dataclass(frozen=True)
class Broken:
    """A rule that changed something, in words, with a Python program that runs what was before and behind it."""

    rule: str
    text: str
    program: str


def observed(trial: Trial, root: Any, rules: RuleSet) -> tuple[list[Firing], Exception | None]:
    """What fires on a term by these rules, in order, and what was raised on the way."""
    seen: list[Firing] = []

    def watch(name: str, old: Any, new: Any) -> None:
        seen.append(Firing(name, old, new))
        if len(seen) == ENDLESS:
            raise RuntimeError("it does not end")

    with using(rules), observing(watch):
        try:
            trial.rewritten(root)
        except Exception as e:  # the rule computes a field that its term refuses
            return seen, e
    return seen, None


def firings(root: Any, rules: RuleSet, trial: Trial = TRIALS[0]) -> tuple[dict[str, int], Broken | None]:
    """How often each rule over terms of the language fires on a term, and the first firing that is wrong."""
    tables = {r.name: t for t in rules.tables if t.language is trial.language for r in t.rules}
    seen, raised = observed(trial, root, rules)
    if raised is not None:
        name = _blamed(trial, root, rules, tables, seen)
        told = f"rewriting {root} raises {type(raised).__name__}: {raised}"
        return {}, Broken(name, told, shown(trial.calls(root)[0], trial.language))
    count: dict[str, int] = {}
    for f in seen:
        if f.rule in tables:
            count[f.rule] = count.get(f.rule, 0) + 1
            if (wrong := _wrong(trial, tables[f.rule], f)) is not None:
                text, calls = wrong
                return count, Broken(f.rule, text, shown(calls, trial.language))
    return count, None


def _blamed(trial: Trial, root: Any, rules: RuleSet, names: Iterable[str], seen: list[Firing]) -> str:
    """The rule that raises by itself, or else the last that fired."""
    alone = (name for name in names if observed(trial, root, only(rules, name))[1] is not None)
    return next(alone, seen[-1].rule if seen else "")


def _wrong(trial: Trial, table: Table, f: Firing) -> tuple[str, tuple[Call, ...]] | None:
    """What is wrong with a firing, and programs that show it."""
    pairs = trial.calls(f.old, f.new)
    if f.new.type != f.old.type:
        return f"{f.old} of {f.old.type} becomes {f.new} of {f.new.type}", pairs[0]
    if table.measure is not None and table.measure(f.new) >= table.measure(f.old):
        return f"{f.old} becomes {f.new}, which is not smaller", pairs[0]
    for pair in pairs:
        before, after = map(trial.left, pair)
        if before.shape != after.shape or not same(before, after, pair[0].dtype).all():
            return f"{f.old} is {before.tolist()}, {f.new} is {after.tolist()}", pair
    return None


def try_all(rules: RuleSet, names: Iterable[str]) -> tuple[dict[str, int], dict[str, Broken]]:
    """Random terms until each of these rules has fired often enough, or the seeds are used up.

    A rule that never fires behind all others is tried by itself: it may be wrong as well.
    """
    fired, broken = dict.fromkeys(names, 0), dict[str, Broken]()
    for trial in TRIALS:
        wanted = [r.name for t in rules.tables if t.language is trial.language for r in t.rules if r.name in fired]
        found, wrong = _tried(trial, rules, wanted)
        fired |= found
        broken |= wrong
        for name in wanted:
            if not fired[name] and name not in broken:
                broken |= _tried(trial, only(rules, name), [name])[1]
    return fired, broken


def only(rules: RuleSet, name: str) -> RuleSet:
    """A rule by itself, in its table."""
    r = rules.rule(name)
    return RuleSet((replace(rules.table(r), rules=(r,)),))


def _tried(trial: Trial, rules: RuleSet, wanted: list[str]) -> tuple[dict[str, int], dict[str, Broken]]:
    fired, broken = dict.fromkeys(wanted, 0), dict[str, Broken]()
    for seed in range(trial.seeds if wanted else 0):
        if seed >= FEWEST and all(fired[n] >= ENOUGH or n in broken for n in wanted):
            break
        with Arena():
            count, wrong = firings(trial.term(seed), rules, trial)
        for name in wanted:
            fired[name] += count.get(name, 0)
        if wrong is not None:
            broken.setdefault(wrong.rule, wrong)
    return fired, broken
