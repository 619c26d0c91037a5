"""Softmax of rows."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, exp, maximum, online, select, total

from .extents import ROWS


@intent.kernel
def softmax(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    """y = exp(x) / sum(exp(x)) by row, in f32."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(x[row, columns], I.f32)
        weight = I.exp(value - I.reduce.max(value, axis=0))
        y[row, columns] = I.cast(weight / I.reduce.sum(weight, axis=0), I.f16)


@intent.kernel
def masked_softmax(x: I.In[I.f16, ("M", "N")], mask: I.In[I.bool, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    """y = exp(x) / sum(exp(x)) by row over the elements that the mask keeps, 0 for the others, in f32; a row that keeps
    none is 0."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        kept = mask[row, columns]
        value = I.select(kept, I.cast(x[row, columns], I.f32), float("-inf"))
        weight = I.select(kept, I.exp(value - I.reduce.max(value, axis=0)), 0.0)
        y[row, columns] = I.cast(I.select(kept, weight / I.reduce.sum(weight, axis=0), 0.0), I.f16)


# Oracles
def softmax_oracle(x):
    value = exact(x)
    weight = exp(value - maximum(value, axis=1))
    return {"y": weight / total(weight, axis=1)}


def online_softmax_oracle(x):
    weight = online(exact(x))
    return {"y": weight / total(weight, axis=1)}


def masked_softmax_oracle(x, mask):
    value = select(mask, exact(x), -np.inf)
    weight = select(mask, exp(value - maximum(value, axis=1)), 0.0)
    return {"y": select(mask, weight / total(weight, axis=1), 0.0)}


def _masks(extents, rng):
    """Each row keeps another share of its elements; every fourth keeps none, the one behind it all."""
    row = np.arange(extents["M"])
    share = np.where(row % 4 == 1, 0.0, np.where(row % 4 == 2, 1.0, rng.random(extents["M"])))
    return {"mask": rng.random((extents["M"], extents["N"])) < share[:, None]}


def _case(name, oracle, **more):
    return Case(
        name=name,
        kernel=softmax,
        oracle=oracle,
        small=ROWS,
        large=({"M": 131072, "N": 512}, {"M": 16384, "N": 4096}, {"M": 2048, "N": 32768}),
        bytes=lambda e: 2 * 2 * e["M"] * e["N"],
        flops=lambda e: 5 * e["M"] * e["N"],
        **more,
    )


CASES = (
    _case("softmax", softmax_oracle),
    _case(
        "softmax_relaxed",
        online_softmax_oracle,
        options={"numerics": "relaxed_normalization"},
        values=("normal", "integers", "negative", "special"),  # the permission promises finite values
    ),
    Case(
        name="masked_softmax",
        kernel=masked_softmax,
        oracle=masked_softmax_oracle,
        small=ROWS,
        structured=_masks,
        bytes=lambda e: 5 * e["M"] * e["N"],
        flops=lambda e: 7 * e["M"] * e["N"],
    ),
)
