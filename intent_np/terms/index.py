"""index: scalars, extents and the pointwise algebra that every other language shares.

A launch expression of the host is a program of this language: a value whose leaves are constants, extents, strides,
scalar parameters and physical parameters.  It varies along no axis and reads no device memory.
"""

from __future__ import annotations

from typing import Any

from .core import NO_AXES, Literal, Term, arena, children, term
from .dtypes import DType, bool_, index
from .language import Language
from .operators import OPERATORS, Op, result_dtype


class Value(Term):
    """Sort: a pure value; a function of the coordinates in its `lanes`."""

    __slots__ = ()
    type: DType | tuple[DType, ...]


class AxisLike(Term):
    """Sort: something a coordinate runs over, and along which a value may vary."""

    __slots__ = ()

    def coordinate_axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        """Lanes and needs of a coordinate along this axis."""
        return frozenset((self,)), self.needs


@term
class Const(Value):
    """A literal of a dtype; its bits are its identity."""

    value: Literal
    dtype: DType

    def infer(self) -> DType:
        kind = bool if self.dtype is bool_ else float if self.dtype.is_float else int
        if type(self.value) is not kind:
            raise TypeError(f"a {self.dtype} constant holds a Python {kind.__name__}, not {self.value!r}")
        if not representable(self.value, self.dtype):  # type: ignore[arg-type]
            raise TypeError(f"{self.value!r} is no element of {self.dtype}; `const` rounds")
        return self.dtype


def representable(v: bool | int | float, d: DType) -> bool:
    """Whether a number of the kind of `d` is one of its elements as it stands."""
    if d.is_float and d.bits < 64:
        from ..numerics.literals import FORMATS, round_to

        return v != v or round_to(v, FORMATS[d.name]) == v
    return not d.is_integer or d.range[0] <= v <= d.range[1]


@term
class Extent(Value):
    """A symbolic extent, bound at the launch, never negative.  `bound` (an upper bound) and `multiple` (a divisor)
    are facts of the launch class, checked at every call."""

    name: str
    bound: int | None = None
    multiple: int = 1
    syntax = "extent{ at most |bound|}{ multiple of |multiple|}"
    binds = True

    def infer(self) -> DType:
        if self.multiple < 1 or self.bound is not None and self.bound < 0:
            raise TypeError(f"extent {self.name}: at most {self.bound}, a multiple of {self.multiple}")
        return index


@term
class Stride(Value):
    """Elements between neighbours along one dimension of a view; may be zero or negative."""

    view: str
    dim: int
    multiple: int = 1
    syntax = "stride {view} {dim}{ multiple of |multiple|}"
    binds = True

    def infer(self) -> DType:
        if self.multiple < 1 or self.dim < 0:
            raise TypeError(f"stride {self.dim} of {self.view}: a multiple of {self.multiple}")
        return index

    @property
    def name(self) -> str:
        return f"{self.view}_s{self.dim}"


@term
class Param(Value):
    """A runtime scalar passed by value."""

    name: str
    dtype: DType
    syntax = "param {dtype}"
    binds = True

    def infer(self) -> DType:
        return self.dtype


@term
class Physical(Value, AxisLike):
    """A physical parameter: the extent of a fragment axis, a power of two; in the gpu language also the axis' name."""

    name: str
    value: int
    syntax = "physical {value}"
    binds = True

    def infer(self) -> DType:
        if self.value < 1 or self.value & (self.value - 1):
            raise TypeError(f"physical parameter {self.name} = {self.value} is no power of two")
        return index


@term
class Apply(Value):
    """A pointwise operator on operands of one dtype; lanes are the union, so a broadcast is the absence of a lane.

    A conjunction or disjunction is flat and holds each operand once, in the order of their digests, and no constant:
    `apply` makes it so.
    """

    op: Op
    args: tuple[Value, ...]

    def infer(self) -> DType:
        result = result_dtype(self.op, tuple(a.type for a in self.args))  # type: ignore[misc]
        if self.op.arity < 0 and (
            self.args != _operands(self.op, self.args) or any(type(a) is Const for a in self.args)
        ):
            raise TypeError(f"the operands of {self.op} are not in canonical form")
        return result


@term
class Cast(Value):
    """Conversion to another dtype: `wrap` (the language's cast), `saturate` or `bits`."""

    value: Value
    dtype: DType
    mode: str = "wrap"
    syntax = "cast({value}, {dtype}{, |mode|})"

    def infer(self) -> DType:
        if not isinstance(self.value.type, DType):
            raise TypeError("cast of a tuple")
        if self.mode not in ("wrap", "saturate", "bits"):
            raise TypeError(f"unknown cast mode {self.mode}")
        return self.dtype


INDEX = Language(
    "index", about=__doc__ or "", root=Value, terms=(Const, Extent, Stride, Param, Physical, Apply, Cast)
)  # fmt: skip


# ---- constructors that read like mathematics ---------------------------------------------------------------------


def const(value: bool | int | float, d: DType = index) -> Const:
    """A constant rounded to `d`; `OverflowError` when an integer does not fit."""
    if d is bool_:
        return Const(bool(value), d)
    if d.is_float:
        from ..numerics import literal

        return Const(float(literal(float(value), d)), d)
    lo, hi = d.range
    if not lo <= int(value) <= hi:
        raise OverflowError(f"{value} does not fit {d}")
    return Const(int(value), d)


def apply(op: str | Op, *args: Value) -> Value:
    """`Apply` by operator name; conjunctions and disjunctions are flattened, sorted and freed of repetitions."""
    op = OPERATORS[op] if isinstance(op, str) else op
    if op.arity < 0:
        return _connective(op, args)
    return Apply(op, args)


def _connective(op: Op, args: tuple[Value, ...]) -> Value:
    operands, unit = _operands(op, args), op.name == "and"
    for p in operands:
        if p.type is not bool_:
            raise TypeError(f"{op.name} does not take {p.type}")
    if any(isinstance(p, Const) and p.value is not unit for p in args):
        return Const(not unit, bool_)
    ordered = tuple(p for p in operands if not isinstance(p, Const))
    return Apply(op, ordered) if len(ordered) > 1 else ordered[0] if ordered else Const(unit, bool_)


def _operands(op: Op, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The operands of nested connectives, each once, in the order of their digests."""
    flat = dict.fromkeys(p for a in args for p in (a.args if isinstance(a, Apply) and a.op is op else (a,)))
    return tuple(sorted(flat, key=lambda p: p.digest))


def _rebuild_connective(rebuild: Any) -> Any:
    """Rewritten operands may come in another order, coincide, or be decided."""

    def keeping_order(t: Any, done: Any) -> Any:
        if t.op.arity >= 0 or all(done[a] is a for a in t.args):
            return rebuild(t, done)
        return apply(t.op, *[done[a] for a in t.args])

    return keeping_order


Apply.rebuild = _rebuild_connective(Apply.rebuild)  # type: ignore[attr-defined]


def true() -> Const:
    """The predicate that always holds."""
    return Const(True, bool_)


def conjuncts(p: Value | None) -> tuple[Value, ...]:
    """The parts of a conjunction; none of an absent predicate."""
    if p is None or is_const(p, True):
        return ()
    return p.args if isinstance(p, Apply) and p.op.name == "and" else (p,)


def conjunction(*parts: Value | None) -> Value | None:
    """The conjunction of predicates, None where nothing is left to hold."""
    live = [p for q in parts for p in conjuncts(q)]
    return apply("and", *live) if live else None


def is_const(t: Term, value: Any = None) -> bool:
    """Whether `t` is a constant (equal to `value`, zero of either sign, when one is given)."""
    return isinstance(t, Const) and (value is None or t.value == value)


def is_op(t: Term, *names: str) -> bool:
    """Whether `t` applies one of these operators."""
    return isinstance(t, Apply) and t.op.name in names


def select(c: Value, x: Value, y: Value) -> Value:
    """`x` where `c` holds, else `y`."""
    return Apply(OPERATORS["select"], (c, x, y))


def add(a: Value, b: Value) -> Value:
    """a + b."""
    return Apply(OPERATORS["add"], (a, b))


def sub(a: Value, b: Value) -> Value:
    """a - b."""
    return Apply(OPERATORS["sub"], (a, b))


def mul(a: Value, b: Value) -> Value:
    """a * b."""
    return Apply(OPERATORS["mul"], (a, b))


def lt(a: Value, b: Value) -> Value:
    """a < b."""
    return Apply(OPERATORS["lt"], (a, b))


def le(a: Value, b: Value) -> Value:
    """a <= b."""
    return Apply(OPERATORS["le"], (a, b))


__all__ = [
    "INDEX", "NO_AXES", "Apply", "AxisLike", "Cast", "Const", "Extent", "Param", "Physical", "Stride", "Value",
    "add", "apply", "arena",
    "children", "conjunction", "conjuncts", "const", "is_const", "is_op", "le", "lt", "mul", "select", "sub", "true",
]  # fmt: skip
