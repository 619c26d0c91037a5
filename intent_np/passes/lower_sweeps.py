"""A region scan as an ordered loop over slices of its axis, which carries the state and keeps what each slice emits.

    sweep x along 0 …                     for part over 0..ceil_div(N, 64) carrying state from initial yielding
                                            apply(summarize(x[slice]), state):
                                            write b[slice] = emit(x[slice], state)

By its laws any slices will do.  A region fold with a region scan inside is such a loop, too, whose state is the summary
so far: then the scan is one of an iteration.  The loop stands in front of the first statement that asks for any of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import children, find, inherit, named, replace, rewrite, walk
from ..terms.index import Value, add, apply, const, mul
from ..terms.normal import Effect
from .keep_carries import kept_in_memory
from .otherwise import Ways

SLICE = 64
"""Members of a slice."""


class SweepLowering:
    """The part of the lowering that knows region scans."""

    ordered: Callable[[L.Ordered, tuple[Value, ...]], list[Any]]
    program: L.LogicalProgram

    ways: Ways
    effects: Callable[[tuple[Any, ...], tuple[Value, ...]], list[Any]]

    def __init__(self) -> None:
        super().__init__()
        self.swept: dict[Any, tuple[Value, ...]] = {}  # the outputs and the states of those that were performed
        self.sweeps = 0

    @abstractmethod
    def allocated(self, like: Value, name: str, shape: tuple[Value, ...]) -> L.Buffer:
        """Memory of the kernel's own for a tensor of the dtype of `like`."""

    def sweep_regions(self, roots: tuple[Any, ...], guards: tuple[Value, ...]) -> list[Effect]:
        """The loops that perform the region scans that these values ask for, and the region folds with scans inside;
        inner ones first."""
        made: list[Effect] = []
        waiting: list[Any] = [t for t in asked(*roots) if self._in_order(t) and t not in self.swept]
        while waiting:
            ready = [
                t for t in waiting if not any(x in waiting for x in find(t.children(), (L.RegionScan, L.RegionFold)))
            ]  # type: ignore[arg-type]
            for t in ready:
                waiting.remove(t)
                if not in_function(*t.sources, *getattr(t, "initial", ()), *t.operands):
                    made += self._swept(t, guards)
        return made

    def _swept(self, t: Any, guards: tuple[Value, ...]) -> list[Effect]:
        """Perform a region scan, or a region fold, whose state is the summary of what lies behind."""
        taken = {x.name for x in find(self.program, L.Ordered)}
        while (name := f"sweep_{self.sweeps}") in taken:
            self.sweeps += 1
        self.sweeps += 1
        extent = L.shape_of(t.sources[0])[t.dimensions[0]]
        whole = L.Domain(const(0), extent)
        count = node(apply("ceil_div", extent, const(SLICE)))  # as whatever is simplified later finds it
        point = L.LoopVar(L.Domain(const(0), count), -self.sweeps)
        named(point, "part")
        low = mul(point, const(SLICE))
        part = L.Domain(low, apply("minimum", add(low, const(SLICE)), extent), None, whole)
        slices = [_cut(v, d, part) for v, d in zip(t.sources, t.dimensions, strict=True)]
        initial = t.identities if isinstance(t, L.RegionFold) else t.initial
        states = tuple(
            named(L.State(name, i, L.element(x.type), L.shape_of(x), not L.shape_of(x)), "state")
            for i, x in enumerate(initial)
        )
        summaries = _called(t.summarize, (*slices, *t.operands), part.extent)
        writes: list[Any] = []
        found = []
        if isinstance(t, L.RegionFold):
            nexts = _called(t.combine, (*states, *summaries))
        else:
            nexts = _called(t.apply, (*summaries, *states))
            for o in _called(t.emit, (*slices, *states, *t.operands), part.extent):
                shape = L.shape_of(o)
                full = tuple(extent if e is part.extent else e for e in shape)
                buffer = self.allocated(o, "emitted", full)
                at = tuple(L.Along(part if e is part.extent else L.Domain(const(0), e)) for e in shape)
                writes.append(inherit(t, L.Write(buffer, at, o)))
                found.append((buffer, full))
        loop: Any = inherit(t, L.Ordered(name, states, initial, nexts, tuple(writes), point))
        onward = self.ways.sweeps[name] = t.combine if isinstance(t, L.RegionFold) else t.apply
        front: tuple[Any, ...] = ()
        left: dict[int, Any] = {}
        if onward in self.ways.stored:
            front, loop, left, done = kept_in_memory(loop)
            writes = [done[w] for w in writes]
        made = [*self.effects(front, guards), *self.ordered(loop, guards)]
        read = (
            L.Read(buffer, tuple(L.Along(L.Domain(const(0), e)) for e in full), w)
            for (buffer, full), w in zip(found, writes, strict=True)
        )
        self.swept[t] = (*read, *(left.get(i) or L.After(loop, i) for i in range(len(states))))
        return made

    def _in_order(self, t: Any) -> bool:
        """Whether a value takes a loop over slices in order: a fold does where its combine does, or what it makes of
        each slice."""
        if not isinstance(t, L.RegionFold):
            return isinstance(t, L.RegionScan)
        inside = find(t.summarize.results, (L.RegionScan, L.RegionFold))  # type: ignore[arg-type]
        return t.combine in self.ways.in_order or any(
            isinstance(x, L.RegionScan) or x.combine in self.ways.in_order for x in inside
        )


def in_function(*values: Value) -> bool:
    """Whether values are of a function that is not called here: it has formals that stand for nothing."""
    seen: set[Any] = set()
    stack: list[Any] = list(values)
    while stack:
        t = stack.pop()
        if isinstance(t, L.Formal):
            return True
        if t not in seen and not isinstance(t, L.Function):
            seen.add(t)
            stack.extend(children(t))
    return False


def asked(*roots: Any) -> list[Any]:
    """The values that statements or values ask for, children first: not those of earlier statements that they name."""
    return walk(*roots, below=lambda t: tuple(c for c in children(t) if not isinstance(c, Effect)))


def asked_first(s: Any) -> tuple[Any, ...]:
    """What a statement asks for before anything inside of it."""
    match s:
        case L.Parallel():
            return tuple(s.points)
        case L.Branch():
            return (s.condition,)
        case L.Ordered():
            return (*s.inits, *((s.point,) if s.point is not None else ()))
    return (s,)


def _cut(v: Value, dimension: int, part: L.Domain) -> Value:
    """The slice of a value."""
    shape = L.shape_of(v)
    return L.Take(v, tuple(L.Along(part if i == dimension else L.Domain(const(0), e)) for i, e in enumerate(shape)))


def _called(f: L.Function, values: Sequence[Any], extent: Value | None = None) -> tuple[Any, ...]:
    """What a function gives for these values; one of slices is told their extent."""
    formals, fresh = list(f.formals), dict[Any, Any]()
    if extent is not None:
        fresh[formals.pop(0)] = extent
    for formal, value in zip(formals, values, strict=True):
        shape = tuple(fresh.get(e, e) for e in formal.extents)
        fresh[formal] = fresh[replace(formal, extents=shape)] = value
    return rewrite(f.results, lambda t: fresh.get(t, t))  # type: ignore[no-any-return]
