"""grouped -> grouped: what is recomputed and what is kept, chosen by an e-graph.

group over (row) { store y[row, columns] = … reduce sum over columns of exp(x[row, columns] - …) }
group over (row) { store y[row, columns@2] = … reduce sum over columns@1 … }, each loop with its own copy of the axis
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Remark
from ..permissions import lines_below, note
from ..terms.core import arena, contains, replace
from ..terms.grouped import GROUPED, Group, GroupedProgram, Last
from ..terms.normal import processors_of
from .base import nanopass
from .online import promised_finite

if TYPE_CHECKING:
    from ..planning.choose import Alternative
    from ..planning.problem import Limits

POLICIES = ("auto", "directed", "egraph", "recompute", "keep", "every")


@nanopass(
    GROUPED,
    GROUPED,
    allowed={
        "policy": POLICIES, "rank": range(1 << 20), "sizes": range(1 << 62), "limits": range(1, 1 << 30),
    },
)  # fmt: skip
def choose_plan(
    program: GroupedProgram,
    *,
    policy: str = "auto",
    rank: int = 0,
    sizes: Mapping[str, int] = {},
    limits: Mapping[str, int] = {},
) -> GroupedProgram:
    """Decide for each group the roles of its axes, its loops, what each computes again, and the order of its algebra.

    Once for all of it, since the choices depend on each other; later passes keep to the roles in the axes, and to the
    warps and registers that a program of one group was priced with.  `policy` is
    `egraph` (the cheapest by the model), `directed` (later passes decide by rule), `auto` (the former where it is
    better), `recompute` (nothing is kept), `keep` (all that can be is) or `every` (each plan once, at its
    best point).  `rank` takes the next best point instead of the best, `sizes` are extents to price with, and `limits`
    bound the effort by counts.
    Preserves values; under a permission, up to what it permits.
    """
    if policy == "directed":
        return program
    from ..planning.apply import applied
    from ..planning.problem import limits_of
    from ..planning.registers import limit

    bounds = limits_of(limits)
    processors = processors_of(program.target)
    groups: list[Group] = []
    launches: list[Any] = []
    together = False  # whether a maximum is rescaled as it grows
    parameters = program.parameters
    for g in program.groups:
        if contains(g, Last):  # what its instances do alone, and what is left to one of them, is decided
            groups.append(g)
            continue
        chosen = _chosen(g, program.permissions, processors, policy, rank, sizes, bounds)
        if chosen is None:
            groups.append(g)
            continue
        new = applied(chosen.plan, g, (getattr(p, "name", "") for p in parameters))
        for permission in new.used:
            note(arena().used, permission, lines_below(g))
        together |= "relaxed_normalization" in new.used
        parameters += new.buffers
        groups.append(new.group)
        launches.append(chosen.launch if chosen.search.s.problem.order.is_plain else None)
    planned: Any = replace(program, groups=tuple(groups), parameters=parameters)
    if len(groups) == 1 and launches and launches[0] is not None and not launches[0].tensor:
        (launch,) = launches
        planned = replace(planned, warps=launch.warps, registers=limit(launch, processors))
    return promised_finite(planned) if together else planned  # type: ignore[no-any-return]


def _chosen(
    g: Group,
    permissions: tuple[str, ...],
    processors: int,
    policy: str,
    rank: int,
    sizes: Mapping[str, int],
    bounds: Limits,
) -> Alternative | None:
    """The plan of a group; None where later passes decide, with a remark if a plan was asked for, or a limit of effort
    is in its way."""
    from ..planning import choose
    from ..planning.problem import TooMuch, Unserved

    given = (g, permissions, processors)
    try:
        if policy == "every":
            found = choose.every(*given, sizes, bounds)
        else:
            found = choose.decide(*given, "egraph" if policy == "auto" else policy, sizes, bounds)
        if found and policy == "auto" and not rank and "relaxed_algebra" not in permissions:
            return choose.better(found, processors)
    except Unserved as why:
        if policy != "auto" or isinstance(why, TooMuch):
            text = f"later passes decide by rule what is recomputed and kept: {why}"
            arena().remarks[Remark("P008", text, next(iter(arena().spans.get(g.effects[0], ())), None))] = None
        return None
    return found[min(rank, len(found) - 1)] if found else None
