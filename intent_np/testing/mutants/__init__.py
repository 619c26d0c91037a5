"""Mutants: the compiler with one thing wrong, in memory, to see whether a suite notices.

    for mutant in mutants():
        with mutant.applied():
            ...                     # the compiler is wrong here, and in forks of this process

Passes are mutated in their syntax trees, rules in their patterns; no file is touched.
"""

from __future__ import annotations

from .passes import pass_mutants
from .rules import rule_mutants
from .source import Mutant
from .witnesses import Witness, key, witnesses

__all__ = ["Mutant", "Witness", "mutants", "pass_mutants", "rule_mutants", "witnesses"]


def mutants() -> list[Mutant]:
    """The mutants that a witness has shown to be wrong: a kernel and a call whose results they change.
    `python -m benchmarks.mutants --search` looks for witnesses."""
    known = {w.key for w in witnesses()}
    rules = [m for m in rule_mutants(None) if key(m.name, m.change) in known]
    return [*pass_mutants(None, lambda name, change: key(name, change) in known), *rules]
