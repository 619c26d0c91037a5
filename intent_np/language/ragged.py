"""Ragged data: each member of an outer domain has some members of another one, between two offsets in memory.

Sugar: it becomes domains between two reads, whose order and place are promised (`Between`), and a read at a region.
"""

from __future__ import annotations

import ast
from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.dtypes import index
from intent_np.terms.index import Value
from intent_np.terms.logical import Between, Convert, Domain, Indices
from intent_np.terms.normal import View

from . import indexing
from .arithmetic import binary
from .context import capture, fail
from .declare import intrinsic
from .domains import region_of
from .elaborate import describe


class Ragged:
    """`I.ragged(...)`: `r[g]` are the members of `members` between two offsets."""

    about = "a ragged relation"

    def __init__(self, outer: Domain, members: Domain, offsets: View, indices: View | None) -> None:
        self.outer, self.members, self.offsets, self.indices = outer, members, offsets, indices

    def __repr__(self) -> str:
        return f"a ragged relation over '{self.offsets.name}'"

    def __getitem__(self, g: Any) -> Domain:
        begin = Between(self._offset(g), self.members.lo, self.members.hi)
        end = Between(self._offset(binary(ast.Add(), g, 1)), begin, self.members.hi)
        made = Domain(begin, end, self.members.step, self.members.source or self.members)
        if self.indices is not None:
            mapped = capture().mappings.setdefault(made, self.indices)
            if mapped is not self.indices:
                raise fail(
                    "E208",
                    operation="two ragged relations over the same offsets and members",
                    suggestion="give both the same indices, or read the other mapping with indices[region]",
                    expected=f"one index mapping, '{mapped.name}'",
                    found=f"'{self.indices.name}'",
                )
        return made

    def _offset(self, g: Any) -> Value:
        return simplify(indexing.index_value(indexing.read(self.offsets, g)))


@intrinsic
def ragged(outer: Domain, members: Domain, offsets: Any, indices: Any = None) -> Ragged:
    """The relation in which member `g` of `outer` has the members `r[g]` of `members`: those from `offsets[g]` to
    `offsets[g + 1]`, which are promised to be ordered and inside.  `indices` maps them, see `I.members`."""
    usage = "I.ragged(outer, members, offsets, indices=None)"
    for v in (outer, members):
        region_of("ragged", v)
    if members.step is not None:
        raise fail("E113", name="I.ragged", signature=usage, found="members with a step")
    for v in (offsets, *(() if indices is None else (indices,))):
        if not isinstance(v, View) or len(v.shape) != 1 or not v.dtype.is_integer:
            raise fail(
                "E113",
                name="I.ragged",
                signature=usage,
                expected="views of integers of rank 1 as offsets and indices",
                found=describe(v),
            )
    return Ragged(outer, members, offsets, indices)


@intrinsic
def members(region: Domain) -> Value:
    """What a region of `I.ragged` stands for, as an index tensor: its coordinates, or, where the relation has indices,
    those at them."""
    mapping = capture().mappings.get(region_of("members", region))
    if mapping is None:
        return Indices(indexing.ordered(region))
    found = indexing.read(mapping, region)
    return found if found.type.dtype is index else Convert(found, index)  # type: ignore[union-attr]
