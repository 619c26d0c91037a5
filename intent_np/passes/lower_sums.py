"""Sums along several axes at once: contractions and counts.

contract a, b over (k, l)        reduce sum over k of contract over l of a[m, k, l], b[k, l, n]
histogram v                      reduce sum over i of v[i] == bin
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..rules import elements
from ..rules.elements import Asked, Positions
from ..rules.simplify import node
from ..terms import logical as L
from ..terms.dtypes import index
from ..terms.index import Cast, Value, apply
from ..terms.normal import Contract, Reduce, builtin, identity


class SumLowering:
    """The part of the lowering that knows sums along several axes."""

    axis: Callable[[L.Domain, Any], Any]
    position: Callable[[L.Domain, Any], Any]
    domains: Callable[[Value], tuple[L.Domain, ...]]

    def histogram(self, v: L.Histogram, where: Positions) -> Generator[Asked, Any, Any]:
        """For each bin, how many members are its number."""
        taken = frozenset().union(*(p.lanes for p in where))
        inside: Positions = ()
        axes = []
        for d in self.domains(v.values):
            a = self.axis(d, taken)
            taken |= {a}
            axes.append(a)
            inside = (*inside, self.position(d, a))
        # a member as an index: a u64 that is none becomes negative, and is in no bin
        member = yield elements.fitted(v.values, inside)
        counted: Any = apply("eq", node(Cast(member, index)), where[0])
        if v.valid is not None:
            counted = apply("and", counted, (yield elements.fitted(v.valid, inside)))
        total: Any = node(Cast(node(counted), v.dtype))
        for a in reversed(axes):
            total = node(Reduce(a, builtin("sum", v.dtype), (total,), (identity("sum", v.dtype),)))
        return total

    def contract(self, v: L.TensorContract, where: Positions) -> Generator[Asked, Any, Any]:
        taken = frozenset().union(*(p.lanes for p in where)) if where else frozenset()
        left: list[Any] = [None] * len(L.shape_of(v.left))
        right: list[Any] = [None] * len(L.shape_of(v.right))
        axes = []
        for i, j in v.summed:
            d = self.domains(v.left)[i]
            a = self.axis(d, taken)
            taken |= {a}
            axes.append(a)
            left[i] = right[j] = self.position(d, a)
        rest = iter(where)
        for i in range(len(left)):
            if left[i] is None:
                left[i] = next(rest)
        for i, j in v.batch:
            right[j] = left[i]
        right = [next(rest) if p is None else p for p in right]
        a, b = yield from elements.every((elements.fitted(v.left, tuple(left)), elements.fitted(v.right, tuple(right))))
        total = Contract(axes[-1], a, b, v.acc)
        for a in reversed(axes[:-1]):
            total = Reduce(a, builtin("sum", v.acc), (node(total),), (identity("sum", v.acc),))  # type: ignore[assignment]
        return total
