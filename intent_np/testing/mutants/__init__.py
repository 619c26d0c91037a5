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
    found = {key(m.name, m.change): m for m in rule_mutants(None)[::-1]}
    passes = pass_mutants(None, lambda name, change: key(name, change) in known)[::-1]
    found |= {key(m.name, m.change): m for m in passes}
    return [m for k, m in reversed(found.items()) if k in known]
