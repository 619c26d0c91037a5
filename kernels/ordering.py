"""Counting and putting in order."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case

from .extents import ROWS, VECTORS
from .scans import partitioned


@intent.kernel
def histogram(
    x: I.In[I.i32, ("N",)], valid: I.In[I.bool, ("N",)], y: I.Out[I.i32, ("BINS",)], BINS: I.Constexpr[int] = 256
):
    """y[b] = how many valid elements of x are b; those outside of the bins are not counted."""
    y[:] = I.histogram(x[:], bins=BINS, valid=valid[:], count_dtype=I.i32)


@intent.kernel
def topk(
    x: I.In[I.f32, ("M", "N + K")],
    value: I.Out[I.f32, ("M", "K")],
    place: I.Out[I.i64, ("M", "K")],
    K: I.Constexpr[int] = 8,
):
    """The K largest elements of each row, the largest first, and where they stand: equal ones by place, NaN last."""
    M, _ = x.shape
    for row in I.parallel(I.domain(0, M)):
        found, at = I.topk(x[row, :], K)
        value[row, :] = found
        place[row, :] = I.cast(at, I.i64)


@intent.kernel
def sort(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("M", "N")], place: I.Out[I.i64, ("M", "N")]):
    """The elements of each row in ascending order, and where they stood: equal ones by place, NaN last."""
    M, _ = x.shape
    for row in I.parallel(I.domain(0, M)):
        value[row, :] = I.sort(x[row, :])
        place[row, :] = I.cast(I.argsort(x[row, :]), I.i64)


@intent.kernel
def unique(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], count: I.Out[I.i64, ()]):
    """The different elements of x, ascending, at the front of y, whose rest stays as it is, and how many they are."""
    ordered, i = I.sort(x[:]), I.indices(I.domain(0, x.shape[0]))
    before = I.gather(ordered, i - 1, valid=i > 0, fill=0)
    new = (i == 0) | (ordered != before)
    place, found = partitioned(new)
    I.scatter_unique(y, index=I.assume_unique(I.assume_in_bounds(place, y)), value=ordered, valid=new)
    count[()] = found


# Oracles
def histogram_oracle(x, valid, BINS):
    return {"y": np.bincount(x[valid & (x >= 0) & (x < BINS)], minlength=BINS)}


def _ranked(x, descending):
    """The places of each row in order: numbers before NaN, then by value, then by place."""
    key = np.where(np.isnan(x), np.inf, -x if descending else x)
    place = np.broadcast_to(np.arange(x.shape[1]), x.shape)
    return np.lexsort((place, key, np.isnan(x)), axis=-1)


def topk_oracle(x, K):
    place = _ranked(x, True)[:, :K]
    return {"value": np.take_along_axis(x, place, axis=1), "place": place}


def sort_oracle(x):
    place = _ranked(x, False)
    return {"value": np.take_along_axis(x, place, axis=1), "place": place}


def unique_oracle(x, y):
    found = np.array(sorted(set(x.tolist())), "i8")
    return {"y": np.concatenate([found, y[len(found) :]]), "count": np.int64(len(found))}


def _few(extents, rng):
    """Small numbers, some of them outside of the bins."""
    return {"x": np.where(rng.random(extents["N"]) < 0.9, rng.integers(0, 256, extents["N"]), rng.choice(
        [-(2**31), -1, 256, 2**31 - 1], extents["N"]))}  # fmt: skip


_SORTED = tuple(e for e in ROWS if e["N"] < 5000)

CASES = (
    Case(
        name="histogram",
        kernel=histogram,
        oracle=histogram_oracle,
        small=VECTORS,
        constexprs={"BINS": 256},
        structured=_few,
        values=("normal",),
        bytes=lambda e: 5 * e["N"] + 4 * 256,
        flops=lambda e: e["N"],
    ),
    Case(
        name="topk",
        kernel=topk,
        oracle=topk_oracle,
        small=_SORTED,
        constexprs={"K": 8},
        bytes=lambda e: 4 * e["M"] * (e["N"] + 8) + 12 * 8 * e["M"],
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="sort",
        kernel=sort,
        oracle=sort_oracle,
        small=_SORTED,
        bytes=lambda e: 16 * e["M"] * e["N"],
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="unique",
        kernel=unique,
        oracle=unique_oracle,
        small=VECTORS,
        structured=_few,
        values=("normal",),
        bytes=lambda e: 8 * e["N"] + 8,
        flops=lambda e: e["N"],
    ),
)
