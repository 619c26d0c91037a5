"""triton: what a Triton function says, positional and typed.

A fragment's axes have positions here; an expression's type is a `Block`: element type and extents.  Everything that
Triton promotes or broadcasts silently is checked when a term is built, and nothing is left for the printer to decide
but spelling.  The helpers that a function needs hang off the expressions that call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .core import Term, children, find, kinds_of, term, walk
from .dtypes import DType, bool_
from .index import Apply, Cast, Const, Extent, Param, Physical, Stride, Value
from .language import Language
from .normal import Target, View
from .triton_expressions import (
    UNIT,
    Address,
    Arange,
    Block,
    BroadcastTo,
    ConvertTo,
    Dot,
    Expand,
    Expr,
    FullBlock,
    Helper,
    HistogramCall,
    LoadAt,
    Name,
    Number,
    Parameter,
    Permute,
    Pointwise,
    ProgramId,
    ReduceCall,
    ScanCall,
    Size,
    Statement,
    broadcast,
    check_mask,
    is_literal,
)

# ---- statements --------------------------------------------------------------------------------------------------


@term
class StoreAt(Statement):
    """Write `value` where `mask`."""

    address: Expr
    value: Expr
    mask: Expr | None = None
    syntax = "put {value} at {address}{ where |mask|}"

    def infer(self) -> None:
        address, value = self.address.type, self.value.type
        check_mask(address, self.mask)
        if value.dtype is not address.dtype or broadcast(value.shape, address.shape) != address.shape:
            raise TypeError(f"{value} is stored at {address}")


@term
class AtomicAt(Statement):
    """Change elements of `dtype` in one step each, by the Triton function (or the module's own) of this name; `target`
    names what was there."""

    function: str
    address: Expr
    operands: tuple[Expr, ...]
    dtype: DType
    mask: Expr | None = None
    order: str = "relaxed"
    helper: Helper | None = None
    target: Name | None = None
    syntax = (
        "atomic {function} of ({operands}) {dtype} at {address}{ where |mask|} {order}{ by |helper|}{ into |target|}"
    )

    def infer(self) -> None:
        check_mask(self.address.type, self.mask)
        shape = self.address.type.shape
        own = self.operands if self.helper is None else self.operands[:1]  # the others are the helper's
        if any(o.type != Block(self.dtype, shape) for o in own) or any(o.type.shape != shape for o in self.operands):
            raise TypeError(f"{[o.type for o in self.operands]} for elements of {self.dtype} at {self.address}")
        if self.target is not None and self.target.type != Block(self.dtype, shape):
            raise TypeError(f"{self.target.name} is {self.target.type}, not what {self.function} finds")
        if self.mask is not None and self.mask.type.shape != shape:
            raise TypeError(f"a mask of {self.mask.type} for {self.address}")


@term
class Assign(Statement):
    """Bind a name, or bind a loop's carried name again."""

    target: Name
    value: Expr
    syntax = "let {target} = {value}"

    def infer(self) -> None:
        if self.target.type != self.value.type:
            raise TypeError(f"{self.target.name} is {self.target.type}, its value {self.value.type}")


@term
class Unpack(Statement):
    """Bind a name to each component of a tuple."""

    targets: tuple[Name, ...]
    value: Expr
    syntax = "unpack {targets} = {value}"

    def infer(self) -> None:
        if tuple(t.type for t in self.targets) != self.value.type:
            raise TypeError(f"{', '.join(t.name for t in self.targets)} do not fit {self.value.type}")


@term
class ForRange(Statement):
    """`for target in range(lo, hi, step)`; names of the scope around it that its body assigns are carried.

    `stages` iterations have their loads in flight; 0: as many as the launch options say."""

    target: Name
    lo: Expr
    hi: Expr
    step: Expr
    body: tuple[Statement, ...]
    note: str = ""
    stages: int = 0
    syntax = "for {target} from {lo} to {hi} step {step}{ stages |stages|}{ because |note|}:{body:block}"

    def infer(self) -> None:
        if any(b.type.shape or not b.type.dtype.is_integer for b in (self.lo, self.hi, self.step)):
            raise TypeError(f"the range of {self.target.name} is no range of scalars")


@term
class WhileHolds(Statement):
    """`while condition`; names of the scope around it that its body assigns are carried, the condition among them."""

    condition: Expr
    body: tuple[Statement, ...]
    note: str = ""
    syntax = "while {condition}{ because |note|}:{body:block}"

    def infer(self) -> None:
        if self.condition.type != Block(bool_):
            raise TypeError(f"a condition is a scalar bool, not {self.condition.type}")


@term
class IfThen(Statement):
    """Lines that run where a scalar condition holds."""

    condition: Expr
    body: tuple[Statement, ...]
    syntax = "when {condition}:{body:block}"

    def infer(self) -> None:
        if self.condition.type != Block(bool_):
            raise TypeError(f"a condition is a scalar bool, not {self.condition.type}")


@term
class Barrier(Statement):
    """Every thread of the instance waits for what all others have loaded and stored."""

    syntax = "barrier"


@term
class Return(Statement):
    """What a helper results in."""

    values: tuple[Expr, ...]
    syntax = "return {values}"


@term
class Function(Term):
    """A whole Triton function: runtime parameters in ABI order, constexprs, launch options, and the number of
    instances as an index expression of the host.  Until `choose_launch`, 0 warps are what it decides on; a thread has
    at most `registers`, where they are not 0."""

    name: str
    parameters: tuple[Parameter, ...]
    constexprs: tuple[Physical, ...]
    grid: Value
    body: tuple[Statement, ...]
    num_warps: int = 0
    num_stages: int = 3
    target: Target | None = None
    registers: int = 0
    syntax = (
        "function @{name}({parameters}) constexprs ({constexprs}) grid ({grid}){ warps |num_warps|}"
        "{ stages |num_stages|}{ registers |registers|}{ for |target|} {{{body:block}}}"
    )


def bodies(s: Term) -> tuple[Any, ...]:
    """The lines inside a loop or a branch."""
    return s.body if isinstance(s, (ForRange, WhileHolds, IfThen)) else ()


def expressions(s: Any) -> tuple[Any, ...]:
    """The expressions that a statement itself evaluates, without the lines inside it."""
    match s:
        case Assign(_, value) | Unpack(_, value):
            return (value,)
        case StoreAt(address, value, mask):
            return (address, value) if mask is None else (address, value, mask)
        case AtomicAt(_, address, operands, _, mask):
            return (address, *operands, *((mask,) if mask is not None else ()), *((s.helper,) if s.helper else ()))
        case ForRange(_, lo, hi, step):
            return (lo, hi, step)
        case Return(values):
            return tuple(values)
        case Barrier():
            return ()
        case _:
            return (s.condition,)


def assigned(s: Any) -> tuple[Name, ...]:
    """The names that a statement itself binds."""
    match s:
        case Assign(target, _) | ForRange(target):
            return (target,)
        case Unpack(targets, _):
            return targets
        case AtomicAt():
            return () if s.target is None else (s.target,)
        case _:
            return ()


def rebound(body: Iterable[Any]) -> set[Name]:
    """Every name that these lines or the lines inside them bind."""
    out: set[Name] = set()
    for s in body:
        out.update(assigned(s), rebound(bodies(s)))
    return out


def inner(*roots: Term) -> list[Term]:
    """Every subterm of these expressions once, children first, without the insides of helpers."""
    return walk(*(r for r in roots if not isinstance(r, Helper)), below=_outside_helpers, keep=True)


def _outside_helpers(e: Term) -> tuple[Term, ...]:
    parts = children(e)
    return tuple(c for c in parts if type(c) is not Helper) if e.kinds & _HELPER else parts


_HELPER = kinds_of(Helper)


def names(*roots: Term) -> set[Name]:
    """The names that these expressions read."""
    return {n for n in inner(*roots) if isinstance(n, Name)}


def names_defined(function: Function) -> Iterator[str]:
    """Every name is bound in a place that dominates its use, and one spelling means one thing."""
    spelled: dict[str, Term] = {h.name: h for h in find(function, Helper)}
    declared: tuple[Any, ...] = (*function.parameters, *function.constexprs)
    for t in declared:
        if spelled.setdefault(t.name, t) is not t:
            yield f"{t.name} names two things"

    def lines(body: Iterable[Any], known: set[Name]) -> Iterator[str]:
        for s in body:
            for n in names(*expressions(s)) - known:
                yield f"{n.name} is used before it is bound"
            known.update(assigned(s))
            for n in assigned(s):
                if spelled.setdefault(n.name, n) is not n:
                    yield f"{n.name} names two things"
            yield from lines(bodies(s), set(known))

    yield from lines(function.body, set())


def parameters_declared(function: Function) -> Iterator[str]:
    """Parameters and constexprs are in the signature."""
    for p in find(function, Parameter):
        if p not in function.parameters:
            yield f"{p.name} is no parameter of {function.name}"
    for x in find(function.body, Size):
        if x.extent not in function.constexprs:
            yield f"{x.extent.name} is no constexpr of {function.name}"


TRITON = Language(
    "triton",
    about=__doc__ or "",
    root=Function,
    terms=(
        Const, Extent, Stride, Param, Apply, Cast, Physical, View, Target, Name, Parameter, Number, Size, FullBlock,
        Arange, ProgramId, Expand, Permute, BroadcastTo, Pointwise, ConvertTo, Dot, Helper, ReduceCall, ScanCall,
        HistogramCall, Address, LoadAt, StoreAt, AtomicAt, Assign, Unpack, ForRange, WhileHolds, IfThen, Barrier,
        Return, Function,
    ),
    rules=(names_defined, parameters_declared),
)  # fmt: skip

__all__ = [
    "TRITON", "UNIT", "Address", "Arange", "Assign", "AtomicAt", "Barrier", "Block", "BroadcastTo", "ConvertTo",
    "Dot", "Expand", "Expr", "ForRange", "FullBlock", "Function", "Helper", "HistogramCall", "IfThen", "LoadAt",
    "Name", "Number", "Parameter", "Permute", "Pointwise", "ProgramId", "ReduceCall", "Return", "ScanCall", "Size",
    "Statement", "StoreAt", "Unpack", "WhileHolds", "assigned", "bodies", "expressions", "inner", "is_literal",
    "names", "rebound",
]  # fmt: skip
