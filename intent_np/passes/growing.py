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
from ..terms.index import Const, Value, is_op

RISING = ("add", "mul", "minimum", "maximum", "floordiv", "ceil_div")
"""Operators on natural numbers whose results grow with each operand, but for a divisor, which is no coordinate."""


def growing_along(kernel: Kernel) -> frozenset[Var]:
    """The coordinates with which some loop from a fixed start ends later."""
    carried = {v for loop in find(kernel, (For, While)) for v in loop.carries}  # type: ignore[arg-type]
    defined: dict[Var, tuple[Value, ...]] = {}
    for s in find(kernel, Let):
        if s.var not in carried:  # one name may stand for something else in each of two loops
            defined[s.var] = (*defined.get(s.var, ()), s.value)
    bounds = _Bounds(defined, frozenset(kernel.coordinates))
    loops = [s for s in find(kernel, For) if not bounds.touched(s.lo) and bounds.rises(s.hi)]
    return frozenset().union(*(bounds.touched(s.hi) for s in loops))


class _Bounds:
    """What bounds of loops depend on, through all definitions that their names have."""

    def __init__(self, defined: Mapping[Var, tuple[Value, ...]], coordinates: frozenset[Var]) -> None:
        self.defined, self.coordinates = defined, coordinates
        self._rising: dict[Any, bool] = {}

    def touched(self, v: Any) -> frozenset[Var]:
        """The coordinates of the instance that a bound depends on."""
        seen: set[Var] = set()
        left = list(find(v, Var))
        while left:
            if (u := left.pop()) not in seen:
                seen.add(u)
                if u not in self.coordinates:
                    left += find(self.defined.get(u, ()), Var)
        return self.coordinates & seen

    def rises(self, v: Any) -> bool:
        """Whether a bound surely grows with every coordinate that it depends on."""
        if v not in self._rising:
            self._rising[v] = False  # of what would be defined by itself
            self._rising[v] = self._rises(v)
        return self._rising[v]

    def _rises(self, v: Any) -> bool:
        if not self.touched(v) or v in self.coordinates:
            return True
        if isinstance(v, Var):  # it is defined, since it is touched
            return all(self.rises(d) for d in self.defined[v])
        if not is_op(v, *RISING):
            return False
        if v.op.name in ("floordiv", "ceil_div") and self.touched(v.args[1]):
            return False
        if v.op.name == "mul" and any(isinstance(a, Const) and a.value < 0 for a in v.args):
            return False
        return all(self.rises(a) for a in v.args)
