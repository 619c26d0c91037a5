"""Kernels that the corpus lacks, each for something that a pass could get wrong.

With whole numbers in [-8, 8] every result is exact, so that each must be met bit for bit; only zeros may differ in sign.
"""

# ruff: noqa: E501, UP037, RUF059
from __future__ import annotations

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, Expected

VECTORS = tuple({"N": n} for n in (0, 1, 5, 16, 33, 70))
MATRICES = tuple({"M": m, "N": n} for m, n in ((0, 3), (3, 0), (1, 1), (5, 17), (16, 32), (33, 19), (20, 70)))
CUBES = tuple(
    {"M": m, "N": n, "K": k} for m, n, k in ((3, 0, 4), (3, 4, 0), (1, 1, 1), (5, 17, 3), (18, 5, 33), (16, 16, 32))
)


# ---- axes and their coordinates


@intent.kernel
def spread_over_five(x: I.In[I.f32, ("M", "N", "K")], y: I.Out[I.f32, ("M", "N", "K", "A", "B")]):
    y[:, :, :, :, :] = x[:, :, :, None, None] + I.zeros((y.shape[3], y.shape[4]), I.f32)


@intent.kernel
def sum_of_two(x: I.In[I.f32, ("M", "N", "K")], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.reduce.sum(x[i, :, :], axis=(0, 1))


@intent.kernel
def largest_sum(x: I.In[I.f32, ("M", "N", "K")], y: I.Out[I.f32, ("M",)]):
    y[:] = I.reduce.max(I.reduce.sum(x[:, :, :], axis=2), axis=1)


@intent.kernel
def centered_columns(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    value = x[:, :]
    y[:, :] = value - I.reduce.max(value, axis=0, keepdims=True)


@intent.kernel
def three_stores(
    x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")], rows: I.Out[I.f32, ("M",)], columns: I.Out[I.f32, ("N",)]
):
    value = x[:, :]
    y[:, :] = I.transpose(value, (1, 0))
    rows[:] = I.reduce.sum(value, axis=1)
    columns[:] = I.reduce.min(value, axis=0)


@intent.kernel
def distances(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N", "N")], z: I.Out[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    apart = I.abs(x[points][:, None] - x[points][None, :])
    y[points, points] = apart
    z[points] = I.reduce.max(apart, axis=0) + I.reduce.sum(apart, axis=1)


@intent.kernel
def triple(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    value = x[:]
    y[:] = I.reduce.sum(
        I.reduce.max(value[:, None, None] + value[None, :, None] * value[None, None, :], axis=2), axis=1
    )


@intent.kernel
def sums_of_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """A reduction inside a reduction over the same domain."""
    M, N = x.shape
    columns = I.domain(0, N)
    for i in I.parallel(I.domain(0, M)):
        value = x[i, columns]
        y[i] = I.reduce.sum(value * I.reduce.sum(value, axis=0), axis=0) - I.reduce.max(
            value + I.reduce.max(value, axis=0), axis=0
        )


@intent.kernel
def no_free_axis(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (2,)]):
    y[0] = I.reduce.sum(x[:], axis=0)
    y[1] = I.reduce.max(x[:], axis=0)


@intent.kernel
def diagonal(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = x[i, i] + I.reduce.sum(x[i, :] * x[:, i], axis=0)


@intent.kernel
def reversed_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[M - 1 - i, j] = x[i, N - 1 - j]


# ---- domains


@intent.kernel
def inner_part(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """A domain that does not begin at 0, may be empty."""
    M, N = x.shape
    inner = I.domain(I.minimum(2, N), N)
    for i in I.parallel(I.domain(0, M)):
        y[i] = I.reduce.sum(x[i, inner], axis=0) + I.reduce.max(x[i, inner], axis=0)


@intent.kernel
def every_third(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    steps = I.domain(I.minimum(1, N), N, 3)
    for i in I.parallel(I.domain(0, M)):
        y[i] = I.reduce.sum(x[i, steps], axis=0)
        z[i, steps] = x[i, steps] + 1.0


@intent.kernel
def moving_sum(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], W: I.Constexpr[int]):
    """Windows that end at the edges of x."""
    (N,) = x.shape
    points, around = I.domain(0, N), I.domain(0, N)
    near = (I.indices(around)[None, :] <= I.indices(points)[:, None] + W) & (
        I.indices(points)[:, None] <= I.indices(around)[None, :] + W
    )
    y[points] = I.reduce.sum(I.select(near, x[around][None, :], 0.0), axis=1)


# ---- masks and what they leave


@intent.kernel
def prefix_sums(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    points, before = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])
    seen = I.indices(before)[None, :] <= I.indices(points)[:, None]
    y[points] = I.reduce.sum(I.select(seen, x[before][None, :], 0.0), axis=1)


@intent.kernel
def prefix_counts(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    """What lies behind the mask counts too: no block may be skipped."""
    points, before = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])
    seen = I.indices(before)[None, :] <= I.indices(points)[:, None]
    y[points] = I.reduce.sum(I.select(seen, x[before][None, :], 1.0), axis=1)


@intent.kernel
def suffix_maxima(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns, after = I.domain(0, N), I.domain(0, N)
    seen = I.indices(after)[None, :] >= I.indices(columns)[:, None] + 3
    for i in I.parallel(I.domain(0, M)):
        y[i, columns] = I.reduce.max(I.select(seen, x[i, after][None, :], float("-inf")), axis=1)


@intent.kernel
def triangular_product(a: I.In[I.f16, ("N", "N")], b: I.In[I.f16, ("N", "K")], y: I.Out[I.f32, ("N", "K")]):
    rows, inner = I.domain(0, a.shape[0]), I.domain(0, a.shape[0])
    lower = I.indices(inner)[None, :] < I.indices(rows)[:, None]
    y[rows, :] = I.matmul(I.select(lower, a[rows, inner], 0.0), b[inner, :], acc_dtype=I.f32)


@intent.kernel
def large_values(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.i32, ("M",)]):
    """A mask that is data."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        value = x[i, :]
        y[i] = I.reduce.min(I.select(value > 2.0, value, float("inf")), axis=0)
        z[i] = I.reduce.sum(I.select(value > 2.0, I.full(value.shape, 1, I.i32), I.full(value.shape, 0, I.i32)), axis=0)


# ---- products and types


@intent.kernel
def gram(x: I.In[I.f16, ("M", "K")], y: I.Out[I.f32, ("M", "M")]):
    y[:, :] = I.matmul(x[:, :], x[:, :], transpose_rhs=True, acc_dtype=I.f32)


@intent.kernel
def chain(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("M", "M")]
):
    y[:, :] = I.matmul(I.matmul(a[:, :], b[:, :], acc_dtype=I.f32), c[:, :], acc_dtype=I.f32)


@intent.kernel
def product_statistics(
    a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], y: I.Out[I.f32, ("M", "N")], top: I.Out[I.f32, ("M",)]
):
    value = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)
    y[:, :] = value - I.reduce.max(value, axis=1, keepdims=True)
    top[:] = I.reduce.sum(value, axis=1)


@intent.kernel
def bytes_and_bits(
    x: I.In[I.i8, ("M", "N")], y: I.Out[I.i32, ("M",)], z: I.Out[I.bool, ("M",)], w: I.Out[I.i8, ("M",)]
):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        y[i] = I.reduce.sum(x[i, :], axis=0)
        z[i] = I.reduce.any(x[i, :] == 3, axis=0) & ~I.reduce.all(x[i, :] < 8, axis=0)
        w[i] = I.reduce.min(x[i, :], axis=0)


@intent.kernel
def narrow_floats(x: I.In[I.f8e4m3fn, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f8e5m2, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        value = I.cast(x[i, :], I.f32)
        y[i] = I.reduce.max(value, axis=0) - I.reduce.sum(value, axis=0)
        z[i, :] = I.cast(value, I.f8e5m2)


@intent.kernel
def folded(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    """Reshapes that split and join dimensions."""
    M, N = x.shape
    flat = I.reshape(x[:, :], (M * N,))
    y[:, :] = I.reshape(flat + 1.0, (N, M))


# ---- oracles


def _sum(a: Any, axis: Any) -> Any:
    return a.sum(axis, dtype=np.float64)


def _max(a: Any, axis: Any, initial: float = -np.inf) -> Any:
    return a.max(axis, initial=initial)


def _distances(x: Any) -> dict[str, Any]:
    apart = np.abs(x[:, None] - x[None, :])
    return {"y": apart, "z": _max(apart, 0) + _sum(apart, 1)}


def _triple(x: Any) -> dict[str, Any]:
    return {"y": _sum(_max(x[:, None, None] + x[None, :, None] * x[None, None, :], 2), 1)}


def _sums_of_sums(x: Any) -> dict[str, Any]:
    total, top = _sum(x, 1), _max(x, 1)
    # of an empty row the maximum is -inf, whatever it is shifted by
    return {"y": total * total - (top + top)}


def _every_third(x: Any, z: Any) -> dict[str, Any]:
    z = z.copy()
    z[:, 1::3] = x[:, 1::3] + 1
    return {"y": _sum(x[:, 1::3], 1), "z": z}


def _masked(x: Any, mask: Any, other: float) -> dict[str, Any]:
    return {"y": _sum(np.where(mask, x[None, :], other), 1)}


def _square(n: int) -> tuple[Any, Any]:
    return np.arange(n)[:, None], np.arange(n)[None, :]


def _suffix_maxima(x: Any) -> dict[str, Any]:
    i, j = _square(x.shape[1])
    return {"y": _max(np.where(j >= i + 3, x[:, None, :], -np.inf), 2)}


def _product_statistics(a: Any, b: Any) -> dict[str, Any]:
    value = a @ b
    return {"y": value - _max(value, 1)[:, None], "top": _sum(value, 1)}


def _large_values(x: Any) -> dict[str, Any]:
    return {"y": np.where(x > 2, x, np.inf).min(1, initial=np.inf), "z": (x > 2).sum(1)}


def _bytes(x: Any) -> dict[str, Any]:
    return {"y": x.sum(1), "z": (x == 3).any(1) & ~(x < 8).all(1), "w": x.min(1, initial=127)}


def _exact(oracle: Any) -> Any:
    """The oracle's results, to be met exactly but for the sign of zeros."""

    def expected(**given: Any) -> dict[str, Any]:
        return {
            n: v if v.dtype.kind in "bi" else Expected(np.asarray(v, np.float64)) for n, v in oracle(**given).items()
        }

    return expected


def _case(kernel: Any, small: Any, oracle: Any, **more: Any) -> Case:
    return Case(
        name=kernel.name, kernel=kernel, oracle=_exact(oracle), small=small, values=("integers",),
        bytes=lambda e: 0, flops=lambda e: 0, **more,
    )  # fmt: skip


CASES = (
    _case(sum_of_two, CUBES, lambda x: {"y": _sum(x, (1, 2))}),
    _case(largest_sum, CUBES, lambda x: {"y": _max(_sum(x, 2), 1)}),
    _case(centered_columns, MATRICES, lambda x: {"y": x - _max(x, 0)}),
    _case(three_stores, MATRICES, lambda x: {"y": x.T, "rows": _sum(x, 1), "columns": x.min(0, initial=np.inf)}),
    _case(distances, VECTORS, _distances),
    _case(triple, VECTORS, _triple),
    _case(sums_of_sums, MATRICES, _sums_of_sums),
    _case(no_free_axis, VECTORS, lambda x: {"y": np.array([_sum(x, 0), _max(x, 0)])}),
    _case(diagonal, VECTORS, lambda x: {"y": np.diag(x) + _sum(x * x.T, 1)}),
    _case(reversed_rows, MATRICES, lambda x: {"y": x[::-1, ::-1]}),
    _case(inner_part, MATRICES, lambda x: {"y": _sum(x[:, 2:], 1) + _max(x[:, 2:], 1)}),
    _case(every_third, MATRICES, _every_third),
    _case(
        moving_sum, VECTORS, lambda x, W: _masked(x, abs(np.subtract(*_square(len(x)))) <= W, 0.0), constexprs={"W": 5}
    ),
    _case(prefix_sums, VECTORS, lambda x: _masked(x, np.greater_equal(*_square(len(x))), 0.0)),
    _case(prefix_counts, VECTORS, lambda x: _masked(x, np.greater_equal(*_square(len(x))), 1.0)),
    _case(suffix_maxima, MATRICES, _suffix_maxima),
    _case(
        triangular_product, tuple({"N": e["M"], "K": e["N"]} for e in MATRICES), lambda a, b: {"y": np.tril(a, -1) @ b}
    ),
    _case(large_values, MATRICES, _large_values),
    _case(gram, tuple({"M": e["M"], "K": e["N"]} for e in MATRICES), lambda x: {"y": x @ x.T}),
    _case(chain, CUBES, lambda a, b, c: {"y": a @ b @ c}),
    _case(product_statistics, CUBES, _product_statistics),
    _case(bytes_and_bits, MATRICES, _bytes),
    _case(narrow_floats, MATRICES, lambda x: {"y": _max(x, 1) - _sum(x, 1), "z": x}),
    _case(folded, MATRICES, lambda x: {"y": (x + 1).reshape(x.shape[::-1])}),
)
