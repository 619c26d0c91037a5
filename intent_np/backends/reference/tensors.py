"""The value of every logical term on NumPy arrays: positional, batched over the points in hand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from ... import numerics
from ...errors import CheckError, error
from ...numerics import Array, storage
from ...terms.core import Term, arena, find
from ...terms.dtypes import DType
from ...terms.index import Apply, Cast, Const, Extent, Param, Physical, Stride, Value
from ...terms.logical import (
    After,
    Along,
    At,
    AtEach,
    Between,
    Buffer,
    Call,
    Convert,
    Domain,
    Filled,
    Formal,
    InBounds,
    Indices,
    LoopVar,
    Old,
    Ordered,
    Pointwise,
    Read,
    Reshape,
    Returned,
    State,
    Subscript,
    Succeeded,
    Take,
    Transpose,
    Unique,
    element,
    given,
    placed,
    shape_of,
)
from ...terms.normal import Arg, Memory, Proj
from ...terms.operators import OPERATORS, Op
from ..arrays.access import gather
from ..arrays.arguments import Arguments
from .regions import Regions
from .scope import Dependence, Result, Scope, lift


class Tensors(Regions):
    """Evaluates values in scopes; `loop` performs an ordered loop whose result is asked for before it was performed."""

    def __init__(self, arguments: Arguments, loop: Callable[[Ordered, Scope], None]) -> None:
        self.arguments, self.loop = arguments, loop
        self.dependence = Dependence()
        self.reading: dict[Value, bool] = {}
        self.extents: dict[Domain, Value] = {}

    def value(self, v: Value, scope: Scope) -> Result:
        """`v` with the batch dimensions of `scope`, computed in the outermost scope where it means the same."""
        names = self.dependence.of(v)
        home, s = None, scope
        while True:
            if v in s.known:
                return self.lifted(s.known[v], s.depth, scope.depth)
            if home is None and s.guard:
                home = s
            if s.parent is None or not s.bound.isdisjoint(names):
                break
            s = s.parent
        home = home or s
        home.known[v] = result = self._compute(v, home)
        return self.lifted(result, home.depth, scope.depth)

    def lifted(self, value: Result, depth: int, to: int) -> Result:
        """A value of an outer scope as one further in sees it."""
        return lift(value, depth, to)

    def decided(self, condition: Value, scope: Scope) -> Array:
        """A condition that control depends on."""
        return np.asarray(self.value(condition, scope))

    def merged(self, where: Array, new: Array, old: Array, s: Scope) -> Array:
        """`new` in the lanes `where`, and `old` in those that have it still."""
        return np.where(lift(where, s.depth, new.ndim), new, old)

    def size(self, extent: Value, scope: Scope) -> int:
        """An extent as a number: the same in every lane in hand."""
        return int(self.value(extent, scope).reshape(-1)[0])

    def sizes(self, v: Value, scope: Scope) -> tuple[int, ...]:
        return tuple(self.size(e, scope) for e in shape_of(v))

    def members(self, d: Domain, scope: Scope) -> Array:
        """The coordinates of a domain, along a dimension behind the batch."""
        if d not in self.extents:
            self.extents[d] = d.extent
        count = np.arange(self.size(self.extents[d], scope), dtype=np.int64)
        step = 1 if d.step is None else self.value(d.step, scope)[..., None]
        return np.asarray(self.value(d.lo, scope)[..., None] + count * step)

    def _compute(self, v: Value, s: Scope) -> Result:
        match v:
            case Const(value, d):
                return np.full((1,) * s.depth, value, storage(d))
            case Extent() | Stride() | Param() | Physical():
                return lift(self.arguments.leaf(v), 0, s.depth)
            case Apply(op, args) | Pointwise(op, args):
                return self._pointwise(v, op, args, s)
            case Cast(value, d, mode) | Convert(value, d, mode):
                return _CASTS[mode](self.value(value, s), d, _dtype(value))
            case Read(view):
                source, first = self.resource(view, s)
                return self._read(v, called(view), source, first, s)
            case Take(value):
                return self._read(v, arena().names.get(value, "the value"), self.value(value, s), s.depth, s)
            case Between():
                return self._between(v, s)
            case InBounds() | Unique():
                return self.value(v.value, s)
            case Old() | Succeeded():  # of a statement that no lane in hand performs
                return np.zeros((1,) * s.depth + self.sizes(v, s), storage(_dtype(v)))
            case Indices(domain):
                return self.members(domain, s)
            case Filled(value):
                whole = self.value(value, s)
                lanes = whole.reshape(whole.shape[: s.depth] + (1,) * len(shape_of(v)))
                return np.broadcast_to(lanes, whole.shape[: s.depth] + self.sizes(v, s))
            case Transpose(value, permutation):
                return self.value(value, s).transpose(*range(s.depth), *(s.depth + p for p in permutation))
            case Reshape(value):
                whole = self.value(value, s)
                return whole.reshape(whole.shape[: s.depth] + self.sizes(v, s))
            case Proj(value, position):
                return self.value(value, s)[position]
            case Call() | Returned():
                return self.value(given(v), s)
            case After(loop):
                self.loop(loop, s)
                return s.known[v]
            case LoopVar() | State() | Formal() | Arg():
                raise error("E702", language="logical", found=f"{v} is used outside of what binds it")
        return self.structured(v, s)

    # ---- pointwise

    def _pointwise(self, v: Value, op: Op, args: tuple[Value, ...], s: Scope) -> Array:
        if self._is_branch(op, args):
            return self._branches(v, args, s)
        rank = max(len(shape_of(a)) for a in args)
        arrays = [self.aligned(a, rank, s) for a in args]
        if op.arity < 0:
            return functools.reduce(lambda a, b: numerics.apply(op, a, b, dtype=_dtype(args[0])), arrays)
        return numerics.apply(op, *arrays, dtype=_dtype(args[-1]))

    def aligned(self, v: Value, rank: int, s: Scope) -> Array:
        """`v` with 1s between the batch and its own dimensions, so that NumPy aligns it from the right."""
        a = self.value(v, s)
        return a.reshape(a.shape[: s.depth] + (1,) * (rank - len(shape_of(v))) + a.shape[s.depth :])

    def _reads(self, v: Value) -> bool:
        if v not in self.reading:
            self.reading[v] = any(True for _ in find(v, (Read, Take, After)))  # type: ignore[arg-type]
        return self.reading[v]

    def _is_branch(self, op: Op, args: tuple[Value, ...]) -> bool:
        """Whether a select decides what is read, or which loops are performed."""
        return op.name == "select" and not shape_of(args[0]) and any(map(self._reads, args[1:]))

    def _branches(self, v: Value, args: tuple[Value, ...], s: Scope) -> Array:
        """A scalar select over values that read memory: each side touches only what its lanes need."""
        chosen = self.value(args[0], s)
        rank = len(shape_of(v))
        if chosen.all() or not chosen.any():
            sides = [self.aligned(args[1 if chosen.all() else 2], rank, s)]
        else:
            sides = [self.aligned(a, rank, s.guarded(c)) for a, c in ((args[1], chosen), (args[2], ~chosen))]
        shape = (1,) * s.depth + self.sizes(v, s)
        return self.joined(lift(chosen, s.depth, s.depth + rank), sides, shape, _dtype(v))

    def joined(self, chosen: Array, sides: list[Array], shape: tuple[int, ...], d: DType) -> Array:
        """What each lane takes of the sides of a branch, which are one where all lanes take the same."""
        taken = sides[0] if len(sides) == 1 else numerics.apply(OPERATORS["select"], chosen, *sides, dtype=d)
        return np.broadcast_to(taken, np.broadcast_shapes(taken.shape, shape))

    # ---- promises

    def _between(self, v: Between, s: Scope) -> Array:
        """An index that is promised to be between two others; one that is not is pulled there, once it was reported."""
        x, low, high = (self.value(t, s) for t in (v.value, v.low, v.high))
        wrong = (x < low) | (x > high)
        bad = wrong if s.active is None else wrong & s.active
        if bad.any():
            k = int(np.argmax(bad))
            at, least, most = (int(np.broadcast_to(a, bad.shape).reshape(-1)[k]) for a in (x, low, high))
            name = next((r.view.name for r in find(v.value, Read)), "the index")
            self.broken(v, s, k, bad.shape, name, f"{least} <= offset <= {most}", f"the offset {at}")
        return np.clip(x, low, np.maximum(low, high)) if wrong.any() else x

    def broken(
        self, v: Between, s: Scope, lane: int, shape: tuple[int, ...], name: str, expected: str, found: str
    ) -> None:
        """Report a promise that does not hold in a lane of this scope."""
        span = next(iter(arena().spans.get(v, ())), None)
        raise error("E510", span, name=name, promise="in order and inside", expected=expected, found=found)

    # ---- memory

    def resource(self, view: Memory, s: Scope) -> tuple[Array, int]:
        """The array of a view or buffer, and how many dimensions of it are of the batch."""
        if isinstance(view, Buffer):
            scope: Scope | None = s
            while scope is not None:
                if view in scope.known:
                    return scope.known[view], scope.depth
                scope = scope.parent
            raise error("E702", language="logical", found=f"{view.name} is used outside of where it is allocated")
        return self.arguments.arrays[view.name], 0  # type: ignore[attr-defined]

    def coordinates(self, subscripts: Sequence[Subscript], s: Scope) -> tuple[list[Array], int]:
        """An index array for each dimension of the resource, over the batch and the axes of the result; and how many
        axes those are."""
        place = placed(tuple(subscripts))
        rank, made = len(place.shape), []
        for p, axes in zip(subscripts, place.axes, strict=True):
            if isinstance(p, At):
                made.append(lift(self.value(p.value, s), s.depth, s.depth + rank))
            elif isinstance(p, Along | AtEach):
                own = self.members(p.domain, s) if isinstance(p, Along) else self.value(p.value, s)
                around = (1,) * axes[0], (1,) * (rank - axes[-1] - 1)
                made.append(own.reshape(own.shape[: s.depth] + around[0] + own.shape[s.depth :] + around[1]))
        return made, rank

    def inside(
        self, name: str, source: Array, where: list[Array], s: Scope, rank: int, first: int = 0,
        valid: Array | None = None, *, at: Term,
    ) -> list[Array]:  # fmt: skip
        """The index arrays, checked in the lanes that are in hand and valid; others are pulled inside.  `at`
        is the term that asks."""
        if any(0 in i.shape for i in where):
            return where
        live = lanes_of(s, rank, valid)
        made = []
        for d, (i, n) in enumerate(zip(where, source.shape, strict=True)):
            wrong = (i < 0) | (i >= n)
            if wrong.any():
                bad = wrong if live is None else wrong & live
                if bad.any():
                    self.outside(name, d - first, n, i, bad, s, at)
                i = np.where(wrong, 0, i)
            made.append(i)
        return made

    def outside(self, name: str, axis: int, extent: int, index: Array, bad: Array, s: Scope, at: Term) -> None:
        """What happens where lanes `bad` access `name` at an `index` outside of `axis`."""
        raise outside(name, axis, extent, int(np.broadcast_to(index, bad.shape)[bad][0]), at)

    def _read(self, v: Read | Take, name: str, source: Array, first: int, s: Scope) -> Array:
        """Elements of a resource whose first dimensions are those of the batch, of which each lane has its own; the
        fill where they are not valid."""
        where, rank = self.coordinates(v.subscripts, s)
        where = [*own_lanes(source.shape[:first], s.depth + rank), *where]
        if v.valid is None or v.fill is None:
            return self._gathered(name, source, where, rank, s, first, at=v)
        valid, fill = self.aligned(v.valid, rank, s), self.aligned(v.fill, rank, s)
        found = self._gathered(name, source, where, rank, s, first, valid, at=v)
        return numerics.apply(OPERATORS["select"], valid, found, fill, dtype=_dtype(v))

    def early(self, r: Read, s: Scope) -> Array:
        """A read before its turn: where a lane would read outside, it stands under a condition, and holds anything."""
        try:
            return self.value(r, s)  # type: ignore[no-any-return]
        except CheckError:
            source, first = self.resource(r.view, s)
            where, rank = self.coordinates(r.subscripts, s)
            sound = np.ones((1,) * s.depth, bool)
            for i, n in zip(where, source.shape[first:], strict=True):
                sound = sound & ((i >= 0) & (i < n)).all(tuple(range(s.depth, s.depth + rank)))
            return self._read(r, called(r.view), source, first, s.guarded(sound))

    def _gathered(
        self, name: str, source: Array, where: list[Array], rank: int, s: Scope, first: int,
        valid: Array | None = None, *, at: Term,
    ) -> Array:  # fmt: skip
        """The elements at `where`; lanes that are not in hand or not `valid` touch nothing, and give anything."""
        where = self.inside(name, source, where, s, rank, first, valid, at=at)
        new = [(1,) * s.depth + (1,) * rank]
        shape = np.broadcast_shapes(*new, *(i.shape for i in where))
        if 0 in shape or 0 in source.shape:  # no lanes, or only those that are not in hand
            return np.zeros(shape, source.dtype)
        if not where:
            return np.array(source).reshape(shape)
        return gather(source, where)


_CASTS: dict[str, Callable[[Array, DType, DType], Array]] = {
    "wrap": numerics.cast,
    "saturate": numerics.saturate_cast,
    "bits": lambda x, d, source: numerics.bitcast(x, d, source),
}


def _dtype(v: Value) -> DType:
    d = element(v.type)
    assert isinstance(d, DType)
    return d


def own_lanes(sizes: Sequence[int], rank: int) -> list[Array]:
    """Index arrays of `rank` dimensions for the first dimensions of a resource: each lane of the batch at its own."""
    return [np.arange(n).reshape((1,) * d + (n,) + (1,) * (rank - d - 1)) for d, n in enumerate(sizes)]


def lanes_of(s: Scope, rank: int, valid: Array | None) -> Array | None:
    """The lanes of an access of this rank that are in hand and valid; None for all."""
    active = None if s.active is None else lift(s.active, s.depth, s.depth + rank)
    return valid if active is None else active if valid is None else active & valid


def called(v: Term) -> str:
    """What the author calls a view or a buffer."""
    return str(arena().names.get(v) or v.name)  # type: ignore[attr-defined]


def outside(name: str, axis: int, extent: int, where: int, at: Term) -> CheckError:
    """E502 for a coordinate outside `name`, at the author's line of the access `at`."""
    expected, found = f"0 <= index < {extent} on axis {axis}", f"index {where} on axis {axis}"
    made = error("E502", next(iter(arena().spans.get(at, ())), None), name=name, expected=expected, found=found)
    assert isinstance(made, CheckError)
    return made
