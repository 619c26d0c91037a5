"""How many registers a thread wants for a pick: what a held row costs, and what loops carry.

Without loops, fragments live across reductions.  In a loop, each reduction by it carries a fragment, what is reduced
in every iteration waits for that, and library functions hold intermediate values.  The counts for each element are
those of ptxas (`thread` in `costs.json`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .andor import Node
from .cheapest import Pick
from .search import Search
from .work import Point

FUNCTIONS = ("erf", "tanh", "sigmoid", "sin", "cos", "pow")
"""Functions that are long polynomials."""


def registers(search: Search, pick: Pick, point: Point) -> float:
    """Registers of a thread."""
    c = point.costs["thread"]
    if point.tensor:
        return float(c["tensor"])
    nodes = list(_picked(search, pick))
    if not point.loops:
        loads = [d for n in nodes if (d := _loaded(search, n))]
        largest = max((point.fragment(d) for d in loads), default=1) / point.threads
        wide = sum(point.fragment(d) >= largest * point.threads for d in loads)
        live = c["live"] * _live(search, pick, point) + c["operand"] * max(0, wide - 1)
        return float(c["straight"] + (c["passing"] + live) * largest)
    return max((_loop(search, nodes, p, point) for p, path in point.paths.items() if path), default=float(c["loop"]))


def _loop(search: Search, nodes: list[Node], body: int, point: Point) -> float:
    """What the loop with this body asks for."""
    c = point.costs["thread"]
    base, fragments, elements, width, dear = c["loop"], 0.0, 0.0, 0, False
    for n in nodes:
        share = lambda d: point.fragment(d) / point.threads  # noqa: E731
        match n.op, n.literals:
            case "XFold", (_, _, d, place) if place == body:
                fragments += c["carried"] * share(d)
            case "XTop" | "XScan", (*_, d, place) if place == body:
                fragments += c["reduced"] * share(d)
                base = c["loop with a reduction"]  # such a loop is not unrolled
            case "XLeaf", (leaf, place) if place == body and (d := _loaded(search, n)):
                elements = max(elements, share(d))
                width = max(width, *(search.s.leaves[i].type.bytes for i in search.s.reads(leaf)))  # type: ignore[union-attr]
            case "XRead", (value, d, place, _) if place == body:
                elements = max(elements, share(d))
                width = max(width, search.s.candidates[value].type.bytes)  # type: ignore[union-attr]
            case "XUn", (op, d, place) if place == body and op in FUNCTIONS and share(d) > 1:
                dear = True
    each = c["loaded"] + c["loaded byte"] * width + c["function"] * dear
    return float(base + fragments + each * elements)


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
