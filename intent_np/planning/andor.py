"""The AND-OR graph of executions: classes of alternatives, each alternative over further classes.

Numbers are canonical: classes are named by what they are made of and numbered from the root, so that nothing depends on
the order in which the e-graph hands its nodes out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from .problem import Unserved


class Node(NamedTuple):
    """An alternative: an operator with literals, over classes."""

    op: str
    literals: tuple[Any, ...]
    classes: tuple[int, ...]


class Graph(NamedTuple):
    """The alternatives of each class, a class before those that use it, and the root of each frame."""

    classes: list[list[Node]]
    roots: dict[int, int]
    enodes: int


PLACE = {"XLeaf": 1, "XUn": 2, "XBin": 2, "XTri": 2, "XHold": 3, "XScan": 3, "Get": 0, "XStore": 1}
"""Which literal of an operator is the place where it stands."""


def decoded(nodes: dict[str, Any], alike: Mapping[int, int]) -> Graph:
    """The graph of serialized e-nodes, without alternatives that can't be executed; with one place for those that are
    `alike`, so that what is computed in several of them is one class if it is made alike."""
    found: dict[str, list[tuple[str, tuple[Any, ...], tuple[str, ...]]]] = {}
    root = ""
    for n in nodes.values():
        kind = n["eclass"]
        if not kind.startswith("X-") or n["op"] in ("At", "Eff"):
            continue
        if n["op"] == "Root":
            root = kind
            continue
        literals, below = [], []
        for c in n["children"]:
            child = nodes[c]
            if child["eclass"].startswith("X-"):
                below.append(child["eclass"])
            else:
                literals.append(json.loads(child["op"]))
        found.setdefault(kind, []).append((n["op"], tuple(literals), tuple(below)))
    return _numbered(_executable(found), root, len(nodes), alike)


def _executable(found: dict[str, Any]) -> dict[str, Any]:
    """The least fixed point: classes with an alternative whose classes are executable."""
    live: set[str] = set()
    changed = True
    while changed:
        changed = False
        for name, alternatives in found.items():
            if name not in live and any(live.issuperset(below) for _, _, below in alternatives):
                live.add(name)
                changed = True
    return {c: [a for a in found[c] if live.issuperset(a[2])] for c in found if c in live}


def _numbered(found: dict[str, Any], root: str, enodes: int, alike: Mapping[int, int]) -> Graph:
    number: dict[str, int] = {}
    made: dict[str, str] = {}  # a class by what it is made of
    same: dict[str, int] = {}
    classes: list[list[Node]] = []
    roots: dict[int, int] = {}
    for _, (frame, *_), (top,) in sorted(found.get(root, ()), key=lambda a: a[1]):
        for c in _bottom_up(found, top, made):
            described = sorted(
                (op, _placed(op, literals, alike), tuple(made[k] for k in below), literals, below)
                for op, literals, below in found[c]
            )
            made[c] = blake2b(repr([d[:3] for d in described]).encode(), digest_size=12).hexdigest()
            new = [Node(op, literals, tuple(number[k] for k in below)) for op, _, _, literals, below in described]
            if made[c] not in same:
                same[made[c]] = len(classes)
                classes.append(new)
            number[c] = same[made[c]]
            classes[number[c]] = min(classes[number[c]], new)  # where it is needed first
        roots[frame] = number[top]
    return Graph(classes, roots, enodes)


def _placed(op: str, literals: tuple[Any, ...], alike: Mapping[int, int]) -> tuple[Any, ...]:
    at = PLACE.get(op)
    return literals if at is None else (*literals[:at], alike[literals[at]], *literals[at + 1 :])


def _bottom_up(found: dict[str, Any], top: str, done: dict[str, str]) -> list[str]:
    """The classes below `top`, each once and behind all that it is made of; `Unserved` if one contains itself."""
    order: list[str] = []
    state: dict[str, bool] = {}  # whether a class is finished
    stack = [(top, False)]
    while stack:
        c, finished = stack.pop()
        if finished:
            state[c] = True
            order.append(c)
        elif c not in done and c not in state:
            state[c] = False
            stack.append((c, True))
            for k in sorted({k for _, _, below in found[c] for k in below}):
                if state.get(k) is False:
                    raise Unserved("an execution of it would wait for itself")
                stack.append((k, False))
    return order
