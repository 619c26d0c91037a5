"""triton: what a Triton function says, positional and typed.

A fragment's axes have positions here; an expression's type is a `Block`: element type and extents.  Everything that
Triton promotes or broadcasts silently is checked when a term is built, and nothing is left for the printer to decide
but spelling.  The helpers that a function needs hang off the expressions that call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .core import Literal, Term, children, find, term
from .dtypes import DType, bool_, i32, i64
from .index import Apply, Cast, Const, Extent, Param, Physical, Stride, Value
from .language import Language
from .normal import View
from .operators import Op, result_dtype

UNIT = 1
"""The extent of a position that only broadcasts."""


class Block(NamedTuple):
    """The type of an expression: a scalar where `shape` is empty, else a tensor; `pointer` to `dtype` or a value of it."""

    dtype: DType
    shape: tuple[Any, ...] = ()
    pointer: bool = False


class Expr(Term):
    """Sort: an expression; its type is a `Block`, or a tuple of them."""

    __slots__ = ()
    type: Any


class Statement(Term):
    """Sort: a line of the function's body, or a loop or branch with its lines."""

    __slots__ = ()


def broadcast(*shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The common shape: ranks agree (a scalar has any), extents agree or one is `UNIT`."""
    ranked = [s for s in shapes if s]
    if not ranked:
        return ()
    if any(len(s) != len(ranked[0]) for s in ranked):
        raise TypeError(f"shapes of different ranks: {', '.join(map(spelled_shape, ranked))}")
    out = []
    for extents in zip(*ranked, strict=True):
        wide = [e for e in extents if e is not UNIT]
        if any(e is not wide[0] for e in wide):
            raise TypeError(f"shapes do not broadcast: {', '.join(map(spelled_shape, ranked))}")
        out.append(wide[0] if wide else UNIT)
    return tuple(out)


def spelled_shape(shape: tuple[Any, ...]) -> str:
    return f"[{', '.join('1' if e is UNIT else e.name for e in shape)}]"


def promoted(dtypes: tuple[DType, ...]) -> DType:
    """The common dtype of operands: equal, except that `i32` widens to `i64` as Triton does it."""
    if set(dtypes) == {i32, i64}:
        return i64
    if any(d is not dtypes[0] for d in dtypes):
        raise TypeError(f"operands of {', '.join(map(repr, dtypes))}")
    return dtypes[0]


# ---- names and numbers -------------------------------------------------------------------------------------------


@term
class Name(Expr):
    """A local name of the function or of a helper."""

    name: str
    dtype: DType
    shape: tuple[Physical, ...] = ()
    syntax = "local {dtype}[{shape}]"
    binds = True

    def infer(self) -> Block:
        return Block(self.dtype, self.shape)


@term
class Parameter(Expr):
    """A runtime parameter: a pointer to the memory of a view, or a number (extent, stride, scalar) held in `dtype`."""

    name: str
    source: Term
    dtype: DType
    syntax = "parameter {source} held {dtype}"
    binds = True

    def infer(self) -> Block:
        return Block(self.dtype, (), isinstance(self.source, View))


@term
class Number(Expr):
    """A Python number; Triton gives it the dtype of what it meets, so that it never widens anything."""

    value: Literal
    dtype: DType
    syntax = "number({value}, {dtype})"

    def infer(self) -> Block:
        kind = bool if self.dtype is bool_ else float if self.dtype.is_float else int
        if type(self.value) is not kind:
            raise TypeError(f"a {self.dtype} number is a Python {kind.__name__}, not {self.value!r}")
        if kind is int:
            lo, hi = self.dtype.range
            if not lo <= self.value <= hi:
                raise TypeError(f"{self.value} does not fit {self.dtype}")
        return Block(self.dtype)


@term
class Size(Expr):
    """The value of a physical parameter: a `tl.constexpr` of the function."""

    extent: Physical
    syntax = "size({extent})"

    def infer(self) -> Block:
        return Block(i32)


@term
class FullBlock(Expr):
    """A tensor that holds one number everywhere; with no extents, a number that has a dtype of its own."""

    value: Literal
    dtype: DType
    shape: tuple[Physical, ...] = ()
    syntax = "filled({value}, {dtype}, [{shape}])"

    def infer(self) -> Block:
        return Block(self.dtype, self.shape)


@term
class Arange(Expr):
    """0, 1, 2, … below an extent."""

    extent: Physical
    syntax = "arange({extent})"

    def infer(self) -> Block:
        return Block(i32, (self.extent,))


@term
class ProgramId(Expr):
    """The number of this instance in the one-dimensional grid."""

    syntax = "program_id()"

    def infer(self) -> Block:
        return Block(i32)


# ---- positions ---------------------------------------------------------------------------------------------------


@term
class Expand(Expr):
    """Unit extents inserted at these positions of the result: `x[:, None]`."""

    value: Expr
    at: tuple[int, ...]
    syntax = "expand({value}, [{at}])"

    def infer(self) -> Block:
        dtype, shape, pointer = self.value.type
        rest = iter(shape)
        return Block(dtype, tuple(UNIT if i in self.at else next(rest) for i in range(len(shape) + len(self.at))), pointer)


@term
class Permute(Expr):
    """The axes in another order."""

    value: Expr
    order: tuple[int, ...]
    syntax = "permute({value}, [{order}])"

    def infer(self) -> Block:
        dtype, shape, pointer = self.value.type
        if sorted(self.order) != list(range(len(shape))):
            raise TypeError(f"{self.order} is no order of the axes of {spelled_shape(shape)}")
        return Block(dtype, tuple(shape[i] for i in self.order), pointer)


@term
class BroadcastTo(Expr):
    """The value repeated until it has this shape."""

    value: Expr
    shape: tuple[Physical, ...]
    syntax = "broadcast({value}, [{shape}])"

    def infer(self) -> Block:
        if broadcast(self.value.type.shape, self.shape) != self.shape:
            raise TypeError(f"{spelled_shape(self.value.type.shape)} does not broadcast to {spelled_shape(self.shape)}")
        return Block(self.value.type.dtype, self.shape)


# ---- arithmetic --------------------------------------------------------------------------------------------------


@term
class Pointwise(Expr):
    """A pointwise operator.  `nonnegative`: no operand is below zero, so that truncating division is the floor."""

    op: Op
    args: tuple[Expr, ...]
    nonnegative: bool = False
    syntax = "pointwise({op}, {args}){ nonnegative|nonnegative|}"

    def infer(self) -> Block:
        types = tuple(a.type for a in self.args)
        if any(t.pointer for t in types):
            raise TypeError(f"{self.op} of a pointer")
        chosen = self.op.name == "select"
        dtype = promoted(tuple(t.dtype for t in types[chosen:]))
        for a in self.args:
            if isinstance(a, Number) and dtype.is_integer and not dtype.range[0] <= a.value <= dtype.range[1]:
                raise TypeError(f"{a.value} does not fit {dtype}")
        operands = (types[0].dtype,) * chosen + (dtype,) * (len(types) - chosen)
        return Block(result_dtype(self.op, operands), broadcast(*(t.shape for t in types)))


@term
class ConvertTo(Expr):
    """Conversion to another dtype: `wrap`, `saturate` or `bits`."""

    value: Expr
    dtype: DType
    mode: str = "wrap"
    syntax = "convert({value}, {dtype}{, |mode|})"

    def infer(self) -> Block:
        return Block(self.dtype, self.value.type.shape)


@term
class Dot(Expr):
    """`accumulator` + left @ right, products and sums in `acc`; never in a format narrower than the operands'."""

    left: Expr
    right: Expr
    acc: DType
    accumulator: Expr | None = None
    syntax = "dot({left}, {right}, {acc}{, |accumulator|})"

    def infer(self) -> Block:
        left, right = self.left.type, self.right.type
        if len(left.shape) != 2 or len(right.shape) != 2 or left.shape[1] is not right.shape[0]:
            raise TypeError(f"dot of {spelled_shape(left.shape)} with {spelled_shape(right.shape)}")
        if left.dtype is not right.dtype:
            raise TypeError(f"dot of {left.dtype} with {right.dtype}")
        out = Block(self.acc, (left.shape[0], right.shape[1]))
        if self.accumulator is not None and self.accumulator.type != out:
            raise TypeError(f"the accumulator of a dot is {self.accumulator.type}, not {out}")
        return out


@term
class Helper(Term):
    """A function at module level, without captures: what `tl.reduce` combines two partial results with."""

    name: str
    parameters: tuple[Name, ...]
    body: tuple[Statement, ...]
    syntax = "helper({parameters}) {{{body:block}}}"
    binds = True


@term
class ReduceCall(Expr):
    """Reduction along one position: by `tl.sum`, `tl.max`, `tl.min`, or `tl.reduce` with a helper."""

    function: str
    axis: int
    values: tuple[Expr, ...]
    helper: Helper | None = None
    syntax = "reduce({function}, {axis}, [{values}]{, |helper|})"

    def infer(self) -> Any:
        if (self.helper is None) is (self.function == "reduce"):
            raise TypeError("`reduce` takes a helper, the named reductions take none")
        shape = self.values[0].type.shape
        if any(v.type.shape != shape for v in self.values):
            raise TypeError("the operands of one reduction have one shape")
        if not 0 <= self.axis < len(shape):
            raise TypeError(f"{spelled_shape(shape)} has no axis {self.axis}")
        out = tuple(Block(v.type.dtype, shape[: self.axis] + shape[self.axis + 1 :]) for v in self.values)
        return out if len(out) > 1 else out[0]


# ---- memory ------------------------------------------------------------------------------------------------------


@term
class Address(Expr):
    """A pointer moved by the sum of `offsets`, in elements."""

    pointer: Expr
    offsets: tuple[Expr, ...]
    syntax = "address({pointer}, [{offsets}])"

    def infer(self) -> Block:
        dtype, shape, pointer = self.pointer.type
        if not pointer:
            raise TypeError("an address starts at a pointer")
        if any(o.type.dtype not in (i32, i64) for o in self.offsets):
            raise TypeError(f"offsets of {', '.join(repr(o.type.dtype) for o in self.offsets)}")
        return Block(dtype, broadcast(shape, *(o.type.shape for o in self.offsets)), True)


def check_mask(address: Block, mask: Any) -> None:
    """A mask is bool and varies only where the address does."""
    if not address.pointer:
        raise TypeError("an access needs a pointer")
    if mask is not None and (mask.type.dtype is not bool_ or broadcast(mask.type.shape, address.shape) != address.shape):
        raise TypeError(f"a mask of {mask.type} on an address of {address}")


@term
class LoadAt(Expr):
    """What is in memory where `mask`, and `other` elsewhere."""

    address: Expr
    mask: Expr | None = None
    other: Expr | None = None
    syntax = "fetch({address}{, |mask| else $other})"

    def infer(self) -> Block:
        check_mask(self.address.type, self.mask)
        if (self.mask is None) is not (self.other is None):
            raise TypeError("a masked load says what masked lanes hold, another one has none")
        return Block(self.address.type.dtype, self.address.type.shape)


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
    """`for target in range(lo, hi, step)`; names of the scope around it that its body assigns are carried."""

    target: Name
    lo: Expr
    hi: Expr
    step: Expr
    body: tuple[Statement, ...]
    note: str = ""
    syntax = "for {target} from {lo} to {hi} step {step}{ because |note|}:{body:block}"

    def infer(self) -> None:
        if any(b.type.shape or not b.type.dtype.is_integer for b in (self.lo, self.hi, self.step)):
            raise TypeError(f"the range of {self.target.name} is no range of scalars")


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
class Return(Statement):
    """What a helper results in."""

    values: tuple[Expr, ...]
    syntax = "return {values}"


@term
class Function(Term):
    """A whole Triton function: runtime parameters in ABI order, constexprs, launch options, and the number of
    instances as an index expression of the host."""

    name: str
    parameters: tuple[Parameter, ...]
    constexprs: tuple[Physical, ...]
    grid: Value
    body: tuple[Statement, ...]
    num_warps: int = 4
    num_stages: int = 3
    syntax = (
        "function @{name}({parameters}) constexprs ({constexprs}) grid ({grid}){ warps |num_warps|}"
        "{ stages |num_stages|} {{{body:block}}}"
    )


def is_literal(e: Expr) -> bool:
    """Whether Python computes this before Triton sees it."""
    return isinstance(e, (Number, Size))


def bodies(s: Term) -> tuple[Any, ...]:
    """The lines inside a loop or a branch."""
    return s.body if isinstance(s, (ForRange, IfThen)) else ()


def expressions(s: Any) -> tuple[Any, ...]:
    """The expressions that a statement itself evaluates, without the lines inside it."""
    match s:
        case Assign(_, value) | Unpack(_, value):
            return (value,)
        case StoreAt(address, value, mask):
            return (address, value) if mask is None else (address, value, mask)
        case ForRange(_, lo, hi, step):
            return (lo, hi, step)
        case Return(values):
            return tuple(values)
        case _:
            return (s.condition,)


def assigned(s: Any) -> tuple[Name, ...]:
    """The names that a statement itself binds."""
    match s:
        case Assign(target, _) | ForRange(target):
            return (target,)
        case Unpack(targets, _):
            return targets
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
    out: dict[Term, None] = {}
    stack = [(r, False) for r in reversed(roots)]
    while stack:
        e, done = stack.pop()
        if done:
            out[e] = None
        elif e not in out and not isinstance(e, Helper):
            stack.append((e, True))
            stack.extend((c, False) for c in reversed(children(e)))
    return list(out)


def names(*roots: Term) -> set[Name]:
    """The names that these expressions read."""
    return {n for n in inner(*roots) if isinstance(n, Name)}


def names_defined(function: Function) -> Iterator[str]:
    """Every name is bound in a place that dominates its use, and one spelling means one thing."""
    spelled: dict[str, Term] = {h.name: h for h in find(function, Helper)}
    for t in (*function.parameters, *function.constexprs):
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
        Const, Extent, Stride, Param, Apply, Cast, Physical, View, Name, Parameter, Number, Size, FullBlock, Arange, ProgramId,
        Expand, Permute, BroadcastTo, Pointwise, ConvertTo, Dot, Helper, ReduceCall, Address, LoadAt, StoreAt, Assign, Unpack,
        ForRange, IfThen, Return, Function,
    ),
    rules=(names_defined, parameters_declared),
)  # fmt: skip
