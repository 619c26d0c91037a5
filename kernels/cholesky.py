"""The Cholesky factor of symmetric matrices, in place."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A

from .extents import sizes


@intent.kernel
def cholesky(a: I.InOut[I.f32, ("B", "N", "N")]):
    """The lower triangle of each A becomes the L with A = L L', a column at a time; above the diagonal nothing moves.

    l[j, j] = sqrt(a[j, j] - sum over k < j of l[j, k]^2), and below it
    l[i, j] = (a[i, j] - sum over k < j of l[i, k] l[j, k]) / l[j, j]."""
    B, N, _ = a.shape
    axis = I.domain(0, N)
    for b in I.parallel(I.domain(0, B)):
        for j in axis:
            known, below = axis[0:j], axis[j + 1 : N]
            row = a[b, j, known]
            pivot = I.sqrt(a[b, j, j] - I.reduce.sum(row * row, axis=0))
            a[b, j, j] = pivot
            a[b, below, j] = (a[b, below, j] - I.matvec(a[b, below, known], row, acc_dtype=I.f32)) / pivot


# Oracles
def cholesky_oracle(a):
    matrix = factor = A.exact(a)
    row, column = (np.cumsum(np.ones_like(a), axis=axis) - 1 for axis in (-2, -1))
    for j in range(a.shape[-1]):
        known = factor[:, :, :j]
        rest = matrix[:, :, j : j + 1] - A.matmul(known, known[:, j : j + 1, :].T, matrix_unit=False)
        pivot = A.sqrt(rest[:, j : j + 1, :])
        factor = A.select((column == j) & (row == j), pivot, factor)
        factor = A.select((column == j) & (row > j), rest / pivot, factor)
    return {"a": factor}


def _positive_definite(extents, rng):
    """Symmetric matrices near the unit matrix; above the diagonal they hold nothing."""
    B, N = extents["B"], extents["N"]
    root = rng.standard_normal((B, N, max(N, 1)))
    matrix = root @ root.swapaxes(-1, -2) / max(N, 1) + np.eye(N)
    return {"a": np.where(np.tri(N, dtype=bool), matrix, np.nan)}


CASES = (
    Case(
        name="cholesky",
        kernel=cholesky,
        oracle=cholesky_oracle,
        small=sizes("B N", "0 3, 2 0, 1 1, 3 2, 2 17, 1 67"),
        structured=_positive_definite,
        values=("normal",),
        bytes=lambda e: 4 * e["B"] * e["N"] * (e["N"] + 1),
        flops=lambda e: e["B"] * e["N"] ** 3 // 3,
    ),
)
