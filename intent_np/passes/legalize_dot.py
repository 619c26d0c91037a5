"""legalize_dot: gpu -> gpu.  Contractions that `tl.dot` cannot take become sums of products.

    acc + contract(a[m, k], x[k])   ->   acc + reduce sum over k of cast(a, f32) * cast(x, f32)

`tl.dot` takes two matrices with one axis each and the summed one between them, in a few dtypes and with smallest
extents; and it never stands for less precision than asked, so that f32 means f32 (`input_precision="ieee"`).
"""

from __future__ import annotations

from typing import Any

from ..terms.core import rewrite
from ..terms.dtypes import DType, bf16, f8e4m3fn, f8e5m2, f16, f32, f64, i8, i32
from ..terms.gpu import GPU, ContractInto, Full, Kernel, Reduce
from ..terms.index import Cast, Value, add, is_const, mul
from ..terms.normal import builtin, identity
from .base import nanopass

ACCUMULATORS: dict[DType, tuple[DType, ...]] = {
    f16: (f32, f16), bf16: (f32,), f32: (f32,), f64: (f64,), i8: (i32,), f8e4m3fn: (f32,), f8e5m2: (f32,),
}  # fmt: skip
"""What `tl.dot` accumulates products of a dtype in, without TF32."""

SMALL_FLOATS = 89
"""The first compute capability that multiplies e4m3."""

SMALLEST_FREE = 16
"""Below this extent of a free axis, tensor cores work on padding only and a sum of products is as good."""


def smallest_summed(d: DType) -> int:
    """The smallest extent of the summed axis: one tensor-core instruction takes 32 bytes of it, or 16 elements."""
    return 32 if d.bits == 8 else 16


@nanopass(GPU, GPU)
def legalize_dot(kernel: Kernel) -> Kernel:
    """Rewrite each contraction that has no matrix instruction into products and a sum.

    Stands before positions exist, because it is a matter of named axes and dtypes only.
    Preserves values: products and sums are taken in the accumulator's dtype, as a contraction's are.
    """
    small = kernel.target is not None and kernel.target.capability >= SMALL_FLOATS

    def legal(t: Any) -> Any:
        if not isinstance(t, ContractInto):
            return t
        if t.left.type is f8e4m3fn and not small:
            t = ContractInto(Cast(t.left, f16), Cast(t.right, f16), t.accumulator)  # exactly, products too
        return t if is_dot(t) else sum_of_products(t)

    (new,) = rewrite((kernel,), legal, ContractInto)
    return new  # type: ignore[no-any-return]


def is_dot(t: ContractInto) -> bool:
    """Whether `tl.dot` takes this contraction."""
    (summed,) = t.summed
    left, right = t.left.lanes - {summed}, t.right.lanes - {summed}
    dtype: Any = t.left.type
    return (
        summed in t.left.lanes
        and summed in t.right.lanes
        and len(left) == len(right) == 1
        and left != right
        and t.accumulator.lanes == left | right
        and t.accumulator.type in ACCUMULATORS.get(dtype, ())
        and all(p.value >= SMALLEST_FREE for p in (*left, *right))
        and summed.value >= smallest_summed(dtype)
    )


def sum_of_products(t: ContractInto) -> Value:
    """The contraction spelled out, in the accumulator's dtype."""
    acc: Any = t.accumulator.type
    (summed,) = t.summed
    left, right = (v if v.type is acc else Cast(v, acc) for v in (t.left, t.right))
    total = Reduce(summed, builtin("sum", acc), (mul(left, right),), (identity("sum", acc),))
    return total if is_zero(t.accumulator) and t.accumulator.lanes == total.lanes else add(t.accumulator, total)


def is_zero(v: Value) -> bool:
    """Whether a value is zero everywhere by construction."""
    return is_const(v, 0) or (isinstance(v, Full) and v.value == 0)
