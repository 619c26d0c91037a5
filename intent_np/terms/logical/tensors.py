"""Tensors read from views, and what is computed elementwise or only rearranged."""

from __future__ import annotations

from typing import Any

from ..core import term
from ..dtypes import DType, bool_, index
from ..index import Value
from ..normal import Effect, Memory
from ..operators import Op, result_dtype
from .domains import Domain, Subscript, indexed
from .types import TensorType, broadcast, element, shape_of


def check_lanes(shape: tuple[Value, ...], *given: tuple[Value | None, DType]) -> None:
    """Whether values of these dtypes broadcast to the lanes of an access."""
    for v, d in given:
        if v is None:
            continue
        own = shape_of(v)
        if element(v.type) is not d:
            raise TypeError(f"{element(v.type)} for lanes of {d}")
        if len(own) > len(shape) or broadcast((shape, own)) != shape:
            raise TypeError(f"a value of shape {own} does not broadcast to {shape}")


def _filled(d: DType, shape: tuple[Value, ...], valid: Value | None, fill: Value | None) -> Any:
    """The type of what is read in lanes that may be invalid."""
    check_lanes(shape, (valid, bool_), (fill, d))
    if (valid is None) is not (fill is None):
        raise TypeError("a validity comes with a fill")
    return TensorType(d, shape) if shape else d


@term
class Read(Value):
    """Elements of a view or buffer at absolute coordinates; a scalar when every subscript is one.  Lanes that are not
    `valid` touch nothing and give `fill`."""

    view: Memory
    subscripts: tuple[Subscript, ...]
    after: Effect | None = None
    valid: Value | None = None
    fill: Value | None = None
    syntax = "read {view}[{subscripts}]{ valid (|valid|)}{ fill (|fill|)}{ after |after|}"

    def infer(self) -> Any:
        shape = indexed(len(self.view.shape), self.subscripts, self.view.name)
        return _filled(self.view.dtype, shape, self.valid, self.fill)


@term
class Take(Value):
    """Elements of a tensor value at local positions; lanes that are not `valid` give `fill`."""

    value: Value
    subscripts: tuple[Subscript, ...]
    valid: Value | None = None
    fill: Value | None = None
    syntax = "take {value} at [{subscripts}]{ valid (|valid|)}{ fill (|fill|)}"

    def infer(self) -> Any:
        shape = indexed(len(shape_of(self.value)), self.subscripts, "the value")
        return _filled(element(self.value.type), shape, self.valid, self.fill)


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
