"""The plan of a group: the cheapest over the roles of its axes, the extents of its blocks, its warps, and what is kept.

A point is a frame with block extents and warps; each has its best plan, and they are ordered by cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any, NamedTuple

from ..passes.blocks import ROW_BLOCK, block_extents
from ..passes.roles import contiguous, in_index_order
from ..terms.core import replace
from ..terms.grouped import Group
from ..terms.normal import Axis
from ..terms.plan import Plan
from .andor import Node
from .apply import plan_of
from .cheapest import BETTER, Pick
from .machine import BARRIERS, WAITS, Launch, Work
from .places import Frame
from .problem import Limits, Problem, Unserved
from .registers import registers
from .saturate import Saturated, saturate
from .search import Search
from .work import Point, blocks_of

POLICIES: Mapping[str, Callable[[Node], bool]] = {
    "egraph": lambda n: True,
    "recompute": lambda n: n.op != "XRead",
    "keep": lambda n: n.op == "XRead",
}
"""Which alternatives a policy takes where it has the choice."""

WORTH = 1.03
"""The share by which the model has to see a difference between plans: beyond its precision."""

HELD = 1.06
"""The share by which loops in whose iterations the warps meet have to be better than a plan that holds its rows:
of what a meeting costs in a loop the model knows least.  Of a maximum with its place in rows of 16384 it sees loops of
one warp in front by 3 %; measured, loops of 8 to 32 warps took .24 to .32 ms, held rows .14 to .18."""

SMALLEST_BLOCK, LARGEST_BLOCK = 512, 8192
ROWS = 4096
"""Elements that several held rows fill together at most."""

AGAIN = 2
"""Times that a frame is searched at its best point."""

WARPS = (1, 2, 4, 8, 16, 32)
FEWEST, MOST = 4, 32
"""Elements of the largest fragment that a thread has: fewer leave it idle; with more, too few warps fit a processor to
have something to do while others wait (rms_norm of rows of 32768 takes .088 ms with 64 elements, .074 with 32)."""


class Alternative(NamedTuple):
    """A plan: a frame, block extents and a pick, with its seconds by the model."""

    seconds: float
    frame: Frame
    blocks: tuple[int, ...]
    pick: Pick
    search: Search
    point: Point
    launch: Launch

    @property
    def plan(self) -> Plan:
        return plan_of(self.search.s, self.frame, self.blocks, self.pick)

    @property
    def work(self) -> Work:
        """What it asks of each unit."""
        self.search.price(self.point)
        return self.search.work(self.pick)


def directed(s: Saturated, processors: int) -> Alternative | None:
    """What later passes would decide by rule, priced: their roles and blocks, and everything computed again."""
    extents, _ = block_extents(s.problem.group)
    frame = next((f for f in s.frames if f.roles == s.problem.ruled and f.number in s.graph.roots), None)
    if frame is None:
        return None
    search = Search(s, frame.number, s.problem.limits.evaluations)
    point = Point(s, frame, blocks_of(s.problem, frame, extents), processors)
    search.price(point)
    return priced(search, frame, point, search.best(POLICIES["recompute"]).pick)


def decide(
    group: Group, permissions: Iterable[str], processors: int, policy: str, sizes: Mapping[str, int], limits: Limits
) -> list[Alternative]:
    """Plans of a group, the cheapest first: one for each frame and point.  None where there is nothing to choose;
    `Unserved` says why the directed plan is taken."""
    problem = Problem(group, sizes, limits)
    if not problem.is_open:
        return []
    s = saturate(problem, permissions, keep=policy != "recompute")
    found: list[Alternative] = []
    left = limits.evaluations
    for frame in s.frames:
        if frame.number in s.graph.roots:
            search = Search(s, frame.number, left)
            found += _frame(search, frame, processors, POLICIES[policy])
            left -= search.evaluations
    if not found and s.frames and not s.graph.roots:
        raise Unserved("no loops can stand in each other as its values need")
    if not found:
        raise Unserved("no fragment of it fits an instance")
    found.sort(key=_order)
    most = found[0].seconds * (HELD if meets(found[0].work) else 1.0)
    held = next((a for a in found if not a.frame.looped and a.seconds <= most), found[0])
    return [held, *(a for a in found if a is not held)]


def meets(work: Work) -> bool:
    """Whether the warps of an instance meet in about each iteration of its loops."""
    return 0 < work[WAITS] <= 2 * work[BARRIERS]


def every(
    group: Group, permissions: Iterable[str], processors: int, sizes: Mapping[str, int], limits: Limits
) -> list[Alternative]:
    """All plans of a group, each at its best point, the cheapest first: of as many as `limits.exact` in each frame."""
    problem = Problem(group, sizes, limits)
    if not problem.is_open:
        return []
    s = saturate(problem, permissions, keep=True)
    found: list[Alternative] = []
    for frame in s.frames:
        if frame.number not in s.graph.roots:
            continue
        search = Search(s, frame.number, limits.evaluations)
        best: dict[int, Alternative] = {}
        for point in _points(search, frame, processors):
            search.price(point)
            for number, pick in enumerate(search.graph.every(limits.exact)):
                a = priced(search, frame, point, pick)
                if number not in best or _order(a) < _order(best[number]):
                    best[number] = a
        found += best.values()
    return sorted(found, key=_order)


def better(found: list[Alternative], processors: int) -> Alternative | None:
    """The cheapest plan, if it is better by the model than what later passes would decide by rule, or holds what that
    would read again and is as good.

    Of the 11 measured workloads that the model sees between 10 % faster and as fast, nine are faster (3 to 24 %), two
    slower (softmax of rows of 32768 by 6 %, layer_norm of these by 1 %).
    """
    best, ruled = found[0], directed(found[0].search.s, processors)
    if ruled is None:
        return best
    if not best.search.is_modest(best.pick, best.point):
        return None  # memory that nobody has asked for
    held = ruled.frame.looped and not best.frame.looped
    return best if best.seconds < ruled.seconds * (WORTH if held else 1.0) else None


def _order(a: Alternative) -> tuple[Any, ...]:
    """By time, of which differences in the ninth digit are none; then fewer loops and smaller blocks."""
    return float(f"{a.seconds:.8e}"), a.frame.looped.bit_count(), a.frame.number, a.blocks, a.launch.warps


def _frame(search: Search, frame: Frame, processors: int, allowed: Callable[[Node], bool]) -> list[Alternative]:
    """The first point is searched in full, its pick priced at the others, and the best of them searched again: with
    what is found there once more."""
    found: list[Alternative] = []
    pick: Pick | None = None
    for point in _points(search, frame, processors):
        search.price(point)
        pick = _best(search, allowed) if pick is None else pick
        found.append(priced(search, frame, point, pick))
    for _ in range(AGAIN if found and frame.looped else 0):
        best = min(found, key=_order)
        search.price(best.point)
        pick = _best(search, allowed)
        if priced(search, frame, best.point, pick).seconds >= best.seconds * BETTER:
            break
        found = [_cheaper(search, a, pick) for a in found]
    return found


def _cheaper(search: Search, a: Alternative, pick: Pick) -> Alternative:
    """An alternative, or the pick at its point if that costs less."""
    search.price(a.point)
    return min(a, priced(search, a.frame, a.point, pick), key=_order)


def _points(search: Search, frame: Frame, processors: int) -> Iterator[Point]:
    """The points at which a frame is priced; how a product is spread over warps is known in advance, and ordered loops
    keep to the rule: how their iterations wait for each other is not in the price."""
    plain = search.s.problem.order.is_plain
    for blocks in islice(points(search.s.problem, frame), None if plain else 1):
        point = Point(search.s, frame, blocks, processors)
        if not point.fits():
            continue
        if not plain:
            yield point
            continue
        fit = [n for n in WARPS if FEWEST <= point.largest() / (32 * n) <= MOST and not point.tensor]
        if point.warps in fit or not fit:
            yield point
        for warps in fit:
            if warps != point.warps:
                yield Point(search.s, frame, blocks, processors, warps)


def _best(search: Search, allowed: Callable[[Node], bool]) -> Pick:
    """The cheapest pick; one that keeps values in memory only where that is worth it, since it takes memory, and one
    with reciprocals only where that is, since it rounds once more."""
    found = search.best(allowed)
    if allowed is not POLICIES["egraph"]:
        return found.pick
    avoided: list[Callable[[Node], bool]] = []
    for kind in (lambda n: n.op == "XRead", search.is_reciprocal):
        if any(kind(n) for c in search.choices for n in search.classes[c]):
            tried = [*avoided, kind]
            without = search.best(lambda n, tried=tried: not any(k(n) for k in tried))  # type: ignore[misc]
            if without.cost <= found.cost * WORTH:
                found, avoided = without, tried
    return found.pick


def priced(search: Search, frame: Frame, point: Point, pick: Pick) -> Alternative:
    """A pick with the registers that it takes itself, at the point that the search has the prices of."""
    search.launch = point.launch(registers(search, pick, point))
    return Alternative(search.cost(pick), frame, point.blocks, pick, search, point, search.launch)


def points(problem: Problem, frame: Frame) -> Iterator[tuple[int, ...]]:
    """Block extents to price a frame at, the directed choice first."""
    role = dict(zip(problem.axes, frame.roles, strict=True))
    spread = {a: None for e in problem.stores for a in in_index_order(e) if role[a] == "space"}
    group = replace(problem.group, workset=tuple(spread))
    base, _ = block_extents(group, [a for a, r in role.items() if r == "loop"])
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
