"""What statements do to memory: buffers are made, and elements combined or exchanged, one lane after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import numerics
from ...numerics import Array, storage
from ...terms.dtypes import DType
from ...terms.index import Value
from ...terms.logical import (
    Accumulate,
    Atomic,
    Branch,
    Buffer,
    Old,
    Parallel,
    Read,
    Succeeded,
    Write,
    element,
    performed,
)
from ...terms.normal import Arg
from ...terms.operators import OPERATORS
from .scope import Scope
from .tensors import Tensors, called, lanes_of, own_lanes

Combining = Callable[[Array, Array], Array]
OPERATOR = {"add": "add", "max": "maximum", "min": "minimum", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}


def operands(e: Accumulate | Atomic) -> tuple[Value, ...]:
    """The values that a statement takes to memory."""
    return (e.value, *e.operands) if isinstance(e, Accumulate) else e.operands


@dataclass(frozen=True)
class Access:
    """A statement's access, evaluated: index arrays, inside of the target in all valid lanes, and values for them."""

    statement: Any
    target: Array
    where: list[Array]
    values: tuple[Array, ...]
    valid: Array | None
    shape: tuple[int, ...]

    @property
    def empty(self) -> bool:
        """Whether it is of no elements."""
        return 0 in self.shape


class Modifier:
    """Performs what changes memory; with a seed, unordered things happen in another order."""

    def __init__(self, tensors: Tensors, seed: int | None) -> None:
        self.tensors = tensors
        self.random = None if seed is None else np.random.default_rng(seed)
        self._singly: dict[Parallel, bool] = {}

    # ---- order

    def shuffled(self, members: Array) -> Array:
        """The members of an unordered domain, in the order in which they are performed."""
        if self.random is None:
            return members
        return members[..., self.random.permutation(members.shape[-1])]

    def singly(self, e: Parallel) -> bool:
        """Whether the points must be performed one by one.

        A batch performs each statement for all of its points.  That is an order of the points only if no more than one
        statement of the body meets memory in which they meet."""
        if e not in self._singly:
            self._singly[e] = _observable(e)
        return self._singly[e] and (self.random is None or bool(self.random.integers(2)))

    # ---- buffers

    def allocate(self, buffer: Buffer, scope: Scope) -> None:
        """A buffer for each lane of the batch; what it holds is unspecified."""
        shape = scope.sizes + tuple(self.tensors.size(e, scope) for e in buffer.shape)
        d = buffer.dtype
        anything: Any = float("nan") if d.is_float else d.range[1] // 3 if d.is_integer else True
        scope.keep(buffer, np.full(shape, anything, storage(d)))  # a merge behind a branch reads what it holds

    # ---- accesses

    def access(self, e: Any, values: tuple[Value, ...], scope: Scope) -> Access:
        """What a statement is going to do in this scope."""
        target, first = self.tensors.resource(e.view, scope)
        where, rank = self.tensors.coordinates(e.subscripts, scope)
        where = [*own_lanes(target.shape[:first], scope.depth + rank), *where]
        given = tuple(self.tensors.aligned(v, rank, scope) for v in values)
        valid = None if e.valid is None else self.tensors.aligned(e.valid, rank, scope)
        extra = () if valid is None else (valid,)
        where = self.tensors.inside(called(e.view), target, where, scope, rank, first, *extra, at=e)
        ones = (1,) * (scope.depth + rank)
        valid = lanes_of(scope, rank, valid)
        lanes = np.broadcast_shapes(ones, *(x.shape for x in (*where, *given, *extra)))
        return Access(e, target, where, given, valid, lanes)

    def perform(self, access: Access, scope: Scope) -> None:
        """Combine or exchange, each lane of each point in its turn; what an atomic access found stays behind."""
        e = access.statement
        shape = np.broadcast_shapes(access.shape, scope.sizes + access.shape[scope.depth :])
        old = np.zeros(shape, storage(e.view.dtype))
        found = np.zeros(shape, np.bool_)
        if 0 not in shape:
            live = np.ones(shape, np.bool_) if access.valid is None else np.broadcast_to(access.valid, shape)
            lanes = np.flatnonzero(live)
            if self.random is not None:
                lanes = self.random.permutation(lanes)
            values = [np.broadcast_to(v, shape).reshape(-1)[lanes] for v in access.values]
            target = access.target[None]  # so that there is an axis, of a scalar too
            index = [np.broadcast_to(i, shape).reshape(-1)[lanes] for i in access.where]
            at = np.ravel_multi_index((np.zeros_like(lanes), *index), target.shape) if lanes.size else lanes
            was, done = self._in_turn(e, target, at, values)
            old.reshape(-1)[lanes], found.reshape(-1)[lanes] = was, done
        if isinstance(e, Atomic):
            scope.keep(Old(e), old)
            if e.operation == "compare_exchange":
                scope.keep(Succeeded(e), found)

    def _in_turn(self, e: Any, target: Array, at: Array, values: list[Array]) -> tuple[Array, Array]:
        """Lanes at one element one after the other, lanes at different ones together: what each found, and whether it
        found what it expected."""
        old, done = np.zeros(at.shape, target.dtype), np.zeros(at.shape, np.bool_)
        order = np.argsort(at, kind="stable")
        begins = np.flatnonzero(np.diff(at[order], prepend=-1))
        turn = np.arange(at.size) - np.repeat(begins, np.diff(begins, append=at.size))
        if isinstance(e, Atomic) and e.operation == "add" and e.view.dtype.is_integer:  # type: ignore[attr-defined]
            return self._counted(target, at, order, begins, values[0]), done
        by_turn = order[np.argsort(turn, kind="stable")]
        for lanes in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if at.size else []:
            where = np.unravel_index(at[lanes], target.shape)
            old[lanes] = now = target[where]
            new, done[lanes] = self._changed(e, now, [v[lanes] for v in values])
            target[where] = new
        return old, done

    def _counted(self, target: Array, at: Array, order: Array, begins: Array, value: Array) -> Array:
        """Sums of integers, which wrap: what a lane finds is what there was and a running sum."""
        where = np.unravel_index(at, target.shape)
        sums = np.cumsum(value[order], dtype=target.dtype)
        before = sums - value[order]
        before -= np.repeat(before[begins], np.diff(begins, append=at.size))
        old = target[where]
        old[order] += before
        last = order[np.append(begins[1:], at.size) - 1] if at.size else order
        target[np.unravel_index(at[last], target.shape)] = old[last] + value[last]
        return old

    def _changed(self, e: Any, now: Array, values: list[Array]) -> tuple[Array, Any]:
        """What elements become, and whether a comparison succeeded."""
        d: DType = e.view.dtype
        if isinstance(e, Accumulate):
            sides = [Arg("c", i, element(o.type)) for i, o in enumerate(e.operands)]
            return self.tensors.combined(e.combine, (now,), (values[0],), dict(zip(sides, values[1:], strict=True)))[
                0
            ], False
        if e.operation == "load":
            return now, False
        if e.operation in ("store", "exchange"):
            return values[0], False
        if e.operation == "compare_exchange":
            expected, desired = values
            same = _bits(now) == _bits(expected)
            return np.where(same, desired, now), same
        return numerics.apply(OPERATORS[OPERATOR[e.operation]], now, values[0], dtype=d), False


def _bits(x: Array) -> Array:
    return np.ascontiguousarray(x).view(f"u{x.itemsize}")


def _observable(e: Parallel) -> bool:
    """Whether the order of points shows in memory that several statements meet, or one of them again and again."""
    direct: list[Any] = []
    stack: list[Any] = list(e.body)
    while stack:
        t = stack.pop()
        if isinstance(t, Branch):
            stack += (*t.then, *t.otherwise)
        else:
            direct.append(t)
    inside = performed(*e.body)
    meeting = [t for t in inside if isinstance(t, (Accumulate, Atomic))]
    uses = Counter(t.view for t in inside if isinstance(t, (Accumulate, Atomic, Write, Read)))
    return any(t not in direct or uses[t.view] > 1 for t in meeting) or sum(isinstance(t, Atomic) for t in meeting) > 1
