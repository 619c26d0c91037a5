"""What the caller may allow beyond exact numerics, and where a compilation took it up.

numerics="relaxed"  ->  permissions relaxed_algebra, relaxed_normalization
explain()           ->  relaxed_normalization for lines 14, 15
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .terms.core import Term, arena, find, walk
from .terms.index import Apply
from .terms.normal import Contract, Reduce

NUMERICS: Final = {
    "strict": (),
    "relaxed_normalization": ("relaxed_normalization",),
    "relaxed_algebra": ("relaxed_algebra",),
    "relaxed": ("relaxed_algebra", "relaxed_normalization"),
}

Lines = dict[str, set[int]]
"""By the name of a permission, lines of the author's source."""


def note(used: Lines, permission: str, lines: Iterable[int]) -> None:
    """One more use of a permission."""
    used.setdefault(permission, set()).update(lines)


def lines_of(terms: Iterable[Any]) -> set[int]:
    """The lines of sums and exponentials among terms: what permissions are about."""
    kinds = (t for t in terms if isinstance(t, Reduce | Contract) or isinstance(t, Apply) and t.op.name == "exp")
    return {s.line for t in kinds for s in arena().spans.get(t, ())}


def lines_below(*roots: Term) -> set[int]:
    """The same of all terms below some."""
    return lines_of(find(roots, Term))


def replaced(before: Term, after: Term) -> set[int]:
    """The lines of what one program has and another, made of it, has not."""
    kept = set(walk(after))
    return lines_of(t for t in walk(before) if t not in kept)
