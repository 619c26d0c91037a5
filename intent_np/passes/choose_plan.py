"""grouped -> grouped: what is recomputed and what is kept, chosen by an e-graph.

group over (row) { store y[row, columns] = … reduce sum over columns of exp(x[row, columns] - …) }
group over (row) { store y[row, columns@2] = … reduce sum over columns@1 … }, each loop with its own copy of the axis
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Remark, error
from ..terms.core import arena, find, replace
from ..terms.grouped import GROUPED, Group, GroupedProgram
from ..terms.normal import Region
from .base import nanopass
from .online import promised_finite

POLICIES = ("directed", "egraph", "recompute", "keep")


@nanopass(GROUPED, GROUPED)
def choose_plan(
    program: GroupedProgram, *, policy: str = "directed", sizes: Mapping[str, int] = {}, limits: Mapping[str, int] = {}
) -> GroupedProgram:
    """Decide for each group the roles of its axes, its loops, what each computes again, and the order of its algebra.

    Once for all of it, since the choices depend on each other; later passes keep to the roles in the axes.  `policy` is
    `directed` (later passes decide by rule), `egraph`, `recompute` (nothing is kept) or `keep` (all that can be is);
    `sizes` are extents to price with, and `limits` bound the effort by counts.
    Preserves values; under a permission, up to what it permits.
    """
    if policy not in POLICIES:
        raise error(
            "E006", what=f"there is no policy {policy!r} of choose_plan", how=f"choose one of {', '.join(POLICIES)}"
        )
    if policy == "directed":
        return program
    from ..planning.apply import applied
    from ..planning.choose import decide
    from ..planning.problem import Limits, Unserved

    bounds = Limits(**limits)
    processors = program.target.processors if program.target else 132
    groups: list[Group] = []
    for g in program.groups:
        try:
            found = decide(g, program.permissions, processors, policy, sizes, bounds)
        except Unserved as why:
            text = f"later passes decide by rule what is recomputed and kept: {why}"
            arena().remarks[Remark("P008", text, next(iter(arena().spans.get(g.effects[0], ())), None))] = None
            found = None
        new, used = applied(found.chosen.plan, g) if found else (g, set())
        arena().used |= used
        groups.append(new)
    planned: Any = replace(program, groups=tuple(groups))
    together = any(r.axis.role for r in find(planned, Region))
    return promised_finite(planned) if together else planned  # type: ignore[no-any-return]
