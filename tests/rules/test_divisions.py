"""Index expressions of the corpus divide only where their values need it: none is decided by the bounds of what it is
of.  The bounds are tried, not proved: coordinates and extents are drawn, and a quotient that never changes, or a
remainder that is always what it is of, or always 0, is one too many."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.lowering import lower
from intent_np.errors import IntentError
from intent_np.terms.core import walk
from intent_np.terms.dtypes import index
from intent_np.terms.index import Apply, Cast, Const, Extent, Param, Physical
from intent_np.terms.normal import Axis, Coord, Part, Turn

DIVISIONS = ("floordiv", "mod", "ceil_div")
DRAWS = 400
KERNELS = [one for e in entries([str(Path(__file__).parents[2] / "kernels")]) for one in e.launches]
NEEDED: dict[str, str] = {}
"""Divisions that stay though the values drawn decide them, and why."""


COUNTED_ON_DEVICE = ("ragged.grouped_matmul", "moe.grouped_matmul")
"""Kernels whose groups only the device counts: their blocks are dealt to instances, by divisions."""


class Unknown(Exception):
    """A value that only the device knows."""


class Draw:
    """One choice of extents and coordinates."""

    def __init__(self, seed: int) -> None:
        self.random, self.known = Random(seed), dict[Any, int]()
        self.small = self.random.random() < 0.5

    def __call__(self, t: Any) -> int:
        if t not in self.known:
            self.known[t] = self.value(t)
        return self.known[t]

    def value(self, t: Any) -> int:
        match t:
            case Const(value):
                return int(value)
            case Physical():
                return int(t.value)
            case Extent(_, bound, multiple):
                most = (6 if self.small else 400) * multiple
                return multiple * self.random.randint(0, max(1, min(most, bound or most) // multiple))
            case Param():
                return self.random.randint(-300, 300)
            case Coord():
                axis: Any = t.axis
                while isinstance(axis, (Part, Turn)):
                    axis = axis.axis
                if not isinstance(axis, Axis):
                    raise Unknown
                low, high = self(axis.lo), self(axis.hi)
                if low >= high:
                    raise Unknown
                return self.random.randrange(low, high)
            case Cast(value) if t.dtype.is_integer:
                return self(value)
            case Apply() if t.type is index or t.op.result == "bool":
                return self.applied(t.op.name, [self(a) for a in t.args])
        raise Unknown

    def applied(self, name: str, a: list[int]) -> int:
        if name in DIVISIONS and not a[1]:
            raise Unknown
        found = {
            "add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1], "mul": lambda: a[0] * a[1], "neg": lambda: -a[0],
            "floordiv": lambda: a[0] // a[1], "mod": lambda: a[0] % a[1], "ceil_div": lambda: -(-a[0] // a[1]),
            "minimum": lambda: min(a), "maximum": lambda: max(a), "select": lambda: a[1] if a[0] else a[2],
            "lt": lambda: a[0] < a[1], "le": lambda: a[0] <= a[1], "eq": lambda: a[0] == a[1],
            "ne": lambda: a[0] != a[1], "and": lambda: all(a), "or": lambda: any(a), "not": lambda: not a[0],
            "abs": lambda: abs(a[0]),
        }.get(name)  # fmt: skip
        if found is None:
            raise Unknown
        return int(found())


def decided(t: Apply) -> str:
    """How the values drawn decide a division; empty where they do not, or where they are not known."""
    pairs = []
    for seed in range(DRAWS):
        draw = Draw(seed)
        try:
            pairs.append((draw(t.args[0]), draw(t.args[1]), draw(t)))
        except Unknown:
            continue
    if len(pairs) < DRAWS // 10:
        return ""
    if len({r for _, _, r in pairs}) == 1:
        return f"it is always {pairs[0][2]}"
    if t.op.name == "mod" and all(r == x for x, _, r in pairs):
        return "it is what it is of"
    if t.op.name != "mod" and isinstance(t.args[0], Apply) and all(x % y == 0 for x, y, _ in pairs):
        return "it has no remainder"
    return ""


def programs(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        lower(entry, lambda step, program: found.__setitem__(step.target.name, program))
    except IntentError as e:
        if e.code != "E708":
            raise
    return found


@pytest.mark.parametrize("entry", KERNELS, ids=lambda e: e.title)
def test_no_division_is_decided_by_bounds(entry: Entry) -> None:
    program = programs(entry).get("normal")
    if program is None:
        return
    divisions = [t for t in walk(program) if isinstance(t, Apply) and t.op.name in DIVISIONS and t.type is index]
    found = {str(t): why for t in divisions if (why := decided(t))}
    assert found.keys() <= NEEDED.keys(), found


def test_what_is_needed_is_there() -> None:
    assert all(NEEDED.values())


@pytest.mark.parametrize("entry", KERNELS, ids=lambda e: e.title)
def test_passes_divide_by_block_sizes_only(entry: Entry) -> None:
    """What a kernel's own statements divide is the author's; loops over blocks add the ends of their whole blocks, and
    where instances share a reduction each finds its part."""
    found = programs(entry)
    if "gpu" not in found or entry.title in COUNTED_ON_DEVICE:
        return
    if any(getattr(p, "mode", "") == "counter" for p in found["gpu"].parameters):
        return

    def by_others(*roots: Any) -> set[Any]:
        terms = [t for t in walk(*roots) if isinstance(t, Apply) and t.op.name in DIVISIONS and t.type is index]
        return {t for t in terms if not isinstance(t.args[1], Physical)}

    assert len(by_others(*found["gpu"].body)) <= len(by_others(found["normal"]))
