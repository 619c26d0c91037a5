"""Copies of one axis have one block extent, but not where a value varies along both: it would be a diagonal."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def either(a, b):
    return a ^ b


@intent.kernel
def weighted(
    x: I.In[I.u8, ("N", 1, "M")], w: I.In[I.u8, ("M", "M")], v: I.In[I.u8, ("M", 4)], y: I.Out[I.u32, ("N", 4)]
):
    for p in I.parallel(I.domain(0, x.shape[0])):
        rows = I.ceil_div(-x[p, :, :], I.maximum(I.reduce.min(w[:, :], axis=1), 1))
        row = I.reduce(rows, axis=0, identity=0, combine=either)
        y[p, :] = I.vecmat(row, I.cummin(v[:, :], axis=0, reverse=True), acc_dtype=I.u32)


def test_it_holds() -> None:
    for n, m in ((3, 2), (31, 7), (5, 40)):
        holds(weighted, {"N": n, "M": m}, layout="negative", values="extreme", seed=4)
