"""How far contractions of operands that are held in fewer bits may be off: sums in any order, of exact products.

Nothing is known where an operand is itself uncertain: bits that may be others may stand for any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_np import numerics
from intent_np.backends.reference.scope import Scope
from intent_np.numerics.grouped import scaled_operands
from intent_np.numerics.records import unpack_q4_k, unpack_q8_k
from intent_np.terms.dtypes import f32, f64
from intent_np.terms.logical import QuantizedDot, ScaledContract, SparseContract, shape_of

from . import approx
from .approx import Approx
from .formats import FORMATS, Array, widen

RECORD = 4
"""Roundings of the sum of a pair of records: each of its two parts is a product of three, and they are subtracted."""


def in_groups(tensors: Any, v: ScaledContract | SparseContract | QuantizedDot, s: Scope) -> Approx | None:
    """What a contraction may be; None where nothing is known."""
    operands = {
        ScaledContract: ("left", "left_scale", "right", "right_scale"),
        SparseContract: ("left", "at", "right"),
    }.get(type(v), ("left", "right"))
    sides: Any = [tensors.value(getattr(v, name), s) for name in operands]
    if any(map(tensors.doubtful, sides)):
        return None
    if isinstance(v, QuantizedDot):
        rank = max(len(shape_of(v.left)), len(shape_of(v.right)))
        return _records(*(tensors.aligned(x, rank, s) for x in (v.left, v.right)))
    if not v.acc.is_float:
        return None
    form = FORMATS[v.acc.name]
    with np.errstate(all="ignore"):
        if isinstance(v, ScaledContract):
            left, right = scaled_operands(sides[0], sides[1], sides[2], sides[3], (v.left_format, v.right_format))
            value, size = left @ right, _size(left) @ _size(right)
            whole, members = bool(_whole(left) and _whole(right)), left.shape[-1]
        else:
            left, at, right = (np.asarray(widen(x)) for x in sides)
            at = np.where((at < 0) | (at >= v.width), 0, at)
            left, right = left.astype(np.float64), right.astype(np.float64)
            value = numerics.sparse_contract(left, at, right, acc=f64)
            size = numerics.sparse_contract(_size(left), at, _size(right), acc=f64)
            whole, members = bool(_whole(left) and _whole(right)), left.shape[-2] * left.shape[-1]
    return approx.accumulated(value, np.zeros_like(size), size, 2 * members, form, whole)


def _records(left: Array, right: Array) -> Approx:
    d, dmin, scales, minima, q4 = unpack_q4_k(left)
    other, q8, sums = unpack_q8_k(right)
    products = (q4 * q8.reshape(*q8.shape[:-1], 8, 32)).sum(-1, dtype=np.int64)
    total = (scales * products).sum(-1, dtype=np.int64).astype(np.float64)
    least = (minima * sums.reshape(*sums.shape[:-1], 8, 2).sum(-1, dtype=np.int64)).sum(-1, dtype=np.int64)
    with np.errstate(all="ignore"):
        parts = [x.astype(np.float64) * other * y for x, y in ((d, total), (dmin, least.astype(np.float64)))]
        value, size = (parts[0] - parts[1]).sum(-1), sum(_size(p) for p in parts)
        assert isinstance(size, np.ndarray)
        roundings = size.shape[-1] + RECORD
        size = size.sum(-1)
    return approx.accumulated(value, np.zeros_like(size), size, roundings, FORMATS[f32.name], False)


def _size(x: Array) -> Array:
    return approx.finite(np.abs(x))


def _whole(x: Array) -> bool:
    return bool((np.rint(x) == x).all())
