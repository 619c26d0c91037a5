"""How many registers a thread needs for a pick: what a held row costs, and what loops carry.

Without loops, fragments live across reductions.  In a loop, each reduction by it carries a fragment, and what is loaded
waits for its use; a short body is unrolled, and then the loads of several iterations wait, and in others those of the
next one, unless the warps meet in each or it stores.  Library functions hold intermediate values.  The counts are those
below which ptxas spills (`thread` in `costs.json`): given more, it takes more, so that what is compiled gets a limit
(`limit`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .andor import Node
from .cheapest import Pick
from .machine import Launch, costs, residency
from .search import Search
from .work import UNROLLED, Point

FUNCTIONS = ("erf", "tanh", "sigmoid", "sin", "cos", "pow")
"""Functions that are long polynomials."""

SHORT = 3
"""Operations of a body that is unrolled at most."""

LARGEST = 255
"""Registers that a thread can have."""


def registers(search: Search, pick: Pick, point: Point) -> float:
    """Registers of a thread."""
    c = point.costs["thread"]
    if point.tensor:
        return float(c["tensor"])
    nodes = list(_picked(search, pick))
    if not point.loops:
        loads = {n: d for n in nodes if (d := _loaded(search, n))}
        largest = max((point.fragment(d) for d in loads.values()), default=1) / point.threads
        full = [n for n, d in loads.items() if point.fragment(d) >= largest * point.threads]
        wide = len(full)
        held = _live(search, pick, point)
        live = c["live"] * held + c["operand"] * max(0, wide - held)  # what is not live is read where it is used
        dear = any(n.op == "XUn" and n.literals[0] in FUNCTIONS for n in nodes)
        arrived = c["arrived"] + max((_words(search, n) for n in full), default=0)  # in front of what reduces it
        return float(c["straight"] + c["function"] * dear + max(c["passing"] + live, arrived) * largest)
    return max((_loop(search, nodes, p, point) for p, path in point.paths.items() if path), default=float(c["loop"]))


def limit(launch: Launch, processors: int) -> int:
    """The registers of a thread with which as many instances as the model counts on fit a processor; 0 where that is
    no limit."""
    c = costs()
    blocks, spilled = residency(launch, processors, c)
    most = int(c["registers"]) // (32 * launch.warps * blocks) // 8 * 8
    return 0 if launch.tensor or spilled or most > LARGEST else most


def _loop(search: Search, nodes: list[Node], body: int, point: Point) -> float:
    """What the loop with this body asks for."""
    c = point.costs["thread"]
    fragments, elements, loads, steps, short, meets = 0.0, 0.0, 0, 0, True, False
    for n in nodes:
        share = lambda d: point.fragment(d) / point.threads  # noqa: E731
        match n.op, n.literals:
            case "XFold", (combine, axis, d, place) if place == body:
                fragments += share(d)
                meets = meets or len(search.s.combines[combine, axis].values) > 1  # it is combined in each iteration
            case "XTop" | "XScan", (*_, d, place) if place == body:
                fragments, meets = fragments + share(d), True
            case "XHold", (*_, place) if place == body:
                meets = True
            case "XLeaf", (_, place) if place == body and (d := _loaded(search, n)):
                elements, loads = max(elements, share(d)), loads + 1
            case "XRead", (_, d, place, _) if place == body:
                elements, loads = max(elements, share(d)), loads + 1
            case "XUn" | "XBin" | "XTri", (op, d, place) if place == body and share(d) > 1:
                steps, short = steps + 1, short and op not in FUNCTIONS
    each = c["worked on"] + c["loaded"] * loads
    if fragments and not meets:  # loads pass neither a meeting of the warps nor stores
        few = short and steps <= SHORT and loads * elements <= UNROLLED
        each = each + c["unrolled"] if few else max(each, c["ahead"])
    return float(c["loop"] + c["carried"] * fragments + each * elements)


def _live(search: Search, pick: Pick, point: Point) -> int:
    """The widest cut between levels of reductions; a value is born where it is first needed."""
    held = sum(1 << i for i, r in enumerate(point.frame.roles) if r == "whole")
    chosen: dict[int, Node] = {}
    level: dict[int, int] = {}
    for c in sorted(_classes(search, pick)):  # what a class is made of has a lower number
        chosen[c] = n = _node(search, pick, c)
        level[c] = max((level[k] for k in n.classes), default=0) + (n.op == "XHold")
    used: dict[int, list[int]] = {}
    cut: dict[int, int] = {}
    for c in sorted(level, reverse=True):
        n, uses = chosen[c], used.get(c, [level[c]])
        born = max(level[c], min(uses))
        wide = n.literals[1] & held if n.op in ("XUn", "XBin", "XTri") else _loaded(search, n) & held
        for at in range(born, max(uses)) if wide else ():
            cut[at] = cut.get(at, 0) + 1
        for k in n.classes:
            used.setdefault(k, []).append(level[c] - 1 if n.op == "XHold" else born)
    return max(cut.values(), default=0)


def _words(search: Search, n: Node) -> float:
    """Registers of an element of what is read."""
    return max(search.s.leaves[i].type.bytes for i in search.s.reads(n.literals[0])) / 4  # type: ignore[union-attr]


def _loaded(search: Search, n: Node) -> int:
    """The axes along which it varies, of what is read; none of other executions."""
    return search.s.lanes[n.literals[0]] if n.op == "XLeaf" and search.s.reads(n.literals[0]) else 0


def _node(search: Search, pick: Pick, c: int) -> Node:
    own = search.classes[c]
    return own[pick[c]] if len(own) > 1 else own[0]


def _picked(search: Search, pick: Pick) -> Iterator[Node]:
    return (_node(search, pick, c) for c in sorted(_classes(search, pick)))


def _classes(search: Search, pick: Pick) -> set[int]:
    seen, stack = {search.root}, [search.root]
    while stack:
        new = [k for k in _node(search, pick, stack.pop()).classes if k not in seen]
        seen.update(new)
        stack += new
    return seen
