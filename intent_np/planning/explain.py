"""The alternatives of a group and their costs, for people.

*   0.1086 ms  row space 1, columns loop 8192; loops columns@1 columns@2 columns@3; keeps tanh by columns@1; 16 warps
               memory 2.7e+08 l2 4e+08 issue 1.8e+09 …
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..terms.core import arena, find
from ..terms.grouped import GroupedProgram, Last
from ..terms.normal import processors_of
from ..terms.plan import Computed, Kept, Peak, Plan, Walk, loops_around
from .choose import Alternative, decide
from .machine import UNITS
from .problem import Limits, Unserved

NOTHING, SHARED = "there is nothing to choose", "instances share its reductions"
"""Why a group is left as it is that no plan could change."""


def explained(
    program: GroupedProgram,
    policy: str = "egraph",
    sizes: Mapping[str, int] = {},
    limits: Limits = Limits(),  # noqa: B008
    shown: int = 12,
) -> list[dict[str, Any]]:
    """For each group its plans with their costs, the cheapest first, or why it keeps the directed plan."""
    out: list[dict[str, Any]] = []
    processors = processors_of(program.target)
    for g in program.groups:
        last = next(find(g.effects, Last), None)
        name = next((e.view.name for e in (last or g).effects if hasattr(e, "view")), "")
        if last is not None:  # what its instances do alone, and what is left to one of them, is decided
            out.append({"group": name, "plans": [], "directed": SHARED})
            continue
        try:
            found = decide(g, program.permissions, processors, policy, sizes, limits)
        except Unserved as why:
            out.append({"group": name, "plans": [], "directed": str(why)})
            continue
        reason = "" if found else NOTHING
        out.append({"group": name, "plans": [facts(a) for a in found[:shown]], "directed": reason})
    return out


def facts(a: Alternative) -> dict[str, Any]:
    """A plan as JSON values."""
    names = [a.search.s.problem.name(i) for i in range(len(a.blocks))]
    axes = {n: f"{r} {b}" for n, r, b in zip(names, a.frame.roles, a.blocks, strict=True)}
    work = dict(zip(UNITS, a.work, strict=True))
    return {"ms": a.seconds * 1e3, "axes": axes, "plan": described(a.plan), "work": work, "launch": a.launch._asdict()}


def described(plan: Plan) -> str:
    """A plan in one line: its loops in their order, what they keep, and the algebra that was chosen."""
    label = lambda axis: arena().names.get(axis, "axis")  # noqa: E731
    paths = sorted({tuple((label(w.axis), w.turn) for w in loops_around(w)) for w in find(plan, Walk)}, key=_in_turn)
    loops = " ".join("/".join(f"{name}@{turn}" for name, turn in p) for p in paths) or "none"
    kept = sorted({f"{_value(t.value)} by {label(t.place.axis)}@{t.place.turn}" for t in find(plan, Kept)})
    notes = [f"loops {loops}", *(f"keeps {k}" for k in kept)]
    if any(True for _ in find(plan, Peak)):
        notes.append("online")
    if any(t.op == "rcp" for t in find(plan, Computed)):
        notes.append("reciprocal")
    return "; ".join(notes)


def _in_turn(path: Iterable[tuple[str, int]]) -> Any:
    return [(turn, name) for name, turn in path]


def _value(t: Any) -> str:
    """What a kept value is: its last operator, or the reduction."""
    return t.op if isinstance(t, Computed) else type(t).__name__.lower()


def text(groups: list[dict[str, Any]]) -> str:
    """The table of `explained`."""
    lines = []
    for g in groups:
        lines.append(f"group of {g['group']}" + (f": directed plan, {g['directed']}" if g["directed"] else ""))
        for i, p in enumerate(g["plans"]):
            axes = ", ".join(f"{name} {role}" for name, role in p["axes"].items())
            costs = " ".join(f"{unit} {amount:.3g}" for unit, amount in p["work"].items() if amount)
            mark, warps = "*" if i == 0 else " ", p["launch"]["warps"]
            lines.append(f"{mark} {p['ms']:8.4f} ms  {axes}; {p['plan']}; {warps} warps")
            lines.append(f"               {costs}")
    return "\n".join(lines)
