"""Contractions: sums of products over paired axes, and those of operands that are held in fewer bits.

The positions of the members in the last three are a closed schema: groups are an axis of their own.
"""

from __future__ import annotations

from typing import Any

from ..core import term
from ..dtypes import DType, f32, index, u8
from ..index import Const, Value
from .types import TensorType, broadcast, element, shape_of


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


PACKED = {"e2m1": 2, "e4m3": 1, "e5m2": 1}
"""Microscaling formats: how many numbers a byte holds."""


def carries(d: Any, form: str) -> bool:
    """Whether elements of `d` hold numbers of the microscaling format."""
    return form in PACKED and (d is u8 or getattr(d, "name", "") == {"e4m3": "f8e4m3fn", "e5m2": "f8e5m2"}.get(form))


@term
class ScaledContract(Value):
    """Sum over groups g and members c of l[m,g,c] · 2^(ls[m,g]-127) · r[g,c,n] · 2^(rs[n,g]-127) in `acc`; a packed
    format holds two members a byte along c, the earlier in the low bits.  Result [M, N]."""

    left: Value
    left_scale: Value
    right: Value
    right_scale: Value
    left_format: str
    right_format: str
    group: int
    acc: DType
    syntax = (
        "scaled contract {left} as {left_format} by {left_scale}, {right} as {right_format} by {right_scale} "
        "in groups of {group} into {acc}"
    )
    spelled = "I.scaled_contract"

    def infer(self) -> TensorType:
        ls, rs = shape_of(self.left), shape_of(self.right)
        if not carries(element(self.left.type), self.left_format) or not self.acc.is_float:
            raise TypeError(f"{self.left.type} as {self.left_format}, accumulated in {self.acc}")
        if not carries(element(self.right.type), self.right_format):
            raise TypeError(f"{self.right.type} as {self.right_format}")
        m, g, n = ls[0], ls[1], rs[2]
        if self.left_scale.type != TensorType(u8, (m, g)) or self.right_scale.type != TensorType(u8, (n, g)):
            raise TypeError(f"scales {self.left_scale.type} and {self.right_scale.type} of [M, G] and [N, G]")
        members = [Const(self.group // PACKED[f], index) for f in (self.left_format, self.right_format)]
        if self.group % 2 or ls != (m, g, members[0]) or rs != (g, members[1], n):
            raise TypeError(f"operands {ls} and {rs} in groups of {self.group}")
        return TensorType(self.acc, (m, n))


@term
class SparseContract(Value):
    """Sum over groups g and kept members k of l[m,g,k] · r[g, at[m,g,k], n] in `acc`: of `width` members of a group
    those at the ascending positions `at` were kept, the others are 0.  Result [M, N]."""

    left: Value
    at: Value
    right: Value
    width: int
    acc: DType
    syntax = "sparse contract {left} at {at} of {width}, {right} into {acc}"
    spelled = "I.sparse_contract"

    def infer(self) -> TensorType:
        (m, g, _), rs = shape_of(self.left), shape_of(self.right)
        if element(self.left.type) is not element(self.right.type) or not element(self.at.type).is_integer:
            raise TypeError(f"{self.left.type} at {self.at.type} with {self.right.type}")
        if shape_of(self.at) != shape_of(self.left) or len(rs) != 3 or rs[:2] != (g, Const(self.width, index)):
            raise TypeError(f"shapes {shape_of(self.left)}, {shape_of(self.at)} and {rs}, of {self.width} members")
        return TensorType(self.acc, (m, rs[2]))


Q4_K, Q8_K = 144, 292
"""Bytes of a record of 256 numbers."""


@term
class Quantize(Value):
    """The last axis, in groups of 256, as q8_k records: bytes f32 d, 256 × i8, 16 × i16.  [..., 256 G] gives
    [..., G, 292]."""

    value: Value
    groups: Value
    syntax = "quantize {value} into {groups} q8_k"
    spelled = "I.quantize"

    def infer(self) -> TensorType:
        if element(self.value.type) is not f32 or not shape_of(self.value) or self.groups.type is not index:
            raise TypeError(f"{self.value.type} as {self.groups.type} records")
        return TensorType(u8, (*shape_of(self.value)[:-1], self.groups, Const(Q8_K, index)))


@term
class QuantizedDot(Value):
    """Dot products of q4_k records [..., G, 144] with q8_k records [..., G, 292], leading axes broadcast."""

    left: Value
    right: Value
    syntax = "quantized dot {left} as q4_k, {right} as q8_k"
    spelled = "I.quantized_dot"

    def infer(self) -> Any:
        ls, rs = shape_of(self.left), shape_of(self.right)
        if element(self.left.type) is not u8 or element(self.right.type) is not u8:
            raise TypeError(f"records of {self.left.type} and {self.right.type}")
        if ls[-1] is not Const(Q4_K, index) or rs[-1] is not Const(Q8_K, index) or ls[-2] is not rs[-2]:
            raise TypeError(f"records of shapes {ls} and {rs}")
        shape = broadcast((ls[:-2], rs[:-2]))
        return TensorType(f32, shape) if shape else f32
