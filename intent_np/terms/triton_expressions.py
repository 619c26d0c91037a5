"""The expressions of the triton language: positional, typed, with everything that Triton does silently checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from .core import Literal, Term, term
from .dtypes import DType, bool_, i32, i64
from .index import Physical
from .normal import View
from .operators import Op, result_dtype

UNIT = 1
"""The extent of a position that only broadcasts."""


class Block(NamedTuple):
    """The type of an expression: a scalar where `shape` is empty, else a tensor; a `pointer` to `dtype` or a value."""

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
    """A shape as Triton spells it: parameters by name, 1 for an axis of one element."""
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
        return Block(
            dtype, tuple(UNIT if i in self.at else next(rest) for i in range(len(shape) + len(self.at))), pointer
        )


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
    """A pointwise operator.  `natural`: no operand is below zero and a divisor is not zero, so that truncating division
    is the floor and needs no guard."""

    op: Op
    args: tuple[Expr, ...]
    natural: bool = False
    syntax = "pointwise({op}, {args}){ natural|natural|}"

    def infer(self) -> Block:
        types = tuple(a.type for a in self.args)
        if any(t.pointer for t in types):
            raise TypeError(f"{self.op} of a pointer")
        chosen = self.op.name == "select"
        dtype = promoted(tuple(t.dtype for t in types[chosen:]))
        for a in self.args:
            if isinstance(a, Number):
                Number(a.value, a.type.dtype if a.type.dtype is bool_ else dtype)  # says where it does not fit
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


@term
class ScanCall(Expr):
    """Every prefix along one position, by `tl.cumsum` or `tl.associative_scan` with a helper; with `reverse` from the
    last member."""

    axis: int
    values: tuple[Expr, ...]
    helper: Helper | None = None
    reverse: bool = False
    syntax = "scan({axis}, [{values}]{ by |helper|}{ reverse|reverse|})"

    def infer(self) -> Any:
        shape = self.values[0].type.shape
        if any(v.type.shape != shape for v in self.values) or not 0 <= self.axis < len(shape):
            raise TypeError(f"a scan along axis {self.axis} of {spelled_shape(shape)}")
        if self.helper is None and len(self.values) > 1:
            raise TypeError("a scan of several operands has a helper")
        out = tuple(Block(v.type.dtype, shape) for v in self.values)
        return out if len(out) > 1 else out[0]


@term
class HistogramCall(Expr):
    """How many of `values` are 0, 1, 2, … up to `bins`, by `tl.histogram`; all those where `mask` holds are below."""

    values: Expr
    bins: Physical
    mask: Expr | None = None
    syntax = "histogram({values}, {bins}{, |mask|})"

    def infer(self) -> Block:
        dtype, shape = self.values.type.dtype, self.values.type.shape
        if dtype is not i32 or len(shape) != 1:
            raise TypeError(f"a histogram of {dtype} over {spelled_shape(shape)}")
        if self.mask is not None and self.mask.type != Block(bool_, shape):
            raise TypeError("the mask of a histogram has the shape of its values")
        return Block(i32, (self.bins,))


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
    if mask is not None and (
        mask.type.dtype is not bool_ or broadcast(mask.type.shape, address.shape) != address.shape
    ):
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


def is_literal(e: Expr) -> bool:
    """Whether Python computes this before Triton sees it."""
    return isinstance(e, (Number, Size))
