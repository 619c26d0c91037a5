"""Along which coordinates of a program space the loops grow: those of the rows of a triangle do.

    for k0 = 0 to min(pm * BM + BM, K) step BK: …        longer for a later block of m

Asked by `lower_to_triton`: instances are started in the order of their numbers, and one that takes long should not be
the last to start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..terms.core import find
from ..terms.gpu import For, Kernel, Let, Var, While
from ..terms.index import Const, is_op

RISING = ("add", "mul", "minimum", "maximum", "floordiv", "ceil_div")
"""Operators on natural numbers whose results grow with each operand, but for a divisor, which is no coordinate."""


def growing_along(kernel: Kernel) -> frozenset[Var]:
    """The coordinates with which some loop from a fixed start ends later."""
    carried = {v for loop in find(kernel, (For, While)) for v in loop.carries}  # type: ignore[arg-type]
    defined = {s.var: s.value for s in find(kernel, Let) if s.var not in carried}
    coordinates = set(kernel.coordinates)
    found: set[Var] = set()
    for s in find(kernel, For):
        if not _touched(s.lo, defined, coordinates) and _rises(s.hi, defined, coordinates):
            found |= _touched(s.hi, defined, coordinates)
    return frozenset(found)


def _touched(v: Any, defined: Mapping[Var, Any], coordinates: set[Var]) -> set[Var]:
    """The coordinates of the instance that a bound depends on."""
    out: set[Var] = set()
    for u in find(v, Var):
        out |= {u} & coordinates or (_touched(defined[u], defined, coordinates) if u in defined else set())
    return out


def _rises(v: Any, defined: Mapping[Var, Any], coordinates: set[Var]) -> bool:
    """Whether a bound surely grows with every coordinate that it depends on."""
    if not _touched(v, defined, coordinates) or v in coordinates:
        return True
    if isinstance(v, Var):  # it is defined, since it is touched
        return _rises(defined[v], defined, coordinates)
    if not is_op(v, *RISING):
        return False
    if v.op.name in ("floordiv", "ceil_div") and _touched(v.args[1], defined, coordinates):
        return False
    if v.op.name == "mul" and any(isinstance(a, Const) and a.value < 0 for a in v.args):
        return False
    return all(_rises(a, defined, coordinates) for a in v.args)
