"""Contractions of operands that are held in fewer bits: with a scale for each group, or without their zeros.

Arrays may have further dimensions in front of those named; they broadcast.
"""

from __future__ import annotations

import numpy as np

from ..terms.dtypes import DType, f64
from .casts import narrow
from .contractions import matmul, peak
from .formats import CODECS, E8M0, decode, unpack
from .literals import FORMATS
from .storage import Array, computing, quiet, storage


@quiet
def scaled_contract(l: Array, ls: Array, r: Array, rs: Array, formats: tuple[str, str], *, acc: DType) -> Array:
    """`l` [M, G, C] scaled by `ls` [M, G] times `r` [G, C, N] scaled by `rs` [N, G]: [M, N] of element type `acc`.

    Scaled numbers and their products are exact; the sum is rounded once, unless a product is out of the range of
    `acc`."""
    left, right = scaled_operands(l, ls, r, rs, formats)
    if acc is f64 or peak(left) * peak(right) < FORMATS[computing(acc).name].largest:
        return narrow(left @ right, acc)
    products = (left[..., :, :, None] * right[..., None, :, :]).astype(storage(computing(acc)))
    return narrow(products.sum(-2), acc)


def scaled_operands(l: Array, ls: Array, r: Array, rs: Array, formats: tuple[str, str]) -> tuple[Array, Array]:
    """The scaled numbers of both sides as matrices [M, K] and [K, N] of f64, exactly."""
    left = _numbers(l, formats[0], -1) * decode(ls, E8M0).astype(np.float64)[..., None]
    right = _numbers(r, formats[1], -2) * np.moveaxis(decode(rs, E8M0).astype(np.float64), -1, -2)[..., None, :]
    left = left.reshape(*left.shape[:-2], left.shape[-2] * left.shape[-1])
    return left, right.reshape(*right.shape[:-3], right.shape[-3] * right.shape[-2], right.shape[-1])


def _numbers(x: Array, form: str, axis: int) -> Array:
    """What a microscaling format holds along `axis`, as f64."""
    codec, codes = CODECS[form], np.ascontiguousarray(x).view(np.uint8)
    return decode(codes if codec.bits == 8 else unpack(codes, codec.bits, axis), codec).astype(np.float64)


@quiet
def sparse_contract(l: Array, at: Array, r: Array, *, acc: DType) -> Array:
    """`l` [M, G, K], whose members stand at the places `at` of their groups, times `r` [G, W, N]: [M, N] of element
    type `acc`.  What was left out meets nothing, neither infinity nor NaN."""
    groups, width, columns = r.shape[-3:]
    if not acc.is_float or np.isfinite(r.astype(storage(computing(acc)), copy=False)).all():
        batch = np.broadcast_shapes(l.shape[:-1], at.shape[:-1])
        dense = np.zeros((*batch, width), l.dtype)
        l, at = (np.broadcast_to(a, (*batch, a.shape[-1])) for a in (l, at))
        np.put_along_axis(dense, at.astype(np.int64), l, -1)
        flat = dense.reshape(*batch[:-1], groups * width)
        return matmul(flat, r.reshape(*r.shape[:-3], groups * width, columns), acc=acc)
    shape = np.broadcast_shapes(l.shape[:-3], at.shape[:-3], r.shape[:-3])
    l, at, r = (np.broadcast_to(a, (*shape, *a.shape[-3:])) for a in (l, at, r))
    rows = np.moveaxis(at.astype(np.int64), -3, 0)  # for each m, the places of the kept members
    met = np.stack([np.take_along_axis(r, row[..., None], -2) for row in rows], -4) if len(rows) else None
    if met is None:
        return np.zeros((*shape, 0, columns), storage(acc))
    left = l.reshape(*l.shape[:-2], 1, l.shape[-2] * l.shape[-1])  # [M, 1, G K] times [M, G K, N]
    return matmul(left, met.reshape(*met.shape[:-3], -1 if met.size else left.shape[-1], columns), acc=acc)[..., 0, :]
