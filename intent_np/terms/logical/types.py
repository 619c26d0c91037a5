"""Types of the author's values: scalars have an element type, tensors their extents too."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dtypes import DType
from ..index import Value, is_const

SHAPING = ("shape", "extents", "extent", "strides", "bins", "groups", "lo", "hi", "step", "source")
"""Fields of terms that hold extents, or bounds of domains: types are compared by them."""


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


def formed(old: Any, new: Any) -> Any:
    """An extent over other parts, in normal form where the old one was: sums are in the order of what they are of."""
    from ...rules.simplify import simplify

    return simplify(new) if new is not old and simplify(old) is old else new
