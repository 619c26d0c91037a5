"""Which tensors in order a statement reads at other places than that of the element that it stores.

    y[:] = sort(x)                      at its own places: each member of x goes to its place
    y[:] = sort(x) - sort(x)[i - 1]     at others, too: what is in order is kept in memory of the kernel's own, once

Used by `lower_sorts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..terms import logical as L
from ..terms.core import children, find
from ..terms.index import Apply, Cast
from ..terms.normal import Proj

ELEMENTWISE = (Apply, Cast, Proj, L.Pointwise, L.Convert, L.Filled, L.InBounds, L.Unique, L.Between, L.Transpose)
"""Terms whose element asks for the elements of their operands at its own place."""


def read_elsewhere(s: Any) -> list[L.TensorSort]:
    """The tensors in order that the statement `s` reads at places of other elements, those within others first."""
    found: dict[L.TensorSort, None] = {}
    seen: set[tuple[Any, bool]] = set()
    stack = [(t, own) for t, own in _roots(s)]
    while stack:
        t, own = stack.pop()
        if (t, own) in seen:
            continue
        seen.add((t, own))
        if isinstance(t, L.TensorSort):
            if not own:
                found.pop(t, None)
                found[t] = None
            stack.append((t.value, False))
        elif isinstance(t, ELEMENTWISE):
            stack += [(c, own) for c in children(t)]
        elif isinstance(t, L.Take):
            along = all(isinstance(x, (L.Along, L.At, L.NewAxis)) for x in t.subscripts)
            stack.append((t.value, own and along))
            stack += [(c, False) for c in children(t) if c is not t.value]
        else:
            stack += [(c, False) for c in children(t) if not isinstance(c, L.Effect)]
    closed = (t for t in reversed(found) if not any(True for _ in find(t, L.Formal)))
    return list(closed)


def _roots(s: Any) -> Iterator[tuple[Any, bool]]:
    """The values of a statement, and whether they are asked for at the place of the element that it stores."""
    if isinstance(s, L.Write):
        yield s.value, True
        yield from ((c, False) for c in children(s) if c is not s.value)
    elif isinstance(s, (L.Accumulate, L.Atomic)):
        yield from ((c, False) for c in children(s))
    elif isinstance(s, L.Branch):
        yield s.condition, False
