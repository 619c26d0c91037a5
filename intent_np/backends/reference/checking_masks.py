"""Members that a mask removes: where a select put a constant, and what pointwise operators made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics import Array
from ...terms.index import Apply, Cast, Const, Value
from ...terms.logical import Convert, Filled, Pointwise, Transpose, shape_of
from .scope import Scope

if TYPE_CHECKING:
    from .checking_values import CheckedTensors


def removed_lanes(t: CheckedTensors, v: Value, s: Scope) -> Array | None:
    """The lanes of `v` that a select with a constant decided; None where no select did."""
    match v:
        case Apply(op, args) | Pointwise(op, args):
            rank = max(len(shape_of(a)) for a in args)
            if op.name == "select" and any(isinstance(_behind(a), Const) for a in args[1:]):
                chosen = t.aligned(args[0], rank, s)
                return chosen if isinstance(_behind(args[1]), Const) else ~chosen
            found: Array | None = None
            for a in args[1:] if op.name == "select" else args:
                if (x := removed_lanes(t, a, s)) is not None:
                    x = x.reshape(x.shape[: s.depth] + (1,) * (rank - len(shape_of(a))) + x.shape[s.depth :])
                    found = x if found is None else found | x
            return found
        case Convert(value) | Cast(value):
            return removed_lanes(t, value, s)
        case Transpose(value, permutation):
            removed = removed_lanes(t, value, s)
            if removed is None:
                return None
            return removed.transpose(*range(s.depth), *(s.depth + p for p in permutation))
    return None


def _behind(v: Value) -> Value:
    """The scalar that a value repeats or converts."""
    while isinstance(v, (Filled, Convert, Cast)):
        v = v.value
    return v
