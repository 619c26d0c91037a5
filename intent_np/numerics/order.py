"""Order among elements, and counts of them."""

from __future__ import annotations

import numpy as np

from ..terms.dtypes import DType
from .storage import Array, quiet, widen


@quiet
def argsort(x: Array, axis: int, dtype: DType, descending: bool = False) -> Array:
    """The positions that put `x`, of element type `dtype`, in order along `axis`: those of equal members ascend, those
    of NaN come last."""
    x = widen(x, dtype)
    if not descending:
        return np.asarray(np.argsort(x, axis, kind="stable"), np.int64)
    if dtype.is_float:
        return np.asarray(np.argsort(-x, axis, kind="stable"), np.int64)  # NumPy keeps NaN last
    return np.asarray(np.argsort(~x, axis, kind="stable"), np.int64)


def histogram(x: Array, valid: Array, bins: int) -> Array:
    """How many valid integers of each row of `x` are 0, 1, … up to `bins`: one row of counts each."""
    counted = valid & (x >= 0) & (x < bins)
    rows = np.broadcast_to(np.arange(len(x))[:, None], x.shape)[counted]
    flat = np.bincount(rows * bins + x[counted].astype(np.int64), minlength=len(x) * bins)
    return flat.reshape(len(x), bins)
