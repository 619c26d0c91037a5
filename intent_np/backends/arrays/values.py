"""Evaluation of the terms that every level has, on arrays with named dimensions.

A value is an array with one dimension for each axis of the frame, of size 1 where it does not vary, so that NumPy's
broadcasting is the language's.  A tuple value is a list of arrays.  Each term is computed once where it stands: levels
differ in what a coordinate is and in how long a value lives, and subclasses say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import error
from ...numerics import Array, accumulate, apply, bitcast, cast, contract, reduce, reducible, saturate_cast, storage
from ...terms.blocked import Branch
from ...terms.core import Term, children, walk
from ...terms.dtypes import DType
from ...terms.index import Apply, Cast, Const, Extent, Param, Physical, Stride, Value
from ...terms.normal import Arg, Combine, Load, Proj, Update
from ...terms.operators import OPERATORS
from ...terms.text import brief
from .arguments import element
from .memory import Memory
from .updates import Combining


def is_reduction(c: Combine) -> bool:
    """Whether a combine is one operator on its two sides that NumPy reduces by."""
    body = c.bodies[0]
    if len(c.bodies) != 1 or not isinstance(body, Apply) or not reducible(body.op):
        return False
    sides = [a.side for a in body.args if isinstance(a, Arg)]
    return len(body.args) == 2 and sorted(sides) == ["a", "b"]


class Values:
    """The evaluator.  `positions` gives each axis its dimension of a frame with `rank` dimensions."""

    def __init__(self, memory: Memory, positions: Mapping[Any, int], rank: int) -> None:
        self.memory, self.arguments = memory, memory.arguments
        self.positions, self.rank = positions, rank
        self._orders: dict[Combine, list[Term]] = {}

    # ---- what a level says

    def recall(self, t: Value) -> Any:
        """The value of `t` if it is known here, else None."""
        raise TypeError("a level says where values live")

    def keep(self, t: Value, value: Any) -> None:
        """Remember the value of `t` for as long as it is one value."""
        raise TypeError("a level says where values live")

    def operands(self, t: Value) -> Iterable[Value]:
        """The values to compute before `t`, in the same place; a binder computes its own."""
        return [c for c in children(t) if isinstance(c, Value)]

    def active(self, t: Load) -> Array | None:
        """The lanes for which `t` is performed, None for all."""
        return None

    # ---- evaluation

    def value(self, t: Value) -> Any:
        """The value of `t` here: an array, or a list of arrays for a tuple."""
        found = self.recall(t)
        if found is not None:
            return found
        stack = [t]  # explicit, so that a long chain of terms is no deep recursion
        while stack:
            u = stack[-1]
            if self.recall(u) is None:
                waiting = [c for c in self.operands(u) if self.recall(c) is None]
                if waiting:
                    stack.extend(reversed(waiting))
                    continue
                self.keep(u, self.compute(u))
            stack.pop()
        return self.recall(t)

    def compute(self, t: Value) -> Any:
        """`t` over operands that are known."""
        match t:
            case Load(_, indices, valid):
                return self.load(t, [self.value(i) for i in indices], None if valid is None else self.value(valid))
            case Proj(value, position):
                return self.value(value)[position]
        return self.pointwise(t, [self.value(c) for c in self.operands(t)])

    def load(self, t: Load, indices: Sequence[Array], valid: Array | None) -> Array:
        """Elements of a view, in the frame."""
        found = self.memory.load(t, indices, valid, self.active(t))
        return found if found.ndim == self.rank else found.reshape((1,) * self.rank)

    def pointwise(self, t: Value, operands: Sequence[Array]) -> Array:
        """Terms that have no axes of their own."""
        match t:
            case Const(value, d):
                return self.scalar(value, d)
            case Apply(op, args):
                return apply(op, *operands, dtype=element(args[-1]))
            case Branch():  # where both sides are pure, which of them is computed can't be seen
                return apply(OPERATORS["select"], *operands, dtype=element(t))
            case Cast(value, d, mode):
                convert = {"wrap": cast, "saturate": saturate_cast, "bits": bitcast}[mode]
                return convert(operands[0], d, element(value))
            case Extent() | Stride() | Param() | Physical():
                return self.arguments.leaf(t).reshape((1,) * self.rank)
        raise malformed(f"{brief(t)} has no value here")

    # ---- fragments

    def scalar(self, value: Any, d: DType) -> Array:
        """One number in the frame."""
        return np.full((1,) * self.rank, value, storage(d))

    def along(self, axis: Any, vector: Array) -> Array:
        """`vector` along the dimension of `axis`."""
        shape = [1] * self.rank
        shape[self.position(axis)] = vector.size
        return vector.reshape(shape)

    def position(self, axis: Any) -> int:
        """The dimension of an axis."""
        if axis not in self.positions:
            raise malformed(f"{brief(axis)} is no axis of this program")
        return self.positions[axis]

    def widen(self, x: Array, dim: int, extent: int) -> Array:
        """`x` with its full extent along a dimension where it may be constant."""
        return x if x.shape[dim] == extent else np.broadcast_to(x, (*x.shape[:dim], extent, *x.shape[dim + 1 :]))

    # ---- structured terms on one dimension

    def combine(
        self, c: Combine, a: Sequence[Array], b: Sequence[Array], captures: Sequence[Array] = ()
    ) -> list[Array]:
        """The bodies of a combine region on a left and a right summary, and on what it uses besides."""
        if c not in self._orders:
            self._orders[c] = walk(*c.bodies)
        known: dict[Any, Any] = {}
        for t in self._orders[c]:
            if isinstance(t, Arg):
                known[t] = {"a": a, "b": b, "c": captures}[t.side][t.position]
            elif isinstance(t, Proj):
                known[t] = known[t.value][t.position]
            elif isinstance(t, Value):
                known[t] = self.pointwise(t, [known[x] for x in children(t)])
        return [known[body] for body in c.bodies]

    def combining(self, t: Update) -> Combining:
        """The combine of an update as a function of elements; of others, one that is never called."""
        c: Any = t.combine
        return lambda *given: self._one_line(c, *given)

    def _one_line(self, c: Combine, now: Array, *given: Array) -> Array:
        shape = (1,) * (self.rank - 1) + now.shape if self.rank else now.shape
        brought, *captures = (x.reshape(shape) for x in given)
        found = self.combine(c, [now.reshape(shape)], [brought], captures)[0]
        return np.broadcast_to(found, shape).reshape(now.shape)

    def reduce(
        self, c: Combine, values: Sequence[Array], identities: Sequence[Const], dim: int, extent: int,
        member: Array | None = None,
    ) -> list[Array]:  # fmt: skip
        """The members along `dim` combined in order; only those of `member`, where one is given."""
        starts = [self.scalar(i.value, i.dtype) for i in identities]
        if extent == 0:
            return starts
        if member is not None:
            values = [np.where(member, v, s) for v, s in zip(values, starts, strict=True)]
        parts = [self.widen(v, dim, extent) for v in values]
        if is_reduction(c):
            return [reduce(c.bodies[0].op, parts[0], dim, c.dtypes[0], keepdims=True)]  # type: ignore[attr-defined]
        while (n := parts[0].shape[dim]) > 1:
            odd = [_every(p, dim, n - 1, n) for p in parts]
            left, right = ([_every(p, dim, start, n - n % 2) for p in parts] for start in (0, 1))
            parts = self.combine(c, left, right)
            if n % 2:
                parts = [_append(p, o, dim) for p, o in zip(parts, odd, strict=True)]
        return list(parts)

    def scan(
        self, c: Combine, values: Sequence[Array], identities: Sequence[Const], dim: int, extent: int, reverse: bool,
        member: Array | None = None,
    ) -> list[Array]:  # fmt: skip
        """Every prefix along `dim`, or with `reverse` every suffix from the last member on; of those of `member`."""
        parts = list(values)
        if member is not None:
            starts = [self.scalar(i.value, i.dtype) for i in identities]
            parts = [np.where(member, v, s) for v, s in zip(parts, starts, strict=True)]
        parts = [self.widen(v, dim, extent) for v in parts]
        if extent < 2:
            return parts
        if is_reduction(c):
            return [accumulate(c.bodies[0].op, parts[0], dim, c.dtypes[0], reverse)]  # type: ignore[attr-defined]
        parts = [np.flip(p, dim) for p in parts] if reverse else parts
        step = 1
        while step < extent:  # each prefix of `step` members, and the one before it
            far = self.combine(c, [_cut(p, dim, 0, -step) for p in parts], [_cut(p, dim, step, None) for p in parts])
            parts = [_append(_cut(p, dim, 0, step), f, dim) for p, f in zip(parts, far, strict=True)]
            step *= 2
        return [np.flip(p, dim) for p in parts] if reverse else parts

    def contract(
        self, left: Array, right: Array, dim: int, extent: int, d: DType, acc: DType, member: Array | None = None,
        active: Array | None = None,
    ) -> Array:  # fmt: skip
        """The sum along `dim` of the products of `left` and `right`, of element type `d`, in `acc`."""
        if member is not None:
            zero = self.scalar(0, d)
            left, right = np.where(member, left, zero), np.where(member, right, zero)
        self.memory.multiplied(left, right, dim, extent, active)
        left, right = self.widen(left, dim, extent), self.widen(right, dim, extent)
        # a dimension of size 1 on one side is no axis of it: dropped before, put back after
        both = [d for d in range(self.rank) if d != dim and left.shape[d] != 1 and right.shape[d] != 1]
        mine = [d for d in range(self.rank) if d != dim and left.shape[d] != 1 and right.shape[d] == 1]
        other = [d for d in range(self.rank) if d != dim and left.shape[d] == 1 and right.shape[d] != 1]
        n, m = len(both), len(mine)
        sides = _ordered(left, [*both, *mine, dim]), _ordered(right, [*both, dim, *other])
        product = contract(*sides, [(n + m, n)], [(i, i) for i in range(n)], acc=acc)
        places = [*both, *mine, *other]
        shape = [1] * self.rank
        for p, size in zip(places, product.shape, strict=True):
            shape[p] = size
        return product.transpose(np.argsort(places)).reshape(shape)


def _ordered(x: Array, dims: Sequence[int]) -> Array:
    """`x` with these dimensions in this order; all others have size 1."""
    rest = [d for d in range(x.ndim) if d not in dims]
    return x.transpose([*dims, *rest]).reshape([x.shape[d] for d in dims])


def _cut(x: Array, dim: int, start: int, stop: int | None) -> Array:
    return x[(slice(None),) * dim + (slice(start, stop),)]


def _every(x: Array, dim: int, start: int, stop: int) -> Array:
    return x[(slice(None),) * dim + (slice(start, stop, 2),)]


def _append(x: Array, y: Array, dim: int) -> Array:
    """`x` followed by `y` along `dim`, both broadcast along the others."""
    shape = np.broadcast_shapes(*((*a.shape[:dim], 1, *a.shape[dim + 1 :]) for a in (x, y)))
    full = [np.broadcast_to(a, (*shape[:dim], a.shape[dim], *shape[dim + 1 :])) for a in (x, y)]
    return np.concatenate(full, dim)


def malformed(what: str, language: str = "") -> Exception:
    """The error of a program that cannot be executed as it stands."""
    return error("E702", language=language, found=what)
