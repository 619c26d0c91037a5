"""blocked -> blocked: a loop's summaries become the next states.

loop combining sum from 0: values s          loop stepped: values carry(0) + s
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import node
from ..terms.blocked import BLOCKED, BlockedProgram, Loop
from ..terms.core import replace, rewrite
from ..terms.normal import Carry
from .base import nanopass
from .narrow_ranges import apply_combine


@nanopass(BLOCKED, BLOCKED, needed="makes the loops' next states, which emit writes")
def apply_combines(program: BlockedProgram) -> BlockedProgram:
    """Write each segment's values as the states after a block, over the states before it.

    After ranges are narrowed; the rules that follow see a summary and the state that it meets as one term.
    Preserves the final states: a fold from its identities.
    """

    def step(t: Any) -> Any:
        return _stepped(t) if isinstance(t, Loop) and not t.stepped else node(t)

    return rewrite((program,), step, Loop)[0]  # type: ignore[no-any-return]


def _stepped(loop: Loop) -> Loop:
    varies = loop.component_lanes()
    dtypes = [d for c in loop.combines for d in c.dtypes]
    state = tuple(
        Carry(loop.slice, i, d, tuple(sorted(v, key=lambda a: a.digest)))
        for i, (d, v) in enumerate(zip(dtypes, varies, strict=True))
    )
    segments = []
    for s in loop.segments:
        values: list[Any] = []
        for combine in loop.combines:
            at, n = len(values), len(combine.dtypes)
            values += apply_combine(combine, state[at : at + n], s.values[at : at + n])
        segments.append(replace(s, values=tuple(values)))
    return replace(loop, segments=tuple(segments), stepped=True)  # type: ignore[no-any-return]
