"""Mutants: the compiler with one thing wrong, in memory, to see whether a suite notices.

    for mutant in mutants():
        with mutant.applied():
            ...                     # the compiler is wrong here, and in forks of this process

Passes are mutated in their syntax trees, rules in their patterns; no file is touched.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .passes import pass_mutants
from .rules import rule_mutants
from .source import Mutant

__all__ = ["Mutant", "candidates", "mutants", "pass_mutants", "rule_mutants"]


def candidates(of_each: int = 8, of_each_rule: int = 3) -> list[Mutant]:
    """So many things that may be wrong in each module of passes, and with each rule; the same in every process.  Some
    change no result."""
    return [*pass_mutants(of_each), *rule_mutants(of_each_rule)]


def mutants(of_each: int = 8, of_each_rule: int = 3) -> list[Mutant]:
    """The candidates that a witness has shown to be wrong: a kernel and a call whose results they change, or which they
    refuse or crash on.  `python -m benchmarks.mutants --search` looks for witnesses."""
    listed = Path(__file__).with_name("witnessed.txt").read_text().splitlines()
    known = Counter(tuple(line.split(" | ")[:2]) for line in listed)
    return [m for m in candidates(of_each, of_each_rule) if (m.name, flat(m.change)) in known]


def flat(text: str) -> str:
    """A text on one line, as `witnessed.txt` has it."""
    return " ".join(text.split()).replace(" | ", " / ")
