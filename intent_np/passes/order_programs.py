"""blocked -> blocked: the order in which instances are numbered, so that neighbours share what they read.

blocked over (tile of m, tile of n)        … grouping 8: blocks of m are taken eight at a time
"""

from __future__ import annotations

from ..terms.blocked import BLOCKED, BlockedGroup, BlockedProgram, Tile
from ..terms.core import contains, replace
from ..terms.normal import Contract
from .base import nanopass


@nanopass(BLOCKED, BLOCKED, allowed={"grouping": range(1, 1 << 20)})
def order_programs(program: BlockedProgram, *, grouping: int = 8) -> BlockedProgram:
    """Group the blocks of a matrix product, so that those in flight together read few distinct operand blocks.

    Behind blocking, which decides the space; a numbering of instances, so nothing else depends on it.
    Preserves the set of instances and what each does.
    """
    return replace(program, groups=tuple(_numbered(g, grouping) for g in program.groups))  # type: ignore[no-any-return]


def _numbered(group: BlockedGroup, grouping: int) -> BlockedGroup:
    tiled = len(group.space) >= 2 and all(isinstance(a, Tile) for a in group.space[-2:])
    shared = tiled and any(contains(e, Contract) for e in group.effects)
    return replace(group, grouping=grouping) if shared else group  # type: ignore[no-any-return]
