"""Whether a rule over terms does anything that the others would not do without it.

Its left sides are those at which it fires on random terms.  A rule is subsumed if, at each of them, the rest of the
rules come to the same normal form as they do from its right side, or to one that is no larger by the table's measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...rules.rule_set import RuleSet, using
from ...terms.core import Arena
from .structured import TRIALS, Firing, Trial, observed


def subsumed(rules: RuleSet, names: Iterable[str] | None = None) -> list[str]:
    """The rules over terms (or those of them with these names) without which the others do the same on every left side
    that is found, and those of which none is found."""
    found = []
    for trial in TRIALS:
        over = [r.name for t in rules.tables if t.language is trial.language for r in t.rules]
        found += list(_without_need(trial, rules, [n for n in over if names is None or n in set(names)]))
    return found


def _without_need(trial: Trial, rules: RuleSet, names: list[str]) -> list[str]:
    """Those of these rules for which no left side needs them, among so many that each had its chances."""
    left = {name: rules.without(name) for name in names}
    for seed in range(trial.seeds):
        if not left:
            break
        with Arena():
            for f in _left_sides(trial, seed, rules, left):
                if f.rule in left and not _reached(trial, f, rules, left[f.rule]):
                    del left[f.rule]
    return list(left)


def _left_sides(trial: Trial, seed: int, rules: RuleSet, names: Iterable[str]) -> Iterator[Firing]:
    """Where these rules fire on a random term, each place once."""
    seen, _ = observed(trial, trial.term(seed), rules)
    return iter({(f.rule, f.old): f for f in seen if f.rule in names}.values())


def _reached(trial: Trial, f: Firing, rules: RuleSet, rest: RuleSet) -> bool:
    """Whether the rest comes as far from the left side of a firing as from its right side."""
    measure: Any = rules.table(rules.rule(f.rule)).measure
    with using(rest):
        without, behind = trial.rewritten(f.old), trial.rewritten(f.new)
    return without is behind or measure(without) <= measure(behind)
