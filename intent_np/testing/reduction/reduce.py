"""The loop of the reducer: try every edit that makes the program smaller, keep those with which it still fails.

Sizes are compared as (functions, parameters, statements, weight), so that each kept edit is a step down and the loop
ends.  Edits come in a fixed order, so that the same failure is reduced to the same text in any process.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ...parsing import parse
from . import expressions, functions, statements
from .tree import copied, printed, size

Edit = Callable[[ast.Module], None]
"""Changes a copy of the tree in place."""

KINDS: Final[tuple[Callable[[ast.Module], Iterator[Edit]], ...]] = (
    functions.dropped_outputs,
    statements.dropped,
    statements.unwrapped,
    functions.dropped,
    functions.inlined,
    functions.dropped_parameters,
    functions.merged_parameters,
    statements.propagated,
    functions.dropped_axes,
    expressions.replaced,
    expressions.dropped_keywords,
    expressions.simplified_dtypes,
    expressions.shrunk_literals,
)
"""What is tried, that which removes most first."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """The text, and how many candidates were tried and kept on the way to it."""

    text: str
    tried: int
    kept: int


def reduced(source: str, fails: Callable[[str], bool], attempts: int = 1500) -> Reduction:
    """The smallest text found, with at most so many candidates tried.  `source` is one for which `fails` is true.

    A candidate that raises does not fail in the way that is looked for.  Comments and layout are not kept.
    """
    best, seen = parse(source), {source}
    kept, again = 0, True
    while again:
        again = False
        for kind in KINDS:
            position, edits = 0, list(kind(best))
            while position < len(edits):
                candidate = copied(best)
                edits[position](candidate)
                position += 1
                text = printed(candidate)
                if text in seen or not size(candidate) < size(best):
                    continue
                if len(seen) > attempts:
                    return Reduction(printed(best), attempts, kept)
                seen.add(text)
                if _asked(fails, text):
                    # the edit at this position is another one now; those before it have just failed
                    best, again, kept, position = parse(text), True, kept + 1, position - 1
                    edits = list(kind(best))
    return Reduction(printed(best), len(seen) - 1, kept)


def _asked(fails: Callable[[str], bool], text: str) -> bool:
    try:
        compile(text, "<candidate>", "exec")
        return fails(text)
    except Exception:
        return False
