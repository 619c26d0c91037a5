"""The cheapest pick by z3: an optimum over clauses and linear arithmetic, which knows nothing of the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor
from typing import Any

import z3

from intent_np.planning.cheapest import Choices

ROUNDS = 60
CLOSE = 1e-6  # tangents are found by differences
FINE = 2**30  # tangents are lowered to such parts: numbers that z3 is quick with


class Encoded:
    """Picks as truth values: an option is taken only of a choice that is met, and of that one is; an item is paid for
    exactly where an option or the top forces it."""

    def __init__(self, graph: Choices, count: int) -> None:
        self.space = space = z3.Context()  # its own: what was asked elsewhere would change what this costs
        self.solver = z3.Optimize(ctx=space)
        self.taken = {(c, i): z3.Bool(f"o{c}.{i}", space) for c, own in graph.options.items() for i in range(len(own))}
        met: dict[int, list[Any]] = {c: [z3.BoolVal(c in graph.top.choices, space)] for c in graph.options}
        forced = [[z3.BoolVal(bool(graph.top.items >> j & 1), space)] for j in range(count)]
        for (c, i), y in self.taken.items():
            option = graph.options[c][i]
            for k in option.choices:
                met[k].append(y)
            for j in range(count):
                if option.items >> j & 1:
                    forced[j].append(y)
        for c, own in graph.options.items():
            ys = [self.taken[c, i] for i in range(len(own))]
            self.solver.add(z3.Or(met[c]) == z3.Or(ys), z3.AtMost(*ys, 1))
        self.paid = [z3.Bool(f"i{j}", space) for j in range(count)]
        for j, reasons in enumerate(forced):
            self.solver.add(self.paid[j] == z3.Or(reasons))

    def number(self, x: float) -> Any:
        return z3.Q(floor(x * FINE), FINE, self.space)

    def total(self, amounts: Sequence[float]) -> Any:
        return z3.Sum([z3.If(p, self.number(a), 0) for p, a in zip(self.paid, amounts, strict=True) if a])

    def items(self, model: Any) -> int:
        return sum(1 << j for j, p in enumerate(self.paid) if z3.is_true(model[p]))


def cheapest(graph: Choices, work: Sequence[Sequence[float]], price: Callable[[Sequence[float]], float]) -> float:
    """The least price of a pick, where `work` is what each item adds to the arguments of a convex `price`.

    By cutting planes: a convex function lies above its tangents, so that the optimum under those that are known is no
    more than the true one; the tangent at what it picks is the next.
    """
    e = Encoded(graph, len(work))
    bound = z3.Real("bound", e.space)
    goal = e.solver.minimize(bound)
    best, items = float("inf"), graph.reached(dict.fromkeys(graph.options, 0))[0]
    for _ in range(ROUNDS):
        at = [sum(w[k] for j, w in enumerate(work) if items >> j & 1) for k in range(len(work[0]))]
        value = price(at)
        best = min(best, value)
        slopes = [_slope(price, at, k) for k in range(len(at))]
        rest = value - sum(s * x for s, x in zip(slopes, at, strict=True))
        e.solver.add(
            bound >= e.number(rest) + e.total([sum(s * x for s, x in zip(slopes, w, strict=True)) for w in work])
        )
        assert e.solver.check() == z3.sat
        if best <= float(z3.simplify(goal.value() + z3.RealVal(0, e.space)).as_fraction()) * (1 + CLOSE):
            return best
        items = e.items(e.solver.model())
    raise AssertionError("no optimum after so many tangents")


def _slope(price: Callable[[Sequence[float]], float], at: Sequence[float], k: int) -> float:
    step = max(abs(at[k]) * 1e-6, 1e-3)
    moved = [x + step * (j == k) for j, x in enumerate(at)]
    return (price(moved) - price(at)) / step
