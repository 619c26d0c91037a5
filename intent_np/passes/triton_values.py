"""gpu values as Triton expressions: positions for named axes, held integers for `index`, helpers for combines.

A value's axes stand in the kernel's one order; an operand with fewer axes gets unit extents in between.  Used by
`lower_to_triton`, which does the statements.
"""

from __future__ import annotations

import math
from typing import Any

from ..backends.triton.names import Names
from ..terms.core import arena, find, inherit
from ..terms.dtypes import DType, f8e5m2, f64, i8, i16, i32, i64, index
from ..terms.gpu import Broadcast, ContractInto, Full, Load, Physical, Proj, Range, Reduce, Scan, Store, Var
from ..terms.index import Apply, Cast, Const, Extent, Param, Stride, Value, is_const
from ..terms.normal import Arg, Combine, View, builtin_name
from ..terms.operators import OPERATORS, Op
from ..terms.triton import (
    Address,
    Arange,
    BroadcastTo,
    ConvertTo,
    Dot,
    Expand,
    Expr,
    FullBlock,
    Helper,
    LoadAt,
    Name,
    Number,
    Parameter,
    Permute,
    Pointwise,
    ReduceCall,
    Return,
    ScanCall,
    Size,
    broadcast,
    is_literal,
)
from .triton_counts import counts

DIVISIONS = ("floordiv", "mod", "ceil_div")
GROWING = ("add", "sub", "mul", "neg", "shl")
HELPERS = {"max": "_maximum", "min": "_minimum", "prod": "_product", "sum": "_sum"}


class Values:
    """Translates values; holds what the names in scope stand for.

    order:        the fragment axes in their order
    held:         the integer type that holds an `index`
    names:        what each gpu name stands for
    tuples:       the names of a tuple value's components
    nonnegative:  gpu names that are never below zero
    positive:     those that are above zero
    ranges:       gpu names of 0, 1, 2, … along an axis
    """

    def __init__(self, order: tuple[Physical, ...], held: DType, fresh: Names) -> None:
        self.order, self.held, self.fresh = order, held, fresh
        self.names: dict[Var, Expr] = {}
        self.tuples: dict[Value, tuple[Name, ...]] = {}
        self.nonnegative: set[Var] = set()
        self.positive: set[Var] = set()
        self.ranges: set[Var] = set()
        self.parameters: dict[Any, Parameter] = {}
        self.helpers: dict[Any, Helper] = {}
        self.arguments: dict[Arg, Expr] = {}

    def dims(self, lanes: Any) -> tuple[Physical, ...]:
        """These axes in order."""
        return tuple(p for p in self.order if p in lanes)

    def dtype(self, d: DType) -> DType:
        return self.held if d is index else d

    # ---- values

    def at(self, v: Value, dims: tuple[Physical, ...]) -> Expr:
        """`v` as an operand among others over `dims`: a scalar, or of that rank."""
        own = self.dims(v.lanes)
        if not own or own == dims:
            return self.lower(v)
        # addresses and predicates read best with the coordinates expanded: `m[:, None] < M`
        if isinstance(v, Apply) and not v.type.is_float and v.op.name != "select":  # type: ignore[union-attr]
            return self.pointwise(v, dims)
        return Expand(self.lower(v), tuple(i for i, p in enumerate(dims) if p not in own))

    def lower(self, v: Value) -> Expr:
        """`v` with exactly its own axes."""
        new = self._lower(v)
        if not isinstance(v, Var):
            inherit(v, new)
        return new

    def _lower(self, v: Value) -> Expr:
        match v:
            case Const(value, dtype):
                return self.number(value, dtype)
            case Physical():
                return Size(v)
            case Var():
                return self.names[v]
            case Arg():
                return self.arguments[v]
            case Extent() | Stride() | Param():
                return self.parameter(v, self.dtype(v.type))  # type: ignore[arg-type]
            case Range(size):
                return Arange(size)
            case Full(value, dtype, extents):
                return self.full(value, dtype, frozenset(extents))
            case Broadcast(value):
                return (
                    self.full(value.value, value.dtype, v.lanes)
                    if isinstance(value, Const)
                    else self.spread(value, v.lanes)
                )
            case Cast(value, dtype, mode):
                return self.cast(value, dtype, mode)
            case Load():
                return self.load(v)
            case Apply():
                return self.pointwise(v, self.dims(v.lanes))
            case Reduce():
                return self.reduce(v)
            case Scan():
                return self.scan(v)
            case Proj(value, position):
                return self.tuples[value][position]
            case ContractInto():
                return self.dot(v)
        raise TypeError(f"triton has no {type(v).__name__}")

    def spread(self, v: Value, lanes: Any) -> Expr:
        """`v` repeated along all of `lanes`."""
        dims = self.dims(lanes)
        return self.lower(v) if self.dims(v.lanes) == dims else BroadcastTo(self.at(v, dims), dims)

    def parameter(self, source: Any, dtype: DType) -> Parameter:
        """The function's parameter for a view, an extent, a stride or a scalar."""
        key = (type(source), source.name)
        if key not in self.parameters:
            self.parameters[key] = Parameter(self.fresh.fresh(source.name), source, dtype)
        return self.parameters[key]

    # ---- numbers

    def number(self, value: Any, dtype: DType) -> Expr:
        """A literal; an index that 32 bits do not hold is a 64-bit one, and -0.0, which Triton would lose, its bits."""
        if dtype is index:
            return Number(value, i32 if abs(value) < 2**31 else i64)
        if dtype.is_float and value == 0 and math.copysign(1, value) < 0:
            return self.full(value, dtype, ())
        return Number(value, dtype)

    def full(self, value: Any, dtype: DType, lanes: Any) -> Expr:
        """A tensor, or a scalar with a dtype of its own."""
        dims = self.dims(lanes)
        if dtype.is_float and value == 0 and math.copysign(1, value) < 0:
            whole = {8: i8, 16: i16, 32: i32, 64: i64}[dtype.bits]
            return ConvertTo(FullBlock(whole.range[0], whole, dims), dtype, "bits")
        return FullBlock(value, self.dtype(dtype), dims)

    def standalone(self, e: Expr) -> Expr:
        """`e` where no tensor beside it gives a literal its dtype: Triton takes i32, f32 and bool by default."""
        if isinstance(e, Number) and e.dtype.name not in ("i32", "f32", "bool"):
            return FullBlock(e.value, e.dtype)
        return e

    def tensor(self, e: Expr) -> Expr:
        """`e` as a tensor, never a Python number: what a loop carries must have a type from the start."""
        if isinstance(e, Size):
            return FullBlock(e.extent.value, i32)
        return FullBlock(e.value, e.dtype) if isinstance(e, Number) else e

    def hold(self, e: Expr, dtype: DType) -> Expr:
        """An integer expression in exactly this dtype."""
        if e.type.dtype is dtype:
            return e
        return Number(e.value, dtype) if isinstance(e, Number) else ConvertTo(self.tensor(e), dtype)

    # ---- arithmetic

    def pointwise(self, v: Apply, dims: tuple[Physical, ...]) -> Expr:
        parts = sorted(v.args, key=self._place) if v.op.arity < 0 else _unrepeated(v)
        args = [self.at(a, dims) for a in parts]
        if v.op.name == "not" and isinstance(args[0], Number):
            return Number(not args[0].value, args[0].type.dtype)
        if v.op.arity < 0:  # a state that is a literal by now decides nothing
            nothing = v.op.name == "and"
            args = [a for a in args if not (isinstance(a, Number) and a.value is nothing)] or args[:1]
            if len(args) == 1:
                return args[0]
        if v.op.name == "select" and all(is_literal(a) for a in args[1:]):
            args[1] = self.standalone(args[1])
        elif all(is_literal(a) for a in args):
            args[0] = self.standalone(args[0])
        if v.args[-1].type is not index:
            return Pointwise(v.op, tuple(args), False)
        return self.operate(v.op, args, v.op.name in DIVISIONS and self.is_natural(*v.args))

    def operate(self, op: Op | str, args: list[Expr], natural: bool = False) -> Expr:
        """An operator on indices, wide enough for the result where they are held in 64 bits."""
        op = OPERATORS[op] if isinstance(op, str) else op
        if op.name == "select":  # the condition is no index
            condition, *args = args
            return Pointwise(op, (condition, *self.alike(op, args)), natural)
        return Pointwise(op, tuple(self.alike(op, args)), natural)

    def alike(self, op: Op, args: list[Expr]) -> list[Expr]:
        """Index operands in one width: that of the widest, or 64 bits where the result may need them."""
        dtypes = {a.type.dtype for a in args}
        if dtypes == {i32, i64}:
            # a literal takes the dtype of what it meets; one that needs 64 bits widens what it meets
            wide = any(isinstance(a, Number) and a.type.dtype is i64 for a in args)
            args = [self.hold(a, i64) if wide or isinstance(a, Number) else a for a in args]
        elif dtypes == {i32} and self.held is i64 and op.name in GROWING:
            i = next((i for i, a in enumerate(args) if not is_constant(a)), None)
            if i is not None:
                args[i] = ConvertTo(args[i], i64)
        return args

    def _place(self, p: Value) -> tuple[int, ...]:
        """Predicates read in the order of their axes, scalar ones first."""
        return tuple(self.order.index(d) for d in self.dims(p.lanes))

    def is_natural(self, dividend: Value, divisor: Value) -> bool:
        """Whether a quotient of indices is one of natural numbers, by one that is not zero."""
        return divisor.type is index and self.is_positive(divisor) and self.is_nonnegative(dividend)

    def is_positive(self, v: Value) -> bool:
        """Whether an index is certainly above zero."""
        match v:
            case Const(value):
                return bool(value > 0)
            case Physical():
                return True
            case Var():
                return v in self.positive
            case Apply(op, args) if op.name == "maximum":
                return any(self.is_positive(a) for a in args)
            case Apply(op, args) if op.name in ("mul", "minimum"):
                return v.type is index and all(self.is_positive(a) for a in args)
        return False

    def is_nonnegative(self, v: Value) -> bool:
        """Whether an index is certainly not below zero."""
        match v:
            case Const(value):
                return bool(value >= 0)
            case Extent() | Physical() | Range():
                return True
            case Var():
                return v in self.nonnegative
            case Cast(value, _, "wrap"):
                return isinstance(value.type, DType) and value.type.kind == "uint"
            case Apply(op, args) if op.name == "select":
                return all(self.is_nonnegative(a) for a in args[1:])
            case Apply(op, args) if op.name == "maximum":
                return any(self.is_nonnegative(a) for a in args)
            case Apply(op, args) if op.name == "mod":
                return self.is_nonnegative(args[1])
            case Apply(op, args) if op.name in ("add", "mul", "minimum", "floordiv", "ceil_div"):
                return v.type is index and all(self.is_nonnegative(a) for a in args)
        return False

    def cast(self, value: Value, dtype: DType, mode: str) -> Expr:
        e, source = self.lower(value), value.type
        if isinstance(value, Const) and mode == "wrap" and dtype.is_float and not is_literal_bool(value):
            from ..terms.index import const

            return self.number(const(value.value, dtype).value, dtype)
        if index in (source, dtype) and mode == "wrap":
            held = e.type.dtype
            if dtype is index and held.bits < 32 and held.is_integer:
                return ConvertTo(e, i32)
            if held is i32 and dtype in (index, i32):
                return e
            if held is i64 and (dtype is i64 or (dtype is index and self.held is i64)):
                return e
        if mode == "bits" and source is index:  # all 64, however it is held
            e = self.hold(e, i64)
        if mode == "bits" and dtype is index:
            return self.hold(e if source is i64 else ConvertTo(self.tensor(e), i64, mode), self.held)
        return ConvertTo(self.tensor(e), self.dtype(dtype), mode)

    # ---- memory

    def address(self, t: Any, lanes: tuple[Physical, ...] | None = None) -> Expr:
        """The pointer, moved by index times stride in each dimension; spread over `lanes` where they are given."""
        view, dims = t.view, self.address_dims(t) if lanes is None else lanes
        base = self.parameter(view, self.dtype(view.dtype) if view.dtype is not index else i64)
        offsets = []
        for i, stride in zip(t.index, view.strides, strict=True):
            if not is_const(i, 0) and not is_const(stride, 0):
                x = self.at(i, dims)
                offsets.append(x if is_const(stride, 1) else self.operate("mul", [x, self.lower(stride)]))
        if lanes and broadcast((), *(o.type.shape for o in offsets)) != lanes:
            offsets.append(FullBlock(0, i32, lanes))
        return Address(base, tuple(offsets)) if offsets else base

    def address_dims(self, t: Load | Store) -> tuple[Physical, ...]:
        return self.dims(frozenset().union(*(i.lanes for i in t.index))) if t.index else ()

    def mask(self, t: Load | Store) -> Expr | None:
        return None if t.valid is None or is_const(t.valid, True) else self.at(t.valid, self.address_dims(t))

    def load(self, t: Load) -> Expr:
        mask, dtype = self.mask(t), t.view.dtype
        other = None
        if mask is not None:
            fill = float(t.fill) if dtype.is_float else bool(t.fill) if dtype.kind == "bool" else int(t.fill)
            other = Number(fill, i64 if dtype is index else dtype)
            # a float literal passes through f32, and the conversion to 8 bits makes an infinity finite
            single = not math.isfinite(fill) or is_single(fill)
            if (dtype is f64 and not single) or (dtype is f8e5m2 and math.isinf(fill)):
                other = FullBlock(fill, dtype)  # type: ignore[assignment]
        loaded = LoadAt(self.address(t), mask, other)
        return self.hold(loaded, self.held) if dtype is index else loaded

    # ---- structured

    def reduce(self, t: Reduce) -> Expr:
        """Along the axis' position; operands that lack an axis of the others are spread over it first."""
        if (counted := counts(self, t)) is not None:
            return counted
        dims = self.dims(frozenset().union(*(v.lanes for v in t.values)))
        values = tuple(self.spread(v, dims) for v in t.values)
        axis = dims.index(t.axis)
        name = builtin_name(t.combine)
        d = values[0].type.dtype
        own = {"sum": not d.is_float or d.bits >= 16, "max": d.is_integer, "min": d.is_integer}  # Triton's own
        if own.get(name or "", False):
            return ReduceCall(name or "", axis, values)
        return ReduceCall("reduce", axis, values, self.helper(t.combine, tuple(v.type.dtype for v in values)))

    def scan(self, t: Scan) -> Expr:
        """Along the axis' position; all operands have all axes."""
        dims = self.dims(t.lanes)
        values = tuple(self.spread(v, dims) for v in t.values)
        dtypes = tuple(v.type.dtype for v in values)
        plain = builtin_name(t.combine) == "sum" and dtypes[0].bits >= 32
        helper = None if plain else self.helper(t.combine, dtypes)
        return ScanCall(dims.index(t.axis), values, helper, t.reverse)

    def helper(self, combine: Combine, dtypes: tuple[DType, ...], captures: tuple[DType, ...] = ()) -> Helper:
        """The combine as a function of two partial results, and of what it uses besides."""
        key = (combine, dtypes, captures)
        if key not in self.helpers:
            name = builtin_name(combine)
            hint = HELPERS.get(name or "") or "_" + arena().names.get(combine, "combine").lstrip("_")
            n = len(dtypes)
            spelled = ("a", "b") if n == 1 else tuple(f"{s}{i}" for s in "ab" for i in range(n))
            spelled += ("c",) if len(captures) == 1 else tuple(f"c{i}" for i in range(len(captures)))
            kinds = (*dtypes, *dtypes, *captures)
            parameters = tuple(Name(s, d) for s, d in zip(spelled, kinds, strict=True))
            inner = Values((), self.held, Names(spelled))
            for arg in find(combine.bodies, Arg):
                inner.arguments[arg] = parameters[arg.position + n * "abc".index(arg.side)]
            bodies = [inner.lower(b) for b in combine.bodies]
            held = (inner.hold(e, d) if d.is_integer else e for e, d in zip(bodies, dtypes, strict=True))
            results = tuple(inner.tensor(e) for e in held)
            self.helpers[key] = Helper(self.fresh.fresh(hint), parameters, (Return(results),))
        return self.helpers[key]

    def dot(self, t: ContractInto) -> Expr:
        """Operand order and transpositions follow from the order of the axes."""
        (summed,) = t.summed
        row, column = self.dims(t.accumulator.lanes)
        left, right = (t.left, t.right) if row in t.left.lanes else (t.right, t.left)
        acc: Any = t.accumulator.type
        start = self.lower(t.accumulator)
        accumulator = None if isinstance(start, FullBlock) and start.value == 0 else start
        return Dot(self._matrix(left, row, summed), self._matrix(right, summed, column), acc, accumulator)

    def _matrix(self, v: Value, row: Physical, column: Physical) -> Expr:
        return self.lower(v) if self.dims(v.lanes) == (row, column) else Permute(self.lower(v), (1, 0))


def _unrepeated(v: Apply) -> tuple[Value, ...]:
    """The operands without repetitions along axes that other operands have: an operator broadcasts by itself."""
    args = tuple(a.value if isinstance(a, Broadcast) else a for a in v.args)
    return args if frozenset().union(*(a.lanes for a in args)) == v.lanes else v.args


def is_constant(e: Expr) -> bool:
    """Whether an expression consists of literals only."""
    return is_literal(e) or (isinstance(e, Pointwise) and all(map(is_constant, e.args)))


def is_literal_bool(c: Const) -> bool:
    return isinstance(c.value, bool)


def is_single(x: float) -> bool:
    """Whether f32 holds a number exactly."""
    from ..numerics.literals import FORMATS, round_to

    return round_to(x, FORMATS["f32"]) == x


__all__ = ["DIVISIONS", "Values", "View", "is_constant"]
