"""Bounds for any kernel: the reference's execution beside a running error analysis.

`expected` gives for each output of a call what a machine that keeps the language's rules may store, element by element,
as an oracle written by hand does: from the operations of the program, the magnitudes of the call and the lengths of its
sums.  Where a decision (a comparison, a rounding to an integer) hangs on a value that is not certain, and for combines
of floats that are no sums, products and choices (`bounds_combines.py`), nothing is known: an infinite bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

import numpy as np

from intent_np import numerics
from intent_np.backends.arrays.access import scatter
from intent_np.backends.reference.logical import BUDGET, Run
from intent_np.backends.reference.memory import Modifier
from intent_np.backends.reference.scope import Result, Scope, lift
from intent_np.backends.reference.tensors import Tensors
from intent_np.numerics.ulps import CORRECTLY_ROUNDED
from intent_np.terms.core import Term, children, find
from intent_np.terms.dtypes import DType, f32, f64
from intent_np.terms.index import Apply, Cast, Value
from intent_np.terms.logical import (
    After,
    Allocate,
    Call,
    Convert,
    Filled,
    Pointwise,
    QuantizedDot,
    RegionFold,
    RegionScan,
    Reshape,
    Returned,
    ScaledContract,
    SparseContract,
    TensorContract,
    TensorReduce,
    TensorScan,
    Transpose,
    Write,
    element,
    shape_of,
)
from intent_np.terms.normal import Proj, View, builtin_name
from intent_np.terms.operators import OPERATORS, Op

from . import approx
from .approx import Approx
from .bounds_combines import in_any_order
from .bounds_grouped import in_groups
from .bounds_updates import BoundedModifier
from .captured import captured
from .compare import Expected
from .formats import FORMATS, Array, element_type, widen

REORDERED = (TensorReduce, TensorScan, RegionFold, RegionScan, ScaledContract, SparseContract, QuantizedDot)
"""What the compiler may compute in another order, so that floats need not come out alike."""

MONOTONE = {
    "exp", "exp2", "log", "log1p", "log2", "sqrt", "rsqrt", "tanh", "erf", "erfc", "asin", "sigmoid", "floor", "ceil",
    "round", "sign",
}  # fmt: skip
WHOLE = ("floor", "ceil", "round", "sign")
"""Operators whose results every format has: of what is exact they are."""


def expected(
    kernel: Any, arguments: Mapping[str, Any], constexprs: Mapping[str, Any] | None = None
) -> dict[str, Expected]:
    """What each output of a call may hold.  The arguments are only read.

    arguments:   NumPy arrays of the views and numbers of the scalars, by name
    constexprs:  values of the kernel's constexprs; defaults fill in
    """
    views = {p.name: p for p in kernel.parameters if p.kind == "view"}
    arrays = {n: a.copy() if views[n].mode != "in" else a for n, a in arguments.items() if n in views}
    scalars = {n: a for n, a in arguments.items() if n not in views}
    space, program = captured(kernel, constexprs)
    with space, np.errstate(all="ignore"):
        run = _BoundedRun(program, arrays, scalars, BUDGET)
        run.perform(run.program.body, Scope(), (), frozenset())
    return {n: run.outcome(n, str(p.dtype)) for n, p in views.items() if p.mode != "in"}


class _Bounded(Tensors):
    """Evaluates values, and beside those that are not exact what they may be, by the identity of their arrays."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.held: dict[int, tuple[Array, Approx]] = {}
        self.lost = False  # control hung on something uncertain

    def of(self, array: Array, d: DType) -> Approx:
        """What an array may be; integers and bools as f64, whose error is 0 or infinite."""
        found = self.held.get(id(array))
        if found is not None:
            return found[1]
        return approx.exact(np.asarray(widen(array), np.float64), d.name if d.is_float else "f64")

    def hold(self, array: Result, made: Approx | None) -> None:
        if isinstance(array, tuple):
            for x in array:
                self.hold(x, made)
        elif made is not None:
            self.held[id(array)] = (array, made)

    def doubtful(self, array: Result) -> bool:
        if isinstance(array, tuple):
            return any(map(self.doubtful, array))
        found = self.held.get(id(array))
        return found is not None and bool(np.any(found[1].error))

    def lifted(self, value: Result, depth: int, to: int) -> Result:
        result = super().lifted(value, depth, to)
        pairs = zip(value, result, strict=True) if isinstance(value, tuple) else [(value, result)]
        for x, y in pairs:
            if y is not x and (found := self.held.get(id(x))) is not None:
                self.hold(y, _each(found[1], lambda a: lift(a, depth, to)))
        return result

    def decided(self, condition: Value, scope: Scope) -> Array:
        chosen = super().decided(condition, scope)
        self.lost |= self.doubtful(chosen)
        return chosen

    def merged(self, where: Array, new: Array, old: Array, s: Scope) -> Array:
        result = super().merged(where, new, old, s)
        if self.held.keys() & {id(new), id(old)}:
            d = numerics.dtype_of(result.dtype)
            sides = self.of(new, d), self.of(old, d)
            self.hold(result, approx.select(lift(where, s.depth, new.ndim), *sides))
        return result

    def aligned(self, v: Value, rank: int, s: Scope) -> Array:
        result = super().aligned(v, rank, s)
        if (found := self.held.get(id(own := self.value(v, s)))) is not None:
            self.hold(result, _each(_wide(found[1], own.shape), lambda a: a.reshape(result.shape)))
        return result

    def joined(self, chosen: Array, sides: list[Array], shape: tuple[int, ...], d: DType) -> Array:
        result = super().joined(chosen, sides, shape, d)
        known = [self.of(x, d) for x in sides]
        made = approx.select(chosen, *known) if len(known) == 2 else known[0]
        if any(np.any(x.error) for x in known):
            self.hold(result, _wide(made, result.shape))
        return result

    def _branches(self, v: Value, args: tuple[Value, ...], s: Scope) -> Array:
        result = super()._branches(v, args, s)
        condition = self.value(args[0], s)
        if self.doubtful(condition):  # in those lanes the other side may be taken, and was not evaluated
            error = np.broadcast_to(self.held[id(condition)][1].error, condition.shape)
            unsure = lift(error, s.depth, result.ndim) > 0
            made = self.of(result, _dtype(v))
            self.hold(result, Approx(made.value, np.where(unsure, np.inf, made.error), made.format))
        return result

    def _compute(self, v: Value, s: Scope) -> Result:
        result = super()._compute(v, s)
        if isinstance(v, TensorReduce | TensorScan) and (made := in_any_order(self, v, s, result)) is not None:
            for x, one in made:
                self.hold(x, one)
            return result
        known = isinstance(result, np.ndarray) and id(result) in self.held
        if not known and not isinstance(v, Proj | Call | Returned | After):
            self.hold(result, self._made(v, s, result))
        return result

    def _made(self, v: Value, s: Scope, result: Result) -> Approx | None:
        """What a value may be; None if it is exact."""
        match v:
            case Apply(op, args) | Pointwise(op, args) if not self._is_branch(op, args):
                return self._operator(op, args, s, result)
            case Cast(value, d, mode) | Convert(value, d, mode):
                x = self.value(value, s)
                return self._cast(self.of(x, _dtype(value)), _dtype(value), d, mode, self.doubtful(x))
            case Filled(value):
                return self._moved(value, s, lambda a: lift(a, s.depth, s.depth + len(shape_of(v))))
            case Transpose(value, permutation):
                order = (*range(s.depth), *(s.depth + p for p in permutation))
                return self._moved(value, s, lambda a: a.transpose(order))
            case Reshape(value):
                whole = self.value(value, s).shape
                return self._moved(value, s, lambda a: np.broadcast_to(a, whole).reshape(result.shape))
            case TensorReduce(values, dimension, combine, _, keepdims) if builtin_name(combine) in ("sum", "max"):
                x = _wide(self.of(self.value(values[0], s), _dtype(values[0])), self.value(values[0], s).shape)
                axis = s.depth + dimension
                if builtin_name(combine) == "max" and not self.doubtful(self.value(values[0], s)):
                    return None
                if not _dtype(values[0]).is_float:
                    return self._anything(v, s, result)
                return (approx.total if builtin_name(combine) == "sum" else approx.maximum)(x, axis, keepdims)
            case TensorContract(acc=acc) if acc.is_float:
                return self._contraction(v, s)
            case ScaledContract() | SparseContract() | QuantizedDot():
                found = in_groups(self, v, s)
                return self._anything(v, s, result) if found is None else found
        return self._anything(v, s, result)

    def _moved(self, value: Value, s: Scope, move: Callable[[Array], Array]) -> Approx | None:
        found = self.held.get(id(self.value(value, s)))
        return None if found is None else _each(found[1], move)

    def _anything(self, v: Value, s: Scope, result: Result) -> Approx | None:
        """Nothing is known of what comes from something uncertain, or from floats in an order that is not fixed."""
        known = [x for c in children(v) if isinstance(c, Value) and (x := self._found(c, s)) is not None]
        first = result[0] if isinstance(result, tuple) else result
        if not any(map(self.doubtful, known)) and not (isinstance(v, REORDERED) and first.dtype.kind not in "biu"):
            return None
        if isinstance(result, tuple):
            for x in result:
                self.hold(x, _unknown(x))
            return None
        return _unknown(result)

    def _found(self, v: Value, s: Scope | None) -> Result | None:
        while s is not None:
            if v in s.known:
                return s.known[v]
            s = s.parent
        return None

    # ---- pointwise

    def _operator(self, op: Op, args: tuple[Value, ...], s: Scope, result: Result) -> Approx | None:
        rank = max(len(shape_of(a)) for a in args)
        d = _dtype(args[-1])
        sides = []
        for a in args:
            own = self.value(a, s)
            shape = own.shape[: s.depth] + (1,) * (rank - len(shape_of(a))) + own.shape[s.depth :]
            here = self.of(own, _dtype(a))
            if shape != own.shape:
                here = _each(_wide(here, own.shape), partial(np.reshape, shape=shape))
            sides.append(here)
        exact = not any(np.any(x.error) for x in sides)
        if exact and (not d.is_float or op.result == "bool" or op.name in WHOLE):
            return None
        if op.name == "select":
            chosen = approx.select(sides[0].value != 0, sides[1], sides[2])
            if not np.any(sides[0].error):
                return chosen
            apart = np.abs(sides[1].value - sides[2].value) + np.maximum(sides[1].error, sides[2].error)
            either = np.where(np.isnan(apart), np.inf, apart)
            return Approx(chosen.value, np.where(sides[0].error > 0, either, chosen.error), chosen.format)
        if op.result == "bool" and d.is_float and op.arity == 2:
            near = np.abs(sides[0].value - sides[1].value) <= sides[0].error + sides[1].error
            unsure = near & ((sides[0].error > 0) | (sides[1].error > 0))
            return Approx(np.asarray(widen(result), np.float64), np.where(unsure, np.inf, 0.0), FORMATS["f64"])
        if not d.is_float or op.result == "bool":
            error = np.where(_unsure(sides), np.inf, 0.0)
            return Approx(np.asarray(widen(result), np.float64), error, FORMATS["f64"])
        return self._float(op, d, sides)

    def _float(self, op: Op, d: DType, sides: list[Approx]) -> Approx:
        """An operator of floats."""
        base = OPERATORS.get(op.name.removesuffix("_approx"), op)

        def f(*x: Array) -> Array:
            return np.asarray(numerics.apply(base, *x, dtype=f64))

        value = f(*(x.value for x in sides))
        match op.name, sides:
            case "add", (a, b):
                return a + b
            case "sub", (a, b):
                return a - b
            case "mul", (a, b):
                return a * b
            case "div", (a, b):
                return a / b
            case "neg", (a,):
                return -a
            case "abs", (a,):
                return Approx(np.abs(a.value), a.error, a.format)
            case (("maximum" | "minimum" | "maximum_num" | "minimum_num"), (a, b)):
                return Approx(value, np.maximum(a.error, b.error), a.format)
            case "fma", (a, b, c):
                return a * b + c
        ulp = numerics.ulp_bound(op, d if d in (f32, f64) else f32)
        x = sides[0]
        if len(sides) == 1 and base.name in MONOTONE:
            ends = f(x.value - x.error), f(x.value + x.error)
        elif base.name in ("sin", "cos"):
            ends = value - x.error, value + x.error
        elif base.name == "i0":
            ends = f(np.maximum(np.abs(x.value) - x.error, 0)), f(np.abs(x.value) + x.error)
        else:
            ends = value - np.inf, value + np.inf
        spread = np.maximum(np.abs(ends[0] - value), np.abs(ends[1] - value))
        unknown = np.isnan(spread) | np.isinf(x.error)  # of which nothing is known may be NaN, even within finite ends
        spread = np.where(_unsure(sides), np.where(unknown, np.inf, spread), 0.0)
        model = x if len(sides) == 1 else Approx(value, spread, x.format)
        slack = 0 if ulp == CORRECTLY_ROUNDED else int(ulp)
        found = approx.library(model, lambda _: value, lambda _: spread, slack)
        if op is not base:  # subnormal results may flush
            found = found.wider((np.abs(value) < 2.0**-125) * 2.0**-125)
        return found

    def _cast(self, x: Approx, source: DType, d: DType, mode: str, doubtful: bool) -> Approx | None:
        if mode == "wrap" and source.is_float and d.is_float:
            return x.to(d.name)
        if not doubtful:
            return None
        return Approx(x.value, np.where(x.error > 0, np.inf, 0.0), FORMATS[d.name if d.is_float else "f64"])

    def _contraction(self, v: TensorContract, s: Scope) -> Approx:
        """The same contraction of magnitudes: n products and n sums, of which a matrix unit truncates each."""
        (l, r), d = (self.value(v.left, s), self.value(v.right, s)), _dtype(v.left)
        a, b = (_wide(self.of(x, d), x.shape) for x in (l, r))
        n = int(np.prod([a.value.shape[s.depth + i] for i, _ in v.summed]))

        def product(x: Array, y: Array) -> Array:
            return np.asarray(self.contracted(v, x, y, s, f64))

        value = product(a.value, b.value)
        left, right = approx.finite(np.abs(a.value)), approx.finite(np.abs(b.value))
        size, carried = product(left, right), 0.0
        for x, y in ((left, b.error), (a.error, right), (a.error, b.error)):
            if np.any(x) and np.any(y):
                carried = carried + product(x, y)
        carried = np.where(np.isnan(carried), np.inf, carried) + np.zeros_like(size)
        whole = approx.is_integral(a) and approx.is_integral(b)
        return approx.accumulated(value, carried, size + carried, 2 * n, FORMATS[v.acc.name], whole)

    def _gathered(self, name: str, source: Array, *more: Any, at: Term) -> Array:
        result = super()._gathered(name, source, *more, at=at)
        if (found := self.held.get(id(source))) is not None:
            whole = _wide(found[1], source.shape)
            value, error = (super(_Bounded, self)._gathered(name, x, *more, at=at) for x in (whole.value, whole.error))
            self.hold(result, Approx(value, error, whole.format))
        return result


class _BoundedRun(Run):
    """An execution that keeps what its outputs may hold."""

    def __init__(self, program: Any, *given: Any) -> None:
        self.program = program
        super().__init__(program, *given)
        for v in find(program, View):
            if v.mode != "in":
                array = self.arguments.arrays[v.name]
                form = FORMATS[v.dtype.name if v.dtype.is_float else "f64"]
                error = np.full(array.shape, np.inf if v.mode == "out" else 0.0)
                self.bounded.hold(array, Approx(np.array(widen(array), np.float64), error, form))

    def evaluator(self) -> Tensors:
        self.bounded = _Bounded(self.arguments, self.loop)
        return self.bounded

    def _modifier(self, seed: int | None) -> Modifier:
        return BoundedModifier(self.bounded, seed)

    def _allocate(self, e: Allocate, scope: Scope) -> None:
        super()._allocate(e, scope)
        array, form = scope.known[e.buffer], FORMATS[e.buffer.dtype.name if e.buffer.dtype.is_float else "f64"]
        self.bounded.hold(array, Approx(np.array(widen(array), np.float64), np.full(array.shape, np.inf), form))

    def _store(
        self, e: Write, target: Array, where: list[Array], value: Array, valid: Array | None, scope: Scope
    ) -> None:
        """Both what is stored and how far it may be from it."""
        own = self.tensors.value(e.value, scope)
        made = _wide(self.bounded.of(own, e.view.dtype), own.shape)
        memory = self.bounded.held[id(target)][1]
        for into, x in ((memory.value, made.value), (memory.error, made.error)):
            scatter(into, where, x.reshape(value.shape), valid)
        super()._store(e, target, where, value, valid, scope)

    def outcome(self, name: str, dtype: str) -> Expected:
        """What an output may hold."""
        array = self.arguments.arrays[name]
        memory = self.bounded.held[id(array)][1]
        if dtype in FORMATS:
            found = Approx(memory.value, np.where(self.bounded.lost, np.inf, memory.error), FORMATS[dtype]).expected()
            return Expected(found.value, found.bound)
        return Expected(widen(array), np.where(self.bounded.lost, np.inf, memory.error))


def _unknown(array: Array) -> Approx:
    form = FORMATS.get(element_type(array), FORMATS["f64"])
    return Approx(np.asarray(widen(array), np.float64), np.full(array.shape, np.inf), form)


def _dtype(v: Value) -> DType:
    d = element(v.type)
    assert isinstance(d, DType)
    return d


def _each(x: Approx, f: Callable[[Array], Array]) -> Approx:
    """`f` of value and error, which have one shape after `_wide`."""
    wide = _wide(x, np.broadcast_shapes(np.shape(x.value), np.shape(x.error)))
    unrounded = None if x.unrounded is None else _each(x.unrounded, f)
    return Approx(f(wide.value), f(wide.error), x.format, unrounded)


def _wide(x: Approx, shape: tuple[int, ...]) -> Approx:
    value, error = (np.broadcast_to(a, shape) for a in (x.value, x.error))
    return Approx(value, error, x.format, x.unrounded)


def _unsure(sides: list[Approx]) -> Array:
    """Where any of several is not exact."""
    return reduce(np.logical_or, (x.error > 0 for x in sides))
