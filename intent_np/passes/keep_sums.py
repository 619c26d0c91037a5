"""keep_sums: triton -> triton.  A sum of products stays a sum of products, rounded as they are.

    tl.sum(a[:, :, None] * b[None, :, :], axis=1)   ->   tl.sum(b[None, :, :] * a[:, :, None], axis=1)

Triton takes the left one for a matrix product and computes it in TF32 (`CombineBroadcastMulReducePattern`, whatever the
rank); it knows no product whose left operand has the last place.
"""

from __future__ import annotations

from typing import Any

from ..terms.core import find, rewrite
from ..terms.triton import TRITON, Assign, Expand, Function, Name, Pointwise
from .base import nanopass


@nanopass(TRITON, TRITON, needed="keeps Triton from computing sums of products in TF32")
def keep_sums(function: Function) -> Function:
    """Write products of floats so that Triton does not take a sum of them for a matrix product.

    Stands behind the naming of what is used repeatedly, because Triton looks through names.
    Preserves values: a product is the same in either order.
    """
    named: dict[Name, list[Any]] = {}
    for line in find(function, Assign):
        named.setdefault(line.target, []).append(line.value)

    def last_unit(operand: Any) -> set[int]:
        """The unit extent that is inserted last, for each value that the operand may have."""
        values = named.get(operand, ()) if isinstance(operand, Name) else (operand,)
        return {max(v.at) for v in values if isinstance(v, Expand)}

    def step(t: Any) -> Any:
        match t:
            case Pointwise(args=(a, b)) if t.op.name == "mul" and t.type.dtype.is_float:
                if 2 in last_unit(a) and 0 in last_unit(b):
                    return Pointwise(t.op, (b, a), t.natural)
        return t

    (new,) = rewrite((function,), step, Pointwise)
    return new  # type: ignore[no-any-return]
