"""Softmax of rows."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, exp, maximum, online, total

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


# Oracles
def softmax_oracle(x):
    value = exact(x)
    weight = exp(value - maximum(value, axis=1))
    return {"y": weight / total(weight, axis=1)}


def online_softmax_oracle(x):
    weight = online(exact(x))
    return {"y": weight / total(weight, axis=1)}


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
)
