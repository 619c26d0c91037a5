"""Structured operations along one axis: reductions, scans, order, counts.

A combine is closed: what it uses besides its two sides comes in as `operands`, scalars that it names as arguments of
side `c`.
"""

from __future__ import annotations

from typing import Any

from ..combines import check_captures
from ..core import term
from ..dtypes import DType, bool_, index
from ..index import Const, Value
from ..normal import Combine
from .types import TensorType, broadcast, element, shape_of


def combined_shape(
    values: tuple[Value, ...], dimension: int, combine: Combine, operands: tuple[Value, ...]
) -> tuple[Value, ...]:
    """The shape of what is combined along `dimension`, once the combine is known to fit."""
    shape = broadcast(tuple(shape_of(v) for v in values))
    if not 0 <= dimension < len(shape):
        raise TypeError(f"dimension {dimension} of a value of rank {len(shape)}")
    check_combine(combine, tuple(element(v.type) for v in values), operands)
    return shape


def check_combine(combine: Combine, dtypes: tuple[DType, ...], operands: tuple[Value, ...]) -> None:
    """Whether a combine is of members of these dtypes, and names no operand that it is not given."""
    if dtypes != combine.dtypes:
        raise TypeError(f"a combine of {combine.dtypes} for {dtypes}")
    check_captures(combine, operands)


@term
class TensorReduce(Value):
    """Reduce one dimension of every value with a combine; with `keepdims` an extent of 1 stays.  Reducing the last
    dimension gives a scalar."""

    values: tuple[Value, ...]
    dimension: int
    combine: Combine
    identities: tuple[Const, ...]
    keepdims: bool = False
    operands: tuple[Value, ...] = ()
    syntax = (
        "reduce {combine} over dimension {dimension} of {values} from {identities}{ keepdims|keepdims|}"
        "{ with |operands|}"
    )
    spelled = "I.reduce"

    def infer(self) -> Any:
        shape = combined_shape(self.values, self.dimension, self.combine, self.operands)
        kept = (Const(1, index),) if self.keepdims else ()
        rest = (*shape[: self.dimension], *kept, *shape[self.dimension + 1 :])
        types = tuple(TensorType(d, rest) if rest else d for d in self.combine.dtypes)
        return types[0] if len(types) == 1 else types


@term
class TensorScan(Value):
    """Every prefix along one dimension, members kept in order: up to and with each member, or, `exclusive`, without it.
    A `reverse` scan is that of the reversed sequence, read backwards."""

    values: tuple[Value, ...]
    dimension: int
    combine: Combine
    identities: tuple[Const, ...]
    exclusive: bool = False
    reverse: bool = False
    operands: tuple[Value, ...] = ()
    syntax = (
        "scan {combine} over dimension {dimension} of {values} from {identities}{ exclusive|exclusive|}"
        "{ reverse|reverse|}{ with |operands|}"
    )
    spelled = "I.scan"

    def infer(self) -> Any:
        shape = combined_shape(self.values, self.dimension, self.combine, self.operands)
        types = tuple(TensorType(d, shape) for d in self.combine.dtypes)
        return types[0] if len(types) == 1 else types


@term
class TensorSort(Value):
    """The members of one dimension in order, and the positions that they had: equal ones keep their order, NaN comes
    last, ascending or `descending`."""

    value: Value
    dimension: int
    descending: bool = False
    syntax = "sort {value} along dimension {dimension}{ descending|descending|}"
    spelled = "I.sort"

    def infer(self) -> Any:
        shape, d = shape_of(self.value), element(self.value.type)
        if not 0 <= self.dimension < len(shape) or d is bool_:
            raise TypeError(f"dimension {self.dimension} of {d} of rank {len(shape)} in order")
        return TensorType(d, shape), TensorType(index, shape)


@term
class Histogram(Value):
    """How many values (where `valid`) are 0, 1, … up to `bins`; others are not counted, counts wrap."""

    values: Value
    bins: Value
    dtype: DType
    valid: Value | None = None
    syntax = "histogram {values} into {bins} {dtype}{ where |valid|}"
    spelled = "I.histogram"

    def infer(self) -> TensorType:
        if not element(self.values.type).is_integer or self.bins.type is not index or not self.dtype.is_integer:
            raise TypeError(f"a histogram of {self.values.type} into {self.bins.type} bins of {self.dtype}")
        if self.valid is not None:
            if element(self.valid.type) is not bool_:
                raise TypeError(f"values that are counted where {self.valid.type} holds")
            if broadcast((shape_of(self.values), shape_of(self.valid))) != shape_of(self.values):
                raise TypeError("a validity of more elements than the values")
        return TensorType(self.dtype, (self.bins,))
