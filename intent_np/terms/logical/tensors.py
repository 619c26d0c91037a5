"""Tensors read from views, and what is computed elementwise or only rearranged."""

from __future__ import annotations

from typing import Any

from ..core import term
from ..dtypes import DType, index
from ..index import Value
from ..normal import Effect, View
from ..operators import Op, result_dtype
from .domains import Domain, Subscript, indexed
from .types import TensorType, broadcast, element, shape_of


@term
class Read(Value):
    """Elements of a view at absolute coordinates; a scalar when every subscript is one."""

    view: View
    subscripts: tuple[Subscript, ...]
    after: Effect | None = None
    syntax = "read {view}[{subscripts}]{ after |after|}"

    def infer(self) -> Any:
        shape = indexed(len(self.view.shape), self.subscripts, self.view.name)
        return TensorType(self.view.dtype, shape) if shape else self.view.dtype


@term
class Take(Value):
    """Elements of a tensor value at local positions."""

    value: Value
    subscripts: tuple[Subscript, ...]
    syntax = "take {value} at [{subscripts}]"

    def infer(self) -> Any:
        shape = indexed(len(shape_of(self.value)), self.subscripts, "the value")
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
class Pack(Value):
    """A tuple (no names) or a record of values."""

    values: tuple[Value, ...]
    names: tuple[str, ...] = ()
    syntax = "pack({values}{; |names|})"

    def infer(self) -> Any:
        return tuple(v.type for v in self.values)
