"""blocked -> blocked: memory of the kernel's own is contiguous along what lanes run over.

b = view workspace f32[M, 8] strides [8, 1]     b = view workspace f32[M, 8] strides [1, M]
traverse …: store b[m, 3] = …                   traverse …: store b[m, 3] = …       m: a tile of 128
"""

from __future__ import annotations

from typing import Any

from ..rules.affine import affine
from ..terms.blocked import BLOCKED, BlockedProgram
from ..terms.core import find, replace, rewrite
from ..terms.index import Value
from ..terms.normal import Coord, Load, Store, Update, View
from .base import nanopass
from .lower_buffers import row_major

ALONE = 4
"""What an access along one dimension counts for, beside one along several: it has no other to be contiguous along."""


@nanopass(BLOCKED, BLOCKED)
def lay_out_buffers(program: BlockedProgram) -> BlockedProgram:
    """Order the dimensions of each buffer so that most of its accesses are of neighbours.

    Behind blocking, which says what the lanes are: points that share an instance have their elements side by side, one
    with an instance of its own has its own rows.  Preserves every element: nobody else knows where they lie.
    """
    votes: dict[View, list[int]] = {}
    for t in find(program, (Load, Store, Update)):  # type: ignore[arg-type]
        if t.view.mode == "workspace":
            run = [d for d, i in enumerate(t.index) if _steps(i)]
            counts = votes.setdefault(t.view, [0] * len(t.index))
            for d in run:
                counts[d] += ALONE if len(run) == 1 else 1
    changed = {}
    for view, counts in votes.items():
        # of equals the last, as it is contiguous already
        chosen = max(range(len(counts)), key=lambda d: (counts[d], d), default=0)
        if counts and chosen != len(counts) - 1:
            changed[view] = replace(view, strides=_innermost(view, chosen))
    return rewrite((program,), lambda t: changed.get(t, t))[0] if changed else program  # type: ignore[no-any-return]


def _steps(index: Value) -> bool:
    """Whether an index goes from lane to lane in steps of one."""
    return any(isinstance(k, Coord) and k.lanes and abs(c) == 1 for k, c in affine(index).items())


def _innermost(view: View, dim: int) -> tuple[Any, ...]:
    """Strides of contiguous memory in which neighbours along `dim` lie side by side."""
    order = [*(d for d in range(len(view.shape)) if d != dim), dim]
    strides = row_major([view.shape[d] for d in order])
    return tuple(strides[order.index(d)] for d in range(len(order)))
