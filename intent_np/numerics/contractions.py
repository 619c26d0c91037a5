"""Contractions: sums of products over paired axes, in the type of the accumulator.

Floats are multiplied and summed in f64 by BLAS and rounded once; integers are exact modulo the accumulator's width.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..terms.dtypes import DType, f64
from .casts import narrow
from .literals import FORMATS
from .storage import Array, computing, quiet, storage

Pairs = Sequence[tuple[int, int]]


def contract(l: Array, r: Array, reduce: Pairs, batch: Pairs = (), *, acc: DType) -> Array:
    """The contraction of `l` and `r` over the axis pairs `reduce`, elementwise along the pairs `batch`.

    Axes of the result: those of `l` that are not reduced, in its order (batch axes among them), then the free axes of
    `r`.  The result is of element type `acc`; nothing reduced gives a product, an empty axis gives 0.
    """
    l_reduced, r_reduced = [i for i, _ in reduce], [j for _, j in reduce]
    l_batch, r_batch = [i for i, _ in batch], [j for _, j in batch]
    l_free = [i for i in range(l.ndim) if i not in l_reduced and i not in l_batch]
    r_free = [j for j in range(r.ndim) if j not in r_reduced and j not in r_batch]
    batched = [l.shape[i] for i in l_batch]
    rows, columns = [l.shape[i] for i in l_free], [r.shape[j] for j in r_free]
    inner = int(np.prod([l.shape[i] for i in l_reduced], dtype=np.int64))
    left = l.transpose(l_batch + l_free + l_reduced).reshape(*batched, int(np.prod(rows, dtype=np.int64)), inner)
    right = r.transpose(r_batch + r_reduced + r_free).reshape(*batched, inner, int(np.prod(columns, dtype=np.int64)))
    result = matmul(left, right, acc=acc).reshape(batched + rows + columns)
    # batch axes return to their places in `l`
    order = sorted(range(len(l_batch) + len(l_free)), key=(l_batch + l_free).__getitem__)
    return result.transpose(order + list(range(len(order), result.ndim)))


@quiet
def matmul(l: Array, r: Array, *, acc: DType) -> Array:
    """`[..., M, K] @ [..., K, N]`, accumulated in `acc`."""
    return _float_matmul(l, r, acc) if acc.is_float else _integer_matmul(l, r, acc)


def _float_matmul(l: Array, r: Array, acc: DType) -> Array:
    # a product that overflows in the accumulator must not come back to range in a wider sum
    wide = f64 if peak(l) * peak(r) < FORMATS[computing(acc).name].largest else computing(acc)
    left, right = l.astype(storage(wide), copy=False), r.astype(storage(wide), copy=False)
    return narrow(left @ right, acc)


def _integer_matmul(l: Array, r: Array, acc: DType) -> Array:
    if peak(l) * peak(r) * l.shape[-1] < 2.0**53:  # every partial sum is exact in f64, where BLAS is fast
        exact = (l.astype(np.float64) @ r.astype(np.float64)).astype(np.int64)
        return exact.astype(storage(acc), copy=False)
    return (l.astype(np.int64, copy=False) @ r.astype(np.int64, copy=False)).astype(storage(acc), copy=False)


def peak(x: Array) -> float:
    """The largest finite magnitude, or a bound on it."""
    if x.dtype.itemsize == 1 and x.dtype.kind in "iu":
        return 256.0
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    ends = [abs(float(end)) for end in (np.max(x, initial=0), np.min(x, initial=0))]
    if all(map(np.isfinite, ends)):
        return max(ends)
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))
