"""Structured operations: what combines members along an axis."""

from __future__ import annotations

from typing import Any

from ..core import term
from ..dtypes import DType, index
from ..index import Const, Value
from ..normal import Combine
from .types import TensorType, broadcast, element, shape_of


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
