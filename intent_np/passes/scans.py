"""Scans along an axis that a loop takes block by block: the prefix in the block, behind that of all blocks before it.

    scan sum over i of x        running sum over slice of i of (last of block) + block,
                                where block = scan sum over slice of i of x

Used by `block_axes`; the loop that a running value belongs to carries it as a state, see `share_traversals`.
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import node
from ..terms.blocked import Base, Running, Slice
from ..terms.core import arena, find, inherit
from ..terms.dtypes import DType, bool_, i8, i16, i32, i64
from ..terms.index import Cast, Value, add, apply, const, select
from ..terms.normal import Coord, Reduce, Scan, builtin, identity
from .lower_regions import refused
from .narrow_ranges import apply_combine

WORDS = {8: i8, 16: i16, 32: i32, 64: i64}


def prefixes(t: Scan, s: Slice, block: tuple[Any, ...]) -> tuple[Any, ...]:
    """The components of the scan `t` at the member in hand, told from those inside the `block` in hand."""
    if s.descending is not t.reverse:
        raise refused(t, "scans in both directions along an axis that no fragment holds")
    totals = tuple(last(v, s) for v in block)
    before = tuple(Running(s, t.combine, totals, t.identities, i) for i in range(len(block)))
    spans = arena().spans
    spans.update((b, spans[t]) for b in before if t in spans)
    return tuple(inherit(t, v) for v in apply_combine(t.combine, before, block))


def last(v: Any, s: Slice) -> Value:
    """The element of `v` in the last lane that the loop over `s` meets: its bits, summed with zeros."""
    lane: Any = Base(s) if s.descending else node(add(Base(s), const(s.size.value - 1)))
    at = apply("eq", Coord(s), lane)
    d: DType = v.type
    if d is bool_:
        masked = apply("and", at, v)
        return node(Reduce(s, builtin("any", d), (masked,), (identity("any", d),)))  # type: ignore[no-any-return]
    word = WORDS[d.bits] if d.is_float else d
    masked = select(at, Cast(v, word, "bits") if d.is_float else v, const(0, word))
    found = node(Reduce(s, builtin("sum", word), (node(masked),), (identity("sum", word),)))
    return node(Cast(found, d, "bits")) if d.is_float else found  # type: ignore[no-any-return]


def scanned(*roots: Any) -> set[Slice]:
    """The slices along which something is carried."""
    return {t.axis for t in find(roots, Scan) if isinstance(t.axis, Slice)}
