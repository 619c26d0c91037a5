"""lower_to_triton: gpu -> triton.  Names and axes become positions, views become pointers, the grid becomes one number.

    acc = contract lhs, rhs, acc                       acc = tl.dot(lhs, rhs, acc)
    store C[m, n] = acc valid (m < M && n < N)         tl.store(C + m[:, None] * C_s0 + n[None, :], acc, mask=…)

The order of the kernel's physical parameters (`order_fragments`) is the order of every fragment's axes; nothing else
about layout is decided.  An `index` is held in `index_bits`: 32 where the launch class proves that every intermediate
fits, extents and addresses included; else 64, where no product of two narrow integers is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from ..backends.triton.names import Names
from ..rules.simplify import node
from ..terms.core import contains, find, rewrite, walk
from ..terms.dtypes import DType, i32, i64, index
from ..terms.gpu import (
    GPU,
    Branch,
    Broadcast,
    Dispatch,
    Fetch,
    For,
    If,
    Kernel,
    Let,
    Proj,
    Reduce,
    Scan,
    Store,
    Sync,
    Update,
    Var,
    While,
)
from ..terms.index import Physical, Stride, Value, apply, conjunction, const, is_const, le, lt, mul
from ..terms.triton import (
    TRITON,
    Assign,
    Barrier,
    ConvertTo,
    Dot,
    Expr,
    ForRange,
    FullBlock,
    Function,
    IfThen,
    Name,
    Number,
    Parameter,
    ProgramId,
    Size,
    Statement,
    StoreAt,
    Unpack,
    WhileHolds,
    is_literal,
    names,
    rebound,
)
from .barriers import waiting
from .base import nanopass
from .growing import growing_along
from .triton_counts import is_range
from .triton_updates import update
from .triton_values import Values


@nanopass(GPU, TRITON, allowed={"index_bits": (32, 64), "instances": range(1 << 31)})
def lower_to_triton(
    kernel: Kernel,
    *,
    index_bits: int = 32,
    instances: int = 0,
    descending: bool = False,
    longest_first: bool = True,
) -> Function:
    """Give fragments positions, integers a width, and addresses pointers.

    With `instances` there are at most so many, and each takes every so many-th point of the program space; `descending`
    numbers the points from the last one.  With `longest_first`, coordinates along which loops grow are counted down and
    vary slower than the others, of which a few are taken at a time: the instances started last are short ones, and
    those in flight together read the same memory.
    Stands behind all that reasons about named axes, and before the passes that only tidy or print.
    Preserves the meaning of every statement, one for one; statements keep their order.
    """
    return _Lowering(kernel, i32 if index_bits == 32 else i64, longest_first).function(instances, descending)


TOGETHER = 8
"""Rows of instances taken at a time where loops grow along a row.  Causal attention of 64 heads, 4096 x 128, on one
H200: .663 ms with 8, .676 with 4, .665 with 16, .670 with 32, .684 with all, whose keys and values exceed the cache."""


class _Lowering:
    def __init__(self, kernel: Kernel, held: DType, longest_first: bool) -> None:
        # what is part of the signature takes its name first: a local of the same name would hide a pointer
        self.fresh = Names()
        self.name = self.fresh.fresh(kernel.name)
        sizes = {p: Physical(self.fresh.fresh(p.name), p.value) for p in kernel.physical}
        if any(renamed is not p for p, renamed in sizes.items()):
            (kernel,) = rewrite((kernel,), lambda t: sizes.get(t, t), Physical)
        self.kernel = kernel
        self.growing = growing_along(kernel) if longest_first else frozenset()
        self.values = Values(kernel.physical, held, self.fresh)
        self.spelled: dict[Any, str] = {}
        self.waiting = waiting(kernel.body)
        self.carried = {v for loop in find(kernel, (For, While)) for v in loop.carries}  # type: ignore[arg-type]
        # what is carried from block to block stays among the coordinates; the author's loops may count further
        ordered = (s for s in find(kernel, (For, While)) if isinstance(s, While) or is_const(s.step, 1))  # type: ignore[arg-type]
        self.far = {v for loop in ordered for v in loop.carries}
        self.has_tuples = any(isinstance(t.type, tuple) for t in find(kernel, (Reduce, Scan)))
        for p in kernel.parameters:
            self.values.parameter(p, self.values.dtype(p.type) if p.type is not index else self._width(p))
        for v in find(kernel, Stride):
            self.values.parameter(v, held)

    def _width(self, p: Any) -> DType:
        return i64 if hasattr(p, "mode") else self.values.held

    def function(self, instances: int, descending: bool) -> Function:
        kernel = self.kernel
        if kernel.grouping > 1 and self.growing:  # which orders coordinates for what they share: all are counted down
            self.growing, descending = frozenset(), True
        grid: Value = const(1)
        for g in kernel.grid:
            grid = g if is_const(grid, 1) else grid if is_const(g, 1) else mul(grid, g)
        number: Expr = ProgramId() if self.values.held is i32 else ConvertTo(ProgramId(), i64)
        lines: list[Statement] = []
        if (not instances and not descending) or is_const(grid, 1):
            lines += [*self.coordinates(number, kernel), *self.block(kernel.body)]
        else:
            lines += self.points(number, grid, instances, descending)
            grid = node(apply("minimum", grid, const(instances))) if instances else grid
        used = dict.fromkeys(find(lines, (Parameter, Physical)))
        return Function(
            self.name,
            tuple(p for p in self._abi_order() if p in used),
            tuple(p for p in used if isinstance(p, Physical)),
            grid,
            tuple(lines),
            num_warps=kernel.warps,
            target=kernel.target,
            registers=kernel.registers,
        )

    def _abi_order(self) -> list[Parameter]:
        """Parameters as declared, then strides by view and dimension."""
        views: Any = [p.name for p in self.kernel.parameters]  # type: ignore[attr-defined]
        every: list[Any] = list(self.values.parameters.values())
        strides = [p for p in every if isinstance(p.source, Stride)]
        strides.sort(key=lambda p: (views.index(p.source.view), p.source.dim))
        return [p for p in every if not isinstance(p.source, Stride)] + strides

    # ---- the grid

    def points(self, number: Expr, grid: Value, instances: int, descending: bool) -> list[Statement]:
        """The body at each of the points that an instance takes; those of one have nothing to do with each other."""
        op = self.values.operate
        lines: list[Statement] = []
        total: Any = self.values.lower(grid)
        if not (is_literal(total) or isinstance(total, Parameter)):
            total = self.local("points", total, lines)
        inner: list[Statement] = []
        point: Any = Name(self.fresh.fresh("point"), i64 if i64 in (number.type.dtype, total.type.dtype) else i32)
        taken = point if instances else number
        if descending:
            last = op("sub", [total, Number(1, i32)])
            taken = self.local("mirrored", op("sub", [last, taken]), inner)
        inner += [*self.coordinates(taken, self.kernel), *self.block(self.kernel.body)]
        if not instances:
            return [*lines, *inner]
        return [*lines, ForRange(point, number, total, Number(instances, i32), tuple(inner))]

    def coordinates(self, number: Expr, space: Kernel | Dispatch) -> list[Statement]:
        """An instance's number decoded: the last coordinate is the fastest, or the last two go in groups, or those
        along which loops grow are slower than the others, from their last value on."""
        lines: list[Statement] = []
        live = []
        for var, extent in zip(space.coordinates, space.grid, strict=True):
            self.values.nonnegative.add(var)
            if is_const(extent, 1):
                self.values.names[var] = Number(0, i32)
            else:
                live.append((var, extent))
        if len(live) == 1 and live[0][0] not in self.growing:
            return [self.bind(live[0][0], number)]
        if live:
            pid = number if isinstance(number, Name) else self.local("pid", number, lines)
            counts = [self.count(var, extent, lines) for var, extent in live]
            names = [var for var, _ in live]
            if space.grouping > 1:
                self._grouped(pid, names, counts, space.grouping, lines)
            elif self.growing.intersection(names) and not self.growing.issuperset(names):
                self._longest_first(pid, names, counts, lines)
            else:
                self._row_major(pid, names, counts, lines)
        return lines

    def _row_major(self, number: Expr, names: list[Var], counts: list[Expr], lines: list[Statement]) -> None:
        """Digits of `number`, the last one the fastest."""
        op = self.values.operate
        for i, var in enumerate(names):
            digit = number
            for count in reversed(counts[i + 1 :]):
                digit = op("floordiv", [digit, count], True)
            digit = op("mod", [digit, counts[i]], True) if i else digit
            if var in self.growing:
                digit = op("sub", [op("sub", [counts[i], Number(1, i32)]), digit])
            lines.append(self.bind(var, digit))

    def _grouped(self, pid: Expr, names: list[Var], counts: list[Expr], grouping: int, lines: list[Statement]) -> None:
        """Row-major but for the last two coordinates: the rows of the former go in groups, column by column within a
        group, so that instances that run together share what they load."""
        op = self.values.operate
        if len(names) > 2:
            plane = self.local("plane", op("mul", counts[-2:]), lines)
            self._row_major(op("floordiv", [pid, plane], True), names[:-2], counts[:-2], lines)
            pid = self.local("block", op("mod", [pid, plane], True), lines)
        row, column = self._in_groups(pid, counts[-2], counts[-1], Number(grouping, i32), lines)
        lines += [self.bind(names[-2], row), self.bind(names[-1], column)]

    def _longest_first(self, pid: Expr, names: list[Var], counts: list[Expr], lines: list[Statement]) -> None:
        """A few rows of instances at a time, column by column, where the loops of a row's instances grow with the
        column: those of a row read the same memory, which the cache keeps for so few of them."""
        op = self.values.operate
        rows, columns = ([i for i, v in enumerate(names) if (v in self.growing) is grow] for grow in (False, True))
        many, wide = (reduce(lambda a, b: op("mul", [a, b]), [counts[i] for i in those]) for those in (rows, columns))
        if len(rows) > 1:
            many = self.local("all_rows", many, lines)
        # of as many as there are, so that no product exceeds the grid
        height = self.local("height", op("minimum", [many, Number(TOGETHER, i32)]), lines)
        row, column = self._in_groups(pid, many, wide, height, lines)
        for those, number in ((rows, row), (columns, column)):
            if len(those) > 1:
                number = self.local("row" if those is rows else "column", number, lines)
            self._row_major(number, [names[i] for i in those], [counts[i] for i in those], lines)

    def _in_groups(
        self, pid: Expr, rows: Expr, columns: Expr, height: Expr, lines: list[Statement]
    ) -> tuple[Expr, Expr]:
        """The row and the column of an instance, where `height` rows are taken at a time, column by column."""
        op = self.values.operate
        width = self.local("width", op("mul", [height, columns]), lines)
        first = self.local("first", op("mul", [op("floordiv", [pid, width], True), height]), lines)
        rows_here = self.local("rows", op("minimum", [op("sub", [rows, first]), height]), lines)
        within = self.local("within", op("mod", [pid, width], True), lines)
        row = op("add", [first, op("mod", [within, rows_here], True)])
        return row, op("floordiv", [within, rows_here], True)

    def count(self, var: Var, extent: Value, lines: list[Statement]) -> Expr:
        """The number of blocks along a coordinate, named where it is computed."""
        e = self.values.lower(extent)
        return e if is_literal(e) or isinstance(e, Parameter) else self.local(f"num_{var.name}", e, lines)

    def local(self, hint: str, value: Expr, lines: list[Statement]) -> Name:
        """A new name for a scalar of the generated code's own."""
        name = Name(self.fresh.fresh(hint), value.type.dtype)
        lines.append(Assign(name, value))
        return name

    # ---- statements

    def block(self, body: Iterable[Any]) -> list[Statement]:
        lines: list[Statement] = []
        outside = dict(self.values.tuples)
        for s in body:
            if self.has_tuples:
                self.unpack(s, body, lines)
            match s:
                case Let(var, Branch() as value):
                    self.branch(var, value, lines)
                case Let(var, value):
                    lines.extend(self.let(var, value))
                case For():
                    lines.append(self.loop(s))
                case While():
                    condition = self.values.lower(s.condition)  # a name, which the body assigns
                    lines.append(WhileHolds(condition, tuple(self.block(s.body)), s.note))
                case If(condition, inner):
                    lines.append(IfThen(self.values.lower(condition), tuple(self.block(inner))))
                case Dispatch():
                    lines.append(self.group(s))
                case Update() | Fetch():
                    changed = s.update if isinstance(s, Fetch) else s
                    named = s.var if isinstance(s, Fetch) else None
                    if changed in self.waiting:
                        lines.append(Barrier())
                    lines += update(self.values, changed, named, self._named)
                case Sync():
                    lines.append(Barrier())
                case Store():
                    if s in self.waiting:
                        lines.append(Barrier())
                    stored = self.values.at(s.value, self.values.address_dims(s))
                    if s.view.dtype is index:  # 64 bits in memory, however it was held
                        stored = self.values.hold(stored, i64)
                    lines.append(StoreAt(self.values.address(s), self.values.standalone(stored), self.values.mask(s)))
        self.values.tuples = outside
        return lines

    def group(self, s: Dispatch) -> Statement:
        """The body of an execution group, under the condition that the instance is one of its own."""
        above = None if is_const(s.first, 0) else le(s.first, s.number)
        below = None if s.end is self.kernel.grid[0] else lt(s.number, s.end)
        inside: Any = conjunction(above, below)
        lines: list[Statement] = []
        number: Any = self.values.lower(s.number)
        if not is_const(s.first, 0):
            number = self.local("own", self.values.operate("sub", [number, self.values.lower(s.first)]), lines)
        lines += self.coordinates(number, s)
        return IfThen(self.values.lower(inside), (*lines, *self.block(s.body)))

    def let(self, var: Var, value: Value) -> list[Statement]:
        if is_range(self.values, value):
            self.values.ranges.add(var)
        if isinstance(var.dtype, tuple) or self._unpacked(var, value):
            return []  # bound where the tuple was unpacked
        e = self.values.lower(value)
        once = var not in self.carried
        self.mark(var, once and self.values.is_nonnegative(value), once and self.values.is_positive(value))
        if var in self.carried:
            e = self.values.tensor(e)
            if var.dtype is index:
                e = self.values.hold(e, i64 if var in self.far else self.values.held)
        elif isinstance(e, (Number, Size, Parameter, FullBlock)) or (isinstance(e, Name) and value not in self.carried):
            self.values.names[var] = e  # nothing to compute: the name stands for what it names
            return []
        return [self.bind(var, e)]

    def branch(self, var: Var, value: Branch, lines: list[Statement]) -> None:
        """A name that is bound to one side of a branch, and again where the other one is to be computed."""
        sides = (value.value, value.otherwise)
        repeated = (v if v.lanes == value.lanes else Broadcast(v, self.values.dims(value.lanes)) for v in sides)
        chosen, otherwise = (self.values.tensor(self.values.lower(v)) for v in repeated)
        if var.dtype is index:
            held = i64 if i64 in (chosen.type.dtype, otherwise.type.dtype) else i32
            chosen, otherwise = self.values.hold(chosen, held), self.values.hold(otherwise, held)
        always = self.bind(var, otherwise)
        name: Any = self.values.names[var]
        if not is_literal(otherwise):  # the name holds it now, and nothing else may read it from here on
            chosen = rewrite((chosen,), lambda t: name if t is otherwise else t)[0]
        branch = IfThen(self.values.lower(value.condition), (Assign(name, chosen),))
        match lines[-1] if lines else None:
            case IfThen(condition, body) if condition is branch.condition and not names(otherwise) & rebound(body):
                lines[-1:] = [always, IfThen(condition, (*body, *branch.body))]
            case _:
                lines += [always, branch]

    def _named(self, hint: str, dtype: DType, shape: Any) -> Name:
        return Name(self.fresh.fresh(hint), dtype, shape)

    def mark(self, var: Var, nonnegative: bool, positive: bool = False) -> None:
        """Note what is known of a name from here on; in another body it may have been known to be something else."""
        for known, holds in ((self.values.nonnegative, nonnegative), (self.values.positive, positive)):
            (known.add if holds else known.discard)(var)

    def bind(self, var: Var, value: Expr) -> Statement:
        """Assign to the name of a gpu variable, which is made at its first assignment."""
        # in another body it may have stood for something else
        self.values.names[var] = self.spell(var, value.type.dtype, value.type.shape)
        return Assign(self.values.names[var], value)  # type: ignore[arg-type]

    def spell(self, var: Var, dtype: DType, shape: Any = ()) -> Name:
        """One name in Python for one name in the kernel, as long as it has one type."""
        key = var.name, dtype, shape
        if key not in self.spelled:
            self.spelled[key] = self.fresh.fresh(var.name)
        return Name(self.spelled[key], dtype, shape)

    def loop(self, s: For) -> Statement:
        lo, hi, step = (self.values.lower(b) for b in (s.lo, s.hi, s.step))
        dtype = i64 if any(b.type.dtype is i64 for b in (lo, hi, step)) else i32
        target = self.spell(s.var, dtype)
        self.values.names[s.var] = target
        self.mark(s.var, self.values.is_nonnegative(s.lo))
        body = tuple(self.block(s.body))
        # the first iterations of a pipeline wait for memory as those of no pipeline do, and it takes registers
        unpipelined = s.few and any(contains(line, Dot) for line in body)
        return ForRange(target, lo, hi, step, body, s.note, int(unpipelined))

    # ---- tuples

    def unpack(self, s: Any, body: Iterable[Any], lines: list[Statement]) -> None:
        """Bind the components of the tuples that a statement uses, under the names that the body gives them."""
        match s:  # what its body uses is unpacked there
            case Let(_, value):
                roots = [value]
            case For(_, lo, hi, step):
                roots = [lo, hi, step]
            case While(condition) | If(condition):
                roots = [condition]
            case Dispatch():
                roots = []
            case _:
                roots = list(s.children())
        for t in walk(*roots):
            if not isinstance(t, (Reduce, Scan)) or not isinstance(t.type, tuple) or t in self.values.tuples:
                continue
            e = self.values.lower(t)
            hints: dict[int, Var] = {}
            for other in body:
                match other:
                    case Let(var, Proj(value, position)) if value is t and var not in self.carried:
                        hints.setdefault(position, var)
            names = []
            for i, component in enumerate(e.type):
                shape = component.shape
                part = Name(self.fresh.fresh(f"part_{i}"), component.dtype, shape) if i not in hints else None
                names.append(part or self.spell(hints[i], component.dtype, shape))
                if i in hints:
                    self.values.names[hints[i]] = names[-1]
            self.values.tuples[t] = tuple(names)
            lines.append(Unpack(tuple(names), e))
        if isinstance(s, Let) and isinstance(s.var.dtype, tuple):
            self.values.tuples[s.var] = self.values.tuples[s.value]

    def _unpacked(self, var: Var, value: Value) -> bool:
        """Whether a name is that of a component already."""
        return isinstance(value, Proj) and self.values.names.get(var) in self.values.tuples.get(value.value, ())
