"""Loads and exponentials of an emitted program, counted over its statements; and those that a pick is priced for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from intent_np.planning.cheapest import Pick
from intent_np.planning.problem import summarized
from intent_np.planning.search import Search
from intent_np.planning.work import Point
from intent_np.rules.simplify import simplify, substitute
from intent_np.terms.core import walk
from intent_np.terms.gpu import Dispatch, For, If, Kernel, Let
from intent_np.terms.index import Apply, Const, Extent, Physical, const
from intent_np.terms.normal import Load, Region, Store, Update

Counts = dict[str, int]

COUNTED = ("exp", "tanh", "erf")


def counted(kernel: Kernel, extents: Mapping[str, int]) -> Counts:
    """Elements that all instances load as fragments and store or update, and library functions of fragments."""
    known = {e: const(extents[e.name]) for e in walk(kernel) if isinstance(e, Extent)}
    known |= {b: const(b.value) for b in walk(kernel) if isinstance(b, Physical)}
    instances = math.prod(_value(g, known) for g in kernel.grid)
    found: Counts = {}
    _block(kernel.body, instances, known, found)
    return {k: n for k, n in found.items() if n}


def _block(body: Any, runs: int, known: dict[Any, Any], found: Counts) -> None:
    local = dict(known)
    for s in body:
        match s:
            case Let(var, value):
                _terms((value,), runs, found)
                if not value.lanes:  # bounds of loops are made of
                    local[var] = substitute(value, local)
            case For():
                lo, hi, step = (_value(x, local) for x in (s.lo, s.hi, s.step))
                _block(s.body, runs * max(0, -(-(hi - lo) // step)), local, found)
            case Store():
                _terms((s.value,), runs, found)
                found["store"] = found.get("store", 0) + runs * _lanes(s)
            case Update():
                _terms((*s.index, *s.operands), runs, found)
                found["store"] = found.get("store", 0) + runs * math.prod(a.value for a in s.over)
            case If() | Dispatch():
                raise AssertionError("no such statement in the cases")
            case _:
                _terms(tuple(c for c in s.children() if not isinstance(c, Physical)), runs, found)


def _terms(roots: Any, runs: int, found: Counts) -> None:
    for t in walk(*roots):
        lanes = math.prod(a.value for a in t.lanes)
        if isinstance(t, Load) and lanes > 1:
            found["load"] = found.get("load", 0) + runs * lanes
        if isinstance(t, Apply) and t.op.name in COUNTED and lanes > 1:
            found[t.op.name] = found.get(t.op.name, 0) + runs * lanes


def _lanes(t: Any) -> int:
    return math.prod(a.value for a in t.lanes)


def _value(t: Any, known: Mapping[Any, Any]) -> int:
    found = simplify(substitute(t, known, everywhere=True))
    assert isinstance(found, Const), found
    return int(found.value)


def _taken(leaf: Any) -> list[Any]:
    """What is counted of a leaf: a load, or functions that a summary of slices is made of."""
    if isinstance(leaf, Region):
        return [t for t in summarized(leaf) if isinstance(t, Apply) and t.op.name in COUNTED]
    return [leaf] if isinstance(leaf, Load) else []


def priced(search: Search, point: Point, pick: Pick) -> Counts:
    """The same counts over the executions of a pick."""
    items, found = search.reached(pick)[0], Counts()
    for number, (item, _) in enumerate(search.items):
        if not items >> number & 1:
            continue
        name, d, place = "", 0, 0
        match item.op, item.literals:
            case "XLeaf", (leaf, place):
                for t in _taken(search.s.leaves[leaf]):
                    name = "load" if isinstance(t, Load) else t.op.name
                    d = search.s.problem.bits(t)
                    if point.fragment(d) > 1:
                        found[name] = found.get(name, 0) + point.runs(d, place) * point.fragment(d)
                name = ""
            case "XRead", (_, d, place, _):
                name = "load"
            case "XWrite", (_, d, place):
                name = "store"
            case "XStore", (number, place) if not (statement := search.s.problem.statements[number]).part:
                turns = sum(1 << a for a, _ in point.paths[place] if search.s.problem.ordered >> a & 1)
                name, d = "store", search.s.problem.bits(statement.effect) | turns
            case "XUn", (op, d, place) if op in COUNTED or op.startswith("load "):
                name = op.partition(" ")[0]
            case "weights", (axis, d, place):
                name, rows = "exp", point.fragment(d & ~(1 << axis))
                if rows > 1:  # sums are rescaled row by row
                    found["exp"] = found.get("exp", 0) + 2 * point.runs(d, place) * rows
        n = point.fragment(d)
        if name == "store" or name and n > 1:
            found[name] = found.get(name, 0) + point.runs(d, place) * n
    return found
