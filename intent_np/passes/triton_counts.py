"""Sums that count members by their numbers, as `tl.histogram`.

    reduce sum over n of select(n < N, cast(cast(x, index) == i, i32), 0)   tl.histogram(x.to(tl.int32), BI, mask=n < N)

Used by `triton_values`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..terms.dtypes import i32, index
from ..terms.gpu import Range, Reduce
from ..terms.index import Cast, Physical, conjunction, const, le, lt
from ..terms.triton import BroadcastTo, Expr, FullBlock, HistogramCall, Number
from .one_hot import BINS, one_hot, uncast

if TYPE_CHECKING:
    from .triton_values import Values


def is_range(values: Values, v: Any) -> bool:
    """Whether a value is 0, 1, 2, … along an axis, in whatever type."""
    number = uncast(v)
    return number in values.ranges or isinstance(number, Range)


def counts(values: Values, t: Reduce) -> Expr | None:
    """A sum that counts members of one axis by their numbers, of which those of no bin are left out; None of others."""
    counted = one_hot(t, lambda v: is_range(values, v))
    if counted is None or counted.members != {t.axis} or max(a.value for a in counted.bin.lanes) not in BINS:
        return None
    (bins,) = counted.bin.lanes
    key, d, dims = counted.key, counted.key.type, values.dims((t.axis,))
    valid: Any = counted.valid
    source: Any = key.value.type if isinstance(key, Cast) else d
    if source.kind != "uint" or source.range[1] >= bins.value:
        end = bins if d is index else const(bins.value, d)  # type: ignore[arg-type]
        valid = conjunction(valid, le(const(0, d), key), lt(key, end))  # type: ignore[arg-type]
    mask = None if valid is None else _along(values, values.at(valid, dims), dims)
    found = HistogramCall(_along(values, values.hold(values.lower(key), i32), dims), bins, mask)
    return values.hold(found, values.dtype(t.type))  # type: ignore[arg-type]


def _along(values: Values, e: Expr, dims: tuple[Physical, ...]) -> Expr:
    """`e` with an element for each member, of which all may have one number."""
    if isinstance(e, Number):
        return FullBlock(e.value, e.dtype, dims)
    return e if e.type.shape else BroadcastTo(values.tensor(e), dims)
