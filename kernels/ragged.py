"""Groups of rows between offsets: any number of rows each, none too."""

from itertools import pairwise

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A

from .extents import sizes


@intent.kernel
def grouped_matmul(
    x: I.In[I.bf16, ("T", "K")],
    w: I.In[I.bf16, ("G", "K", "N")],
    offsets: I.In[I.i32, ("G + 1",)],
    y: I.Out[I.bf16, ("T", "N")],
):
    """The rows of group g, from offsets[g] to offsets[g + 1], times w[g]; in f32."""
    groups = I.domain(0, w.shape[0])
    rows = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(groups):
        y[rows[g], :] = I.cast(I.matmul(x[rows[g], :], w[g, :, :], acc_dtype=I.f32), I.bf16)


@intent.kernel
def jagged_softmax(x: I.In[I.f32, ("T", "N")], offsets: I.In[I.i32, ("G + 1",)], y: I.Out[I.f32, ("T", "N")]):
    """exp(x) / sum(exp(x)), by column over the rows of each group."""
    groups = I.domain(0, offsets.shape[0] - 1)
    rows = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(groups):
        value = x[rows[g], :]
        weight = I.exp(value - I.reduce.max(value, axis=0))
        y[rows[g], :] = weight / I.reduce.sum(weight, axis=0)


# Oracles: one group after the other
def _of_groups(offsets, result):
    """The results of all groups, below each other."""
    found = [result(g, slice(int(begin), int(end))) for g, (begin, end) in enumerate(pairwise(offsets))]
    whole = [np.concatenate([getattr(r, part) for r in found]) for part in ("value", "error")]
    return A.Approx(*whole, found[0].format)


def grouped_matmul_oracle(x, w, offsets):
    return {"y": _of_groups(offsets, lambda g, rows: A.matmul(A.exact(x[rows]), A.exact(w[g])))}


def jagged_softmax_oracle(x, offsets):
    def softmax(_, rows):
        value = A.exact(x[rows])
        weight = A.exp(value - A.maximum(value, axis=0))
        return weight / A.total(weight, axis=0)

    return {"y": _of_groups(offsets, softmax)}


def _offsets(extents, rng):
    """Ascending, from 0 to T; some groups are empty, the first or the last among them."""
    G, T = extents["G"], extents["T"]
    inner = rng.choice(np.append(rng.integers(0, T + 1, max(1, G // 2)), [0, T]), max(G - 1, 0))
    return {"offsets": np.concatenate([[0], np.sort(inner), [T]])[: G + 1]}


_GROUPS = sizes(
    "G T K N", "1 0 3 4, 3 0 2 2, 2 5 0 3, 1 1 1 1, 4 20 7 9, 7 3 17 5, 5 200 64 48, 3 131 33 70, 16 300 20 130"
)

CASES = (
    Case(
        name="grouped_matmul",
        kernel=grouped_matmul,
        oracle=grouped_matmul_oracle,
        small=_GROUPS,
        large=({"G": 16, "T": 16384, "K": 4096, "N": 4096},),
        structured=_offsets,
        bytes=lambda e: 2 * (e["T"] * (e["K"] + e["N"]) + e["G"] * e["K"] * e["N"]),
        flops=lambda e: 2 * e["T"] * e["K"] * e["N"],
    ),
    Case(
        name="jagged_softmax",
        kernel=jagged_softmax,
        oracle=jagged_softmax_oracle,
        small=tuple({name: e[name] for name in "GTN"} for e in (*_GROUPS, {"G": 3, "T": 5000, "N": 3})),
        structured=_offsets,
        bytes=lambda e: 8 * e["T"] * e["N"],
        flops=lambda e: 4 * e["T"] * e["N"],
    ),
)
