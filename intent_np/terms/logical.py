"""logical: the author's program.  Tensors have shapes and positions; helpers are calls; control is structured.

Scalars are values of an element type, as in every language; tensors (rank 0 included) have a `TensorType`.  Pointwise
terms broadcast right-aligned: equal extents, or a static 1.  Statements are effects, in order; a read of a view that an
earlier statement may have written names that statement in `after`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .core import Term, children, find, term
from .dtypes import DType, bool_, index
from .index import Apply, Cast, Const, Extent, Param, Stride, Value, is_const
from .language import Language
from .normal import Arg, Combine, Effect, Proj, Target, View, check_parameters
from .operators import OPERATORS, Op, result_dtype


class TensorType(NamedTuple):
    """Type of a tensor: its element type and its extents, which have identity."""

    dtype: DType
    shape: tuple[Value, ...]

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(repr, self.shape))}]"


def element(t: Any) -> DType:
    """Element type of a scalar's or a tensor's type."""
    return t.dtype if isinstance(t, TensorType) else t


def shape_of(v: Value) -> tuple[Value, ...]:
    """Extents of a value; none for a scalar."""
    return v.type.shape if isinstance(v.type, TensorType) else ()


def _tensor(d: DType, shape: tuple[Value, ...], like: tuple[Value, ...]) -> Any:
    """A scalar type when every operand is a scalar, else a tensor type."""
    return TensorType(d, shape) if any(isinstance(v.type, TensorType) for v in like) else d


def broadcast(shapes: tuple[tuple[Value, ...], ...]) -> tuple[Value, ...]:
    """Right-aligned broadcast of extents; `TypeError` names the two that do not fit."""
    result: list[Value] = []
    for i in range(1, max(map(len, shapes), default=0) + 1):
        extents = [s[-i] for s in shapes if len(s) >= i]
        wide = [e for e in extents if not is_const(e, 1)]
        for e in wide[1:]:
            if e is not wide[0]:
                raise TypeError(f"extents {wide[0]} and {e} do not broadcast")
        result.insert(0, wide[0] if wide else extents[0])
    return tuple(result)


@term
class Domain(Term):
    """The ordered coordinates lo, lo + step, … below hi; a subregion keeps the domain that it was cut from."""

    lo: Value
    hi: Value
    step: Value | None = None
    source: Term | None = None
    syntax = "domain {lo}..{hi}{ step |step|}{ in |source|}"
    binds = True

    def infer(self) -> None:
        if any(b.type is not index for b in (self.lo, self.hi, self.step) if b is not None):
            raise TypeError("the bounds of a domain are index values")
        if not isinstance(self.source, (Domain, type(None))):
            raise TypeError(f"a domain cut from a {type(self.source).__name__}")

    @property
    def extent(self) -> Value:
        """Number of members, in normal form for the common cases."""
        from ..rules.simplify import simplify

        width: Value = Apply(OPERATORS["sub"], (self.hi, self.lo))
        if self.step is not None:
            width = Apply(OPERATORS["ceil_div"], (width, self.step))
        return simplify(width)


@term
class LoopVar(Value):
    """The member in hand of an enclosing loop over `domain`; `depth` tells nested loops over one domain apart."""

    domain: Domain
    depth: int = 0
    syntax = "member of {domain}{ depth |depth|}"
    binds = True

    def infer(self) -> DType:
        return index


class Subscript(Term):
    """Sort: one entry of an index expression."""

    __slots__ = ()


@term
class At(Subscript):
    """A scalar coordinate: the dimension disappears."""

    value: Value
    syntax = "{value}"

    def infer(self) -> None:
        if self.value.type is not index:
            raise TypeError(f"a coordinate is {self.value.type}, not index")


@term
class Along(Subscript):
    """The coordinates of a domain: one result axis."""

    domain: Domain
    syntax = "along {domain}"


@term
class NewAxis(Subscript):
    """A result axis of extent 1 (`None` in the source)."""

    syntax = "newaxis"


def _indexed(rank: int, subscripts: tuple[Subscript, ...], what: str) -> tuple[Value, ...]:
    used = sum(not isinstance(s, NewAxis) for s in subscripts)
    if used != rank:
        raise TypeError(f"{what} has rank {rank}, indexed with {used}")
    one = Const(1, index)
    return tuple(one if isinstance(s, NewAxis) else s.domain.extent for s in subscripts if not isinstance(s, At))  # type: ignore[attr-defined]


@term
class Read(Value):
    """Elements of a view at absolute coordinates; a scalar when every subscript is one."""

    view: View
    subscripts: tuple[Subscript, ...]
    after: Effect | None = None
    syntax = "read {view}[{subscripts}]{ after |after|}"

    def infer(self) -> Any:
        shape = _indexed(len(self.view.shape), self.subscripts, self.view.name)
        return TensorType(self.view.dtype, shape) if shape else self.view.dtype


@term
class Take(Value):
    """Elements of a tensor value at local positions."""

    value: Value
    subscripts: tuple[Subscript, ...]
    syntax = "take {value} at [{subscripts}]"

    def infer(self) -> Any:
        shape = _indexed(len(shape_of(self.value)), self.subscripts, "the value")
        return TensorType(element(self.value.type), shape) if shape else element(self.value.type)


@term
class Indices(Value):
    """The coordinates of a domain as an index tensor of rank 1."""

    domain: Domain
    syntax = "indices({domain})"

    def infer(self) -> TensorType:
        return TensorType(index, (self.domain.extent,))


@term
class Pointwise(Value):
    """An operator on tensors and scalars, broadcast right-aligned."""

    op: Op
    args: tuple[Value, ...]
    syntax = "pointwise {op}({args})"

    def infer(self) -> TensorType:
        d = result_dtype(self.op, tuple(element(a.type) for a in self.args))
        return TensorType(d, broadcast(tuple(shape_of(a) for a in self.args)))


@term
class Convert(Value):
    """A tensor in another dtype; `mode` as in `Cast`."""

    value: Value
    dtype: DType
    mode: str = "wrap"
    syntax = "convert({value}, {dtype}{, |mode|})"

    def infer(self) -> TensorType:
        return TensorType(self.dtype, shape_of(self.value))


@term
class Filled(Value):
    """A tensor that holds one scalar everywhere."""

    value: Value
    shape: tuple[Value, ...]
    syntax = "filled {value} of [{shape}]"

    def infer(self) -> TensorType:
        return TensorType(element(self.value.type), self.shape)


@term
class Transpose(Value):
    """Dimension i of the result is dimension permutation[i] of the value."""

    value: Value
    permutation: tuple[int, ...]
    syntax = "transpose {value} by [{permutation}]"

    def infer(self) -> TensorType:
        shape = shape_of(self.value)
        if sorted(self.permutation) != list(range(len(shape))):
            raise TypeError(f"{self.permutation} is no permutation of {len(shape)} dimensions")
        return TensorType(element(self.value.type), tuple(shape[p] for p in self.permutation))


@term
class Reshape(Value):
    """The same elements in row-major order under other extents."""

    value: Value
    shape: tuple[Value, ...]
    syntax = "reshape {value} to [{shape}]"

    def infer(self) -> TensorType:
        return TensorType(element(self.value.type), self.shape)


@term
class TensorReduce(Value):
    """Reduce one dimension of every value with a combine; with `keepdims` an extent of 1 stays.  Reducing the last
    dimension gives a scalar."""

    values: tuple[Value, ...]
    dimension: int
    combine: Combine
    identities: tuple[Const, ...]
    keepdims: bool = False
    syntax = "reduce {combine} over dimension {dimension} of {values} from {identities}{ keepdims|keepdims|}"

    def infer(self) -> Any:
        shape = broadcast(tuple(shape_of(v) for v in self.values))
        if not 0 <= self.dimension < len(shape):
            raise TypeError(f"dimension {self.dimension} of a value of rank {len(shape)}")
        if tuple(element(v.type) for v in self.values) != self.combine.dtypes:
            raise TypeError(f"a combine of {self.combine.dtypes} for {[element(v.type) for v in self.values]}")
        kept = (Const(1, index),) if self.keepdims else ()
        rest = (*shape[: self.dimension], *kept, *shape[self.dimension + 1 :])
        types = tuple(TensorType(d, rest) if rest else d for d in self.combine.dtypes)
        return types[0] if len(types) == 1 else types


@term
class TensorContract(Value):
    """Sum of products over paired dimensions in `acc`; result axes: the left's that are not summed (batch there), then
    the right's free ones."""

    left: Value
    right: Value
    summed: tuple[tuple[int, int], ...]
    batch: tuple[tuple[int, int], ...]
    acc: DType
    syntax = "contract {left}, {right} summing {summed}{ batch |batch|} into {acc}"

    def infer(self) -> Any:
        ls, rs = shape_of(self.left), shape_of(self.right)
        if element(self.left.type) is not element(self.right.type):
            raise TypeError(f"contraction of {element(self.left.type)} with {element(self.right.type)}")
        for i, j in (*self.summed, *self.batch):
            if ls[i] is not rs[j]:
                raise TypeError(f"contracted extents {ls[i]} and {rs[j]} are not known to be equal")
        left = tuple(e for i, e in enumerate(ls) if i not in {p[0] for p in self.summed})
        paired = {p[1] for p in (*self.summed, *self.batch)}
        shape = left + tuple(e for j, e in enumerate(rs) if j not in paired)
        return TensorType(self.acc, shape) if shape else self.acc


@term
class Pack(Value):
    """A tuple (no names) or a record of values."""

    values: tuple[Value, ...]
    names: tuple[str, ...] = ()
    syntax = "pack({values}{; |names|})"

    def infer(self) -> Any:
        return tuple(v.type for v in self.values)


@term
class Formal(Value):
    """A parameter of a helper, typed by the call: a scalar, or a tensor of these extents."""

    name: str
    position: int
    dtype: DType
    extents: tuple[Value, ...] = ()
    scalar: bool = False
    syntax = "formal {position} {dtype}[{extents}]{ scalar|scalar|}"
    binds = True

    def infer(self) -> Any:
        return self.dtype if self.scalar else TensorType(self.dtype, self.extents)


@term
class Function(Term):
    """A typed pure helper: its result over its formals."""

    name: str
    formals: tuple[Formal, ...]
    result: Value
    syntax = "function ({formals}) gives {result}"
    binds = True


@term
class Call(Value):
    """A helper at its arguments; inlined by `inline_calls`, with provenance intact."""

    function: Function
    args: tuple[Value, ...]
    syntax = "call {function}({args})"

    def infer(self) -> Any:
        if tuple(a.type for a in self.args) != tuple(f.type for f in self.function.formals):
            raise TypeError(f"{self.function.name} of {[a.type for a in self.args]}")
        return self.function.result.type


# ---- statements --------------------------------------------------------------------------------------------------


@term
class Write(Effect):
    """Assign to elements of a view: axes match by position, the value broadcasts to the indexed shape."""

    view: View
    subscripts: tuple[Subscript, ...]
    value: Value
    syntax = "write {view}[{subscripts}] = {value}"

    def infer(self) -> None:
        shape = _indexed(len(self.view.shape), self.subscripts, self.view.name)
        if element(self.value.type) is not self.view.dtype:
            raise TypeError(f"{element(self.value.type)} assigned to {self.view.name} of {self.view.dtype}")
        given = shape_of(self.value)
        if len(given) > len(shape) or broadcast((shape, given)) != shape:
            raise TypeError(f"a value of shape {given} does not broadcast to {shape}")


@term
class Parallel(Effect):
    """Perform the body once per point, unordered."""

    points: tuple[LoopVar, ...]
    body: tuple[Effect, ...]
    syntax = "parallel {points}:{body:block}"


@term
class State(Value):
    """Carried value `position` of the ordered loop called `loop`, before the iteration in hand."""

    loop: str
    position: int
    dtype: DType
    extents: tuple[Value, ...] = ()
    scalar: bool = False
    syntax = "state {position} of {loop} {dtype}[{extents}]{ scalar|scalar|}"
    binds = True

    @property
    def name(self) -> str:
        return f"{self.loop}_{self.position}"

    def infer(self) -> Any:
        return self.dtype if self.scalar else TensorType(self.dtype, self.extents)


@term
class Ordered(Effect):
    """An ordered loop with carries: `states` start as `inits` and become `yields` after each iteration."""

    name: str
    point: LoopVar
    states: tuple[State, ...]
    inits: tuple[Value, ...]
    yields: tuple[Value, ...]
    body: tuple[Effect, ...]
    syntax = "for {name} over {point}{ carrying |states|}{ from |inits|}{ yielding |yields|}:{body:block}"

    def infer(self) -> None:
        types = [tuple(v.type for v in vs) for vs in (self.states, self.inits, self.yields)]
        if types[0] != types[1] or types[0] != types[2]:
            raise TypeError(f"carries of {types[0]} start as {types[1]} and become {types[2]}")


@term
class Start(Effect):
    """The start of an iteration of the ordered loop called `loop`: where a read stands that sees what earlier
    iterations wrote, so that it differs from the same read before the loop."""

    loop: str
    syntax = "start of {loop}"


@term
class After(Value):
    """The final value of a carry."""

    loop: Ordered
    position: int
    syntax = "after {loop} carry {position}"

    def infer(self) -> Any:
        return self.loop.states[self.position].type


@term
class Branch(Effect):
    """Statements under a runtime scalar condition; values that differ are merged by select."""

    condition: Value
    then: tuple[Effect, ...]
    otherwise: tuple[Effect, ...] = ()
    syntax = "branch {condition}:{then:block}else:{otherwise:block}"

    def infer(self) -> None:
        if self.condition.type is not bool_:
            raise TypeError(f"a condition is {self.condition.type}, not bool")


@term
class LogicalProgram(Term):
    """A captured kernel: parameters in declaration order, statements in source order."""

    name: str
    parameters: tuple[Term, ...]
    body: tuple[Effect, ...]
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    syntax = "logical @{name}({parameters}){ permits |permissions|}{ for |target|} {{{body:block}}}"

    def infer(self) -> None:
        check_parameters(self.parameters)


def performed(*roots: Term) -> list[Term]:
    """The terms that performing statements evaluates: all below them, but not the earlier statements that reads and
    results of loops name."""
    seen: dict[Term, None] = {}
    stack: list[Term] = list(reversed(roots))
    while stack:
        t = stack.pop()
        if t not in seen:
            seen[t] = None
            below = t.subscripts if isinstance(t, Read) else children(t)
            if isinstance(t, After) and t.loop.body:
                below = ()
            stack.extend(reversed(below))
    return list(seen)


def no_races(program: LogicalProgram) -> Iterator[str]:
    """Inside `parallel`, a write's address varies along every point."""
    for p in find(program, Parallel):
        for w in (t for t in performed(*p.body) if isinstance(t, Write)):
            used = set(find(tuple(s for s in w.subscripts), LoopVar))
            for v in p.points:
                if v not in used:
                    yield f"points along {v} write the same elements: {w}"


LOGICAL = Language(
    "logical", root=LogicalProgram, about=__doc__ or "", rules=(no_races,),
    terms=(
        Const, Extent, Stride, Param, View, Apply, Cast, Arg, Combine, Proj, Target, Domain, LoopVar, At, Along,
        NewAxis, Read,
        Take, Indices, Pointwise, Convert, Filled, Transpose, Reshape, TensorReduce, TensorContract, Pack, Formal,
        Function,
        Call, Write, Parallel, State, Ordered, Start, After, Branch, LogicalProgram,
    ),
)  # fmt: skip
