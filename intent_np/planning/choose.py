"""The plan of a group: the cheapest over the roles of its axes, the extents of its blocks, and what is kept.

In each frame the first point is searched in full; the pick that is best there is priced at the other points, and the
best of them is searched again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from ..passes.blocks import ROW_BLOCK, block_extents
from ..passes.roles import contiguous, in_index_order
from ..terms.core import replace
from ..terms.grouped import Group
from ..terms.normal import Axis
from ..terms.plan import Plan
from .andor import Node
from .apply import plan_of
from .live import live
from .places import Frame
from .problem import Limits, Problem, Unserved
from .saturate import Saturated, saturate
from .search import BETTER, Pick, Search
from .work import Point, blocks_of

POLICIES: Mapping[str, Callable[[Node], bool]] = {
    "egraph": lambda n: True,
    "recompute": lambda n: n.op != "XRead",
    "keep": lambda n: n.op == "XRead",
}
"""Which alternatives a policy takes where it has the choice."""

SMALLEST_BLOCK, LARGEST_BLOCK = 512, 8192
ROWS = 4096
"""Elements that several held rows fill together at most."""


class Alternative(NamedTuple):
    """The best plan of a frame at one point: its seconds by the model, and what it is made of."""

    seconds: float
    frame: Frame
    blocks: tuple[int, ...]
    pick: Pick
    search: Search

    @property
    def plan(self) -> Plan:
        return plan_of(self.search.s, self.frame, self.blocks, self.pick)


class Decision(NamedTuple):
    """The chosen alternative, and the best of each frame, the cheapest first."""

    chosen: Alternative
    alternatives: list[Alternative]
    saturated: Saturated


def decide(
    group: Group, permissions: Iterable[str], processors: int, policy: str, sizes: Mapping[str, int], limits: Limits
) -> Decision | None:
    """The plan of a group, `None` where there is nothing to choose; `Unserved` says why the directed plan is taken."""
    problem = Problem(group, sizes, limits)
    if all(a in group.workset for a in problem.axes):
        return None
    s = saturate(problem, permissions, keep=False)
    left = limits.evaluations
    found: list[Alternative] = []
    for frame in s.frames:
        if frame.number in s.graph.roots:
            best, used = _frame(s, frame, processors, POLICIES[policy], left)
            left -= used
            found += [best] if best else []
    if not found:
        raise Unserved("no frame of it can be executed")
    found.sort(key=lambda a: (a.seconds, a.frame.number))
    return Decision(_chosen(found), found, s)


def _chosen(found: list[Alternative]) -> Alternative:
    best = found[0]
    for other in found[1:]:
        if other.seconds < best.seconds * BETTER:
            best = other
    return best


def _frame(
    s: Saturated, frame: Frame, processors: int, allowed: Callable[[Node], bool], evaluations: int
) -> tuple[Alternative | None, int]:
    search = Search(s, frame.number, evaluations)
    best: Alternative | None = None
    pick: Pick | None = None
    for blocks in points(s.problem, frame):
        point = Point(s, frame, blocks, processors)
        if not point.fits():
            continue
        search.price(point)
        pick = search.best(allowed)[1] if pick is None else pick
        if not frame.looped and not point.tensor:
            search.launch = point.launch(live(search, pick))
        cost = search.cost(pick)
        if best is None or cost < best.seconds * BETTER:
            best = Alternative(cost, frame, blocks, pick, search)
    if best is not None and frame.looped:
        search.price(Point(s, frame, best.blocks, processors))
        cost, pick = search.best(allowed)
        if cost < best.seconds * BETTER:
            best = Alternative(cost, frame, best.blocks, pick, search)
    return best, search.evaluations


def points(problem: Problem, frame: Frame) -> Iterator[tuple[int, ...]]:
    """Block extents to price a frame at, the directed choice first."""
    role = dict(zip(problem.axes, frame.roles, strict=True))
    spread = {a: None for e in problem.stores for a in in_index_order(e) if role[a] == "space"}
    group = replace(problem.group, workset=tuple(spread))
    base, _ = block_extents(group)
    base = {a: min(n, ROW_BLOCK) if role[a] == "loop" else n for a, n in base.items()}
    yield blocks_of(problem, frame, base)
    if problem.contracts:
        return
    for more in _variations(problem, role, base, list(spread)):
        blocks = blocks_of(problem, frame, {**base, **more})
        if blocks != blocks_of(problem, frame, base):
            yield blocks


def _variations(
    problem: Problem, role: Mapping[Axis, str], base: Mapping[Axis, int], spread: list[Axis]
) -> Iterator[dict[Axis, int]]:
    runs = contiguous(problem.group.effects)
    looped = [a for a, r in role.items() if r == "loop"]
    if looped:
        along = [a for a in looped if a in runs] or looped
        for factors in product((1, 0.25, 0.5, 2), repeat=min(1, len(along))):
            yield {
                a: max(SMALLEST_BLOCK, min(LARGEST_BLOCK, int(base[a] * f))) if base[a] >= SMALLEST_BLOCK else base[a]
                for a, f in zip(along, factors, strict=False)
            }
        return
    row = 1
    for i, a in enumerate(problem.axes):
        row *= problem.extents[i] if role[a] == "whole" else 1
    if spread and not (spread[-1] in runs and base[spread[-1]] > 1 and spread[-1] in list(runs)[-1:]):
        yield from ({spread[-1]: n} for n in (1, 2, 4, 8, 16) if n == 1 or n * row <= ROWS)
