"""logical -> normal: tensors become functions of coordinates.

    y[row, columns] = w / reduce.sum(w, 0)
    store y[row, columns] = w(columns) / (reduce sum over columns of w(columns))

Positions, broadcasts, transposes, reshapes and slices all become index terms at once, by asking each value for its
element at given positions.  A dimension remembers the domain that it runs over, so that the columns of a load, of a
reduction over it and of a store are one axis.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from ..errors import error
from ..rules import elements
from ..rules.elements import Asked
from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import arena, find, inherit, named
from ..terms.index import Apply, Cast, Const, Value, apply, conjunction, const, is_const
from ..terms.normal import NORMAL, Axis, Begin, Coord, Effect, Load, Part, Program, Proj, Reduce, Store, View
from .base import nanopass
from .captures import carried
from .lower_buffers import Buffers
from .lower_compressed import CompressedLowering
from .lower_dimensions import DimensionLowering
from .lower_loops import LoopLowering, guarded
from .lower_records import RecordLowering
from .lower_regions import Positions, refused
from .lower_sums import SumLowering
from .lower_sweeps import SweepLowering, asked_first
from .otherwise import Otherwise, Ways


@nanopass(L.LOGICAL, NORMAL)
def lower_to_coordinates(program: L.LogicalProgram) -> Program:
    """Write every stored value as a function of the coordinates of its store.

    Here, after calls are inlined: from now on there are no shapes and no positional axes.
    Preserves each stored element and the order of effects.
    """
    ways, again = Ways(), True
    while again:  # what is wanted only grows, and less is left that could be done in another way
        lowering = _Lowering(program, ways)
        try:
            effects = lowering.effects(program.body, ())
            again = lowering.again or lowering.combined(effects)
        except Otherwise as found:
            ways.forget()
            program = found.applied(program, ways)
    parameters = (*program.parameters, *lowering.buffers.views)
    return Program(program.name, parameters, tuple(effects), program.permissions, program.target)


class _Lowering(
    LoopLowering, SweepLowering, DimensionLowering, SumLowering, CompressedLowering, RecordLowering
):  # fmt: skip
    def __init__(self, program: L.LogicalProgram, ways: Ways) -> None:
        self.ways = ways
        super().__init__()
        self.program = program
        self.memo: dict[Asked, Any] = {}
        self.numbers = elements.Numbers(self.scalar, node)
        self.count: dict[View, int] = {}  # stores into each view
        self.members: tuple[L.LoopVar, ...] = ()  # in hand, of the parallel loops around
        self.buffers = Buffers(program, self.scalar)
        # nested loops with one pair of bounds take the first `use` numbers, the dimensions of tensors those after them
        self.uses: dict[L.LoopVar, int] = {}
        self.first_use: dict[tuple[Value, Value], int] = {}
        self._number(program)

    # ---- axes

    def _number(self, program: L.LogicalProgram) -> None:
        """Number the axis of each member among those with its bounds.  Members of nested loops never share one: domains
        that differ may have the same bounds, since a stepped one is numbered from 0."""
        loops = list(find(program, L.Parallel))[::-1]  # outer ones first: an inner domain may hang on their members
        beside: dict[L.LoopVar, set[L.LoopVar]] = {v: set() for loop in loops for v in loop.points}
        for outer in loops:
            inside = {w for inner in find(outer, L.Parallel) for w in inner.points}
            for v in outer.points:
                beside[v] |= inside
                for w in inside:
                    beside[w].add(v)
        for v, others in beside.items():
            key = self.bounds(v.domain)
            taken = {self.uses[w] for w in others if w in self.uses and self.bounds(w.domain) == key}
            self.uses[v] = use = next(n for n in range(len(taken) + 1) if n not in taken)
            self.first_use[key] = max(self.first_use.get(key, 0), use + 1)

    def bounds(self, d: L.Domain) -> tuple[Value, Value]:
        """Bounds of the axis of a domain; a stepped domain is numbered from 0."""
        return (self.scalar(d.lo), self.scalar(d.hi)) if d.step is None else (const(0), self.scalar(d.extent))

    def axis(self, d: L.Domain, taken: Any) -> Any:
        """An axis over `d` that none of the coordinates `taken` varies along; the part that a slice stands for."""
        if part := self.parts.get(d.hi):
            if part in taken:
                raise refused(d, "two members of one slice at once")
            return part
        lo, hi = self.bounds(d)
        use = self.first_use.get((lo, hi), 0)
        taken = {*taken, *(p.axis for p in taken if isinstance(p, Part))}  # a slice is of members of its axis
        while (a := Axis(lo, hi, use)) in taken:
            use += 1
        extent = d.hi.name.lower() if isinstance(d.hi, L.Extent) else None  # `:` runs over an axis called as its extent
        if name := arena().names.get(d) or extent:
            named(a, name)
        return a

    # ---- values

    def scalar(self, v: Value) -> Any:
        return self.at(v)

    def guarded(self, v: Any, condition: Value) -> Any:
        return guarded(v, condition)

    def at(self, v: Any, where: Positions = ()) -> Any:
        """The element of `v` at these positions, one for each of its dimensions.

        Each `_element` yields the elements that it asks for; they wait on a stack here, since a program is deeper than
        Python's own.
        """
        answer = self.memo.get((v, where))
        if answer is not None:
            return answer
        waiting = [((v, where), self._element(v, where))]
        while waiting:
            asked, element = waiting[-1]
            try:
                further = element.send(answer)
            except StopIteration as finished:
                answer = self.memo[asked] = inherit(asked[0], node(finished.value))
                waiting.pop()
                continue
            answer = self.memo.get(further)
            if answer is None:
                waiting.append((further, self._element(*further)))
        return answer

    def fitted(self, v: Value, where: Positions) -> Asked:
        return elements.fitted(v, where)

    def _element(self, v: Any, where: Positions) -> Generator[Asked, Any, Any]:
        match v:
            case Const() | L.Extent() | L.Stride() | L.Param():
                return v
            case Apply() if v.op.name == "select":
                return (yield from self._selected(v, *((a, ()) for a in v.args)))
            case Apply():
                return apply(v.op, *(yield from elements.every((a, ()) for a in v.args)))
            case Cast():
                return Cast((yield v.value, ()), v.dtype, v.mode)
            case L.LoopVar() if v in self.turns:
                return (
                    self.numbers.coordinate(v.domain, Coord(self.turns[v])) if v.domain.step else Coord(self.turns[v])
                )
            case L.LoopVar():
                lo, hi = self.bounds(v.domain)
                a = inherit(v.domain, Axis(lo, hi, self.uses[v]))
                named(a, arena().names.get(v, arena().names.get(v.domain, "i")))
                return Coord(a) if v.domain.step is None else self.numbers.coordinate(v.domain, Coord(a))
            case L.Read():
                return (yield from self._read(v, where, self._place(v)))
            case L.State():
                return self.carried(v, where)
            case L.After():
                return self.left(v, where)
            case L.Old() | L.Succeeded():
                return self.found(v, where)
            case L.Take() if v.valid is not None:
                return (yield from self._filled(v, where))
            case L.Between():
                return (yield v.value, ())
            case L.InBounds() | L.Unique():
                return (yield v.value, where)
            case L.Pointwise() if v.op.name == "select" and not L.shape_of(v.args[0]):
                return (yield from self._selected(v, *(self.fitted(a, where) for a in v.args)))
            case L.TensorReduce():
                return (yield from self._reduce(v, where))
            case L.TensorScan():
                return (yield from self.scan(v, 0, where))
            case Proj(L.TensorScan() as scan, component):
                return (yield from self.scan(scan, component, where))
            case L.RegionFold() if v in self.swept:
                return (yield self.swept[v][0], where)
            case Proj(L.RegionScan() | L.RegionFold() as sweep, component) if sweep in self.swept:
                return (yield self.swept[sweep][component], where)
            case Proj(L.RegionScan() as sweep, _):
                raise error("E708", _span(sweep), construct="I.region_scan in the condition of a loop")
            case Proj(L.TensorSort() as sort, component):
                return (yield from self.in_order(sort, component, where))
            case L.TensorContract():
                return (yield from self.contract(v, where))
            case L.ScaledContract():
                return (yield from self.scaled(v, where))
            case L.SparseContract():
                return (yield from self.sparse(v, where))
            case L.Quantize():
                return (yield from self.quantized(v, where))
            case L.QuantizedDot():
                return (yield from self.record_product(v, where))
            case L.Histogram():
                return (yield from self.histogram(v, where))
            case L.Formal() if v in self.bound:
                return (yield self.bound[v], where)
            case L.Formal():
                return self.side(v, where)
            case L.RegionFold():
                return self.region(v, 0, where)
            case Proj(L.RegionFold() as fold, component):
                return self.region(fold, component, where)
            case Proj():
                return Proj((yield v.value, where), v.position)
        if (found := (yield from elements.element(v, where, self.numbers))) is not None:
            return found
        raise error("E708", _span(v), construct=getattr(v, "spelled", f"a value of kind {type(v).__name__}"))

    def _selected(self, v: Any, condition: Asked, x: Asked, y: Asked) -> Generator[Asked, Any, Any]:
        """One of two elements; the other is not asked for where it is never the one."""
        c = yield condition
        if is_const(c, True) or is_const(c, False):
            return (yield x if is_const(c, True) else y)
        then, otherwise = (yield x), (yield y)
        negated = node(apply("not", c))
        return apply(v.op, c, guarded(then, c, other=otherwise), guarded(otherwise, negated, other=then))

    def _place(self, v: L.Read) -> Effect | None:
        """The effect that a read comes after."""
        if isinstance(v.after, L.Start):
            return Begin(self.open[v.after.loop][1])
        return self.performed.get(v.after)

    def _read(self, v: L.Read, where: Positions, after: Any) -> Generator[Asked, Any, Any]:
        view, place = self.buffers.place(v.view)
        index = (*place, *(yield from elements.coordinates(v.subscripts, where, self.numbers)))
        if v.valid is None or v.fill is None:
            return Load(view, index, after=after)
        valid = yield self.fitted(v.valid, where)
        fill = yield self.fitted(v.fill, where)
        # a selection: what a load holds where it is not valid is for `choose_fills` to decide
        return apply("select", valid, node(Load(view, index, valid, after=after)), fill)

    def _filled(self, v: Any, where: Positions) -> Generator[Asked, Any, Any]:
        """An element of a value where it is valid, else the fill."""
        element = yield v.value, (yield from elements.coordinates(v.subscripts, where, self.numbers))
        valid = yield self.fitted(v.valid, where)
        return apply("select", valid, guarded(element, valid), (yield self.fitted(v.fill, where)))

    def _reduce(self, v: L.TensorReduce, where: Positions) -> Generator[Asked, Any, Any]:
        shape = L.broadcast(tuple(L.shape_of(x) for x in v.values))
        d = (self._merged(v.values, len(shape))[v.dimension]) or L.Domain(const(0), shape[v.dimension])
        outer = where[: v.dimension], where[v.dimension + v.keepdims :]
        a = self.axis(d, frozenset().union(*(p.lanes for p in (*outer[0], *outer[1]))))
        inside = (*outer[0], self.position(d, a), *outer[1])
        values = yield from elements.every(self.fitted(x, inside) for x in v.values)
        used = yield from elements.every((o, ()) for o in v.operands)
        made = Reduce(a, *carried(v.combine, values, v.identities, used))
        return Proj(made, 0) if v.operands and len(v.values) == 1 else made

    # ---- effects

    def effects(self, body: tuple[Any, ...], guards: tuple[Value, ...]) -> list[Any]:
        out: list[Any] = []
        if any(is_const(g, False) for g in guards) and not self.again:  # else that may change with what is wanted
            self.never.update(_loops(body))
            return out
        kept, swept = dict(self.kept), dict(self.swept)
        for s in body:
            out += self.sweep_regions(asked_first(s), guards)
            out += self.keep_sorts(s, guards)
            out += self.keep_scans(asked_first(s), guards)
            match s:
                case L.Write():
                    out.append(self._write(s, guards))
                case L.Accumulate() | L.Atomic():
                    out += self.update(s, guards)
                case L.Parallel():
                    out += self._in_parallel(s, guards)
                case L.Branch():
                    c = self.inside(self.scalar(s.condition), conjunction(*guards))
                    out += self.effects(s.then, (*guards, c))
                    out += self.effects(s.otherwise, (*guards, node(apply("not", c))))
                case L.Ordered():
                    out += self.ordered(s, guards)
                case L.Allocate():
                    self._allocate(s)
                case _:
                    raise error(
                        "E708", _span(s), construct=getattr(s, "spelled", f"a statement of kind {type(s).__name__}")
                    )
        if (kept, swept) != (self.kept, self.swept):  # what is stored under a condition is stored there alone
            self.kept, self.swept = kept, swept
            self.memo.clear()
        return out

    def _in_parallel(self, s: L.Parallel, guards: tuple[Value, ...]) -> list[Any]:
        """The effects of a loop, at its points."""
        outer, within, members = self.points, self.within, self.members
        self.points = (*outer, *(next(iter(self.at(p).lanes)) for p in s.points))
        self.members = (*members, *s.points)
        if not within and not self.open:  # the points of different iterations have an order
            self.loops += 1
            self.within = self.loops, len(s.points)
        out = self.effects(s.body, guards)
        self.points, self.within, self.members = outer, within, members
        return out

    def allocated(self, like: Value, name: str, shape: tuple[Value, ...]) -> L.Buffer:
        buffer = named(L.Buffer(f"{name} {len(self.buffers.held)}", L.element(like.type), shape), name)
        self._allocate(inherit(like, L.Allocate(buffer)))
        return buffer  # type: ignore[no-any-return]

    def stored(self, value: Value, name: str, guards: tuple[Value, ...]) -> tuple[View, Positions, Store]:
        shape = L.shape_of(value)
        buffer = self.allocated(value, name, shape)
        write = inherit(value, L.Write(buffer, tuple(L.Along(L.Domain(const(0), e)) for e in shape), value))
        store = self._write(write, guards)
        return *self.buffers.place(buffer), store

    def _allocate(self, s: L.Allocate) -> None:
        self.buffers.allocate(s, tuple(zip(self.points, (p.domain for p in self.members), strict=True)))

    def indices_at(self, subscripts: tuple[L.Subscript, ...], positions: Positions) -> Positions:
        return elements.finished(elements.coordinates(subscripts, positions, self.numbers), self.at)  # type: ignore[no-any-return]

    def lanes(self, subscripts: tuple[L.Subscript, ...]) -> tuple[Positions, tuple[Axis, ...]]:
        """The positions of an access along its dimensions, and their axes."""
        points = (self.scalar(p.value).lanes for p in subscripts if isinstance(p, L.At))
        taken: frozenset[Any] = frozenset(self.points).union(*points)
        positions, axes = [], []
        for e, known in zip(L.placed(subscripts).shape, self._indexed(subscripts, None), strict=True):
            if is_const(e, 1):
                positions.append(const(0))
            else:
                d = known if known is not None and known.extent is e else L.Domain(const(0), e)
                if is_const(e) and is_const(d.lo):  # parts of one known extent are over one axis, wherever they begin
                    d = L.Domain(const(0), e)
                axes.append(self.axis(d, taken))
                taken |= {axes[-1]}
                positions.append(self.position(d, axes[-1]))
        return tuple(positions), tuple(axes)

    def _write(self, s: L.Write, guards: tuple[Value, ...]) -> Store:
        view, place = self.buffers.place(s.view)
        positions, axes = self.lanes(s.subscripts)
        points = [self.scalar(p.value).lanes for p in s.subscripts if isinstance(p, L.At)]
        points += [p.lanes for p in place]
        with self.varying_along(frozenset(axes).union(*points)):
            value = self.at(*self.fitted(s.value, positions))
            valid = None if s.valid is None else self.at(*self.fitted(s.valid, positions))
        index = (*place, *self.indices_at(s.subscripts, positions))
        index, value, valid = self.scattered(axes, index, value, valid)
        under = conjunction(*guards)
        condition = conjunction(under, None if valid is None else self.inside(valid, under))
        value = self.inside(value, condition)
        index = tuple(self.inside(i, under) for i in index)
        store = Store(view, index, value, condition, self.count.setdefault(view, 0))
        self.count[view] += 1
        self.performed[s] = store
        return inherit(s, store)  # type: ignore[return-value]


def _loops(body: tuple[Any, ...]) -> Iterator[L.Ordered]:
    """The ordered loops that stand among these statements; values may name others, which stand before them."""
    for s in body:
        match s:
            case L.Branch():
                yield from _loops((*s.then, *s.otherwise))
            case L.Parallel():
                yield from _loops(s.body)
            case L.Ordered():
                yield s
                yield from _loops(s.body)


def _span(t: Any) -> Any:
    return next(iter(arena().spans.get(t, ())), None)
