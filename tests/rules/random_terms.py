"""Random index terms over every kind of leaf, with values that their leaves may have."""

from __future__ import annotations

from random import Random
from typing import Any

from intent_np.terms.blocked import Base, Point, Slice, Tile, Whole
from intent_np.terms.core import walk
from intent_np.terms.dtypes import bool_, index
from intent_np.terms.gpu import Range
from intent_np.terms.index import Apply, Const, Extent, Physical, Stride, Value, apply, const
from intent_np.terms.normal import Axis, Coord

ARITHMETIC = ("add", "add", "sub", "mul", "floordiv", "ceil_div", "mod", "minimum", "maximum", "select", "neg")
COMPARISONS = ("lt", "lt", "le", "eq", "ne")
CONNECTIVES = ("and", "or", "not")


class Index:
    """Draws index terms and predicates; values are drawn by `values`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        pick = self.random.choice
        self.extents = [
            Extent("N"), Extent("M", 40), Extent("K", 64, 8), Extent("L", None, 4),
        ]  # fmt: skip
        sizes = [Physical(f"B{n}", n) for n in (1, 4, 8)]
        axes = [
            Axis(const(0), pick(self.extents)),
            Axis(const(pick([0, 2, -3])), const(pick([5, 8, 16]))),
            Axis(const(8), apply("add", pick(self.extents), const(12)), 1),
        ]
        self.leaves: list[Value] = [*self.extents, Stride("x", 0), Stride("y", 1, 8), *sizes, *map(Range, sizes)]
        for a in axes:
            fragments: list[Any] = [a, Point(a), Tile(a, pick(sizes)), Slice(a, pick(sizes)), Whole(a, pick(sizes))]
            self.leaves += [Coord(f) for f in fragments] + [Base(f) for f in fragments[1:]]

    def leaf(self) -> Value:
        if self.random.random() < 0.4:
            return const(self.random.choice((0, 1, 2, 3, 4, 7, 8, 16, 64, -1, -2, -8)))
        return self.random.choice(self.leaves)

    def term(self, depth: int) -> Value:
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf()
        name = self.random.choice(ARITHMETIC)
        if name == "select":
            return apply("select", self.predicate(depth - 1), self.term(depth - 1), self.term(depth - 1))
        if name in ("floordiv", "mod", "ceil_div"):
            return apply(name, self.term(depth - 1), self.divisor())
        return apply(name, *(self.term(depth - 1) for _ in range(1 if name == "neg" else 2)))

    def divisor(self) -> Value:
        """Often a positive constant; what divides by zero or less than zero is drawn too."""
        return const(self.random.choice((1, 2, 3, 4, 8, 16))) if self.random.random() < 0.8 else self.leaf()

    def predicate(self, depth: int) -> Value:
        if depth <= 0 or self.random.random() < 0.6:
            return apply(self.random.choice(COMPARISONS), self.term(depth), self.term(depth))
        name = self.random.choice(CONNECTIVES)
        return apply(name, *(self.predicate(depth - 1) for _ in range(1 if name == "not" else 2)))

    def values(self, *roots: Value) -> dict[Value, int] | None:
        """Values for the leaves of `roots`; None where an axis that they run over is empty."""
        env: dict[Any, int] = {}
        for t in walk(*roots):
            match t:
                case Extent(_, bound, multiple):
                    most = (bound if bound is not None else 50) // multiple
                    env[t] = multiple * self.random.choice((0, 1, most, self.random.randint(0, most)))
                case Stride(_, _, multiple):
                    env[t] = multiple * self.random.choice((0, 1, -1, 7, 100))
                case Physical(_, size):
                    env[t] = size
                case Range(size):
                    env[t] = self.random.randrange(size.value)
        for t in walk(*roots):
            if isinstance(t, (Coord, Base)) and not self._coordinate(t, env):
                return None
        return env

    def _coordinate(self, t: Any, env: dict[Any, int]) -> bool:
        axis = getattr(t.axis, "axis", t.axis)
        lo, hi = value(axis.lo, env), value(axis.hi, env)
        if lo is None or hi is None or lo >= hi:
            return False
        size = t.axis.size.value if hasattr(t.axis, "size") else 1
        # padded lanes pass the end, and a whole axis may be longer than its fragment in a program that is wrong
        base = lo if isinstance(t.axis, Whole) else self.random.randrange(lo, hi, size)
        env[t] = base if isinstance(t, Base) else base + self.random.randrange(size)
        return True


def value(t: Value, env: dict[Any, int]) -> Any:
    """An integer or a bool, exactly; None for what is invalid: a division by zero that counts."""
    done: dict[Any, Any] = {}
    for u in walk(t):
        if u in env:
            done[u] = env[u]
        elif isinstance(u, Const):
            done[u] = u.value
        elif isinstance(u, Apply):
            done[u] = _applied(u.op.name, [done[a] for a in u.args])
    return done[t]


def _applied(name: str, a: list[Any]) -> Any:
    if name == "select":
        return None if a[0] is None else a[1] if a[0] else a[2]
    if name in ("and", "or"):  # one operand that decides is enough
        decisive = name == "or"
        return decisive if decisive in a else None if None in a else not decisive
    if None in a:
        return None
    match name:
        case "add":
            return a[0] + a[1]
        case "sub":
            return a[0] - a[1]
        case "mul":
            return a[0] * a[1]
        case "neg":
            return -a[0]
        case "floordiv":
            return a[0] // a[1] if a[1] else None
        case "ceil_div":
            return -(-a[0] // a[1]) if a[1] else None
        case "mod":
            return a[0] % a[1] if a[1] else None
        case "minimum":
            return min(a)
        case "maximum":
            return max(a)
        case "lt":
            return a[0] < a[1]
        case "le":
            return a[0] <= a[1]
        case "eq":
            return a[0] == a[1]
        case "ne":
            return a[0] != a[1]
        case "not":
            return not a[0]
    raise NotImplementedError(name)


__all__ = ["Index", "bool_", "index", "value"]
