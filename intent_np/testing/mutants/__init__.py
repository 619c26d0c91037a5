"""Mutants: the compiler with one thing wrong, in memory, to see whether a suite notices.

    for mutant in mutants():
        with mutant.applied():
            ...                     # the compiler is wrong here, and in forks of this process

Passes are mutated in their syntax trees, rules in their patterns; no file is touched.
"""

from __future__ import annotations

from pathlib import Path

from .passes import pass_mutants
from .rules import rule_mutants
from .source import Mutant

__all__ = ["Mutant", "candidates", "mutants", "pass_mutants", "rule_mutants"]


def candidates(of_each: int = 8, of_each_rule: int = 3) -> list[Mutant]:
    """So many things that may be wrong in each module of passes, and with each rule; the same in every process.  Some
    change no result."""
    return [*pass_mutants(of_each), *rule_mutants(of_each_rule)]


def mutants() -> list[Mutant]:
    """The mutants that a witness has shown to be wrong: a kernel and a call whose results they change, or which they
    refuse or crash on.  `python -m benchmarks.mutants --search` looks for witnesses."""
    listed = Path(__file__).with_name("witnessed.txt").read_text().splitlines()
    known = {key(*line.split(" | ")[:2]) for line in listed}
    rules = [m for m in rule_mutants(3) if key(m.name, m.change) in known]
    return [*pass_mutants(None, lambda name, change: key(name, change) in known), *rules]


def key(name: str, change: str) -> tuple[str, str]:
    """What a mutant is known by: its place and kind without the number among its like, and what it changes."""
    return name if name.startswith("rule ") else name.rstrip(" 0123456789"), flat(change)


def flat(text: str) -> str:
    """A text on one line, as `witnessed.txt` has it."""
    return " ".join(text.split()).replace(" | ", " / ")
