"""Seed 2000389 of `intent-np fuzz`, compile: RecursionError in share_traversals.  Where the index is inside of its
view it is computed again, with loads that the first fold guards: both are over one axis, and need a loop each."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def total(values):
    return I.reduce.sum(values, axis=0, acc_dtype=I.index)


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def k(x: I.In[I.index, ("N",)], table: I.In[I.index, ("N",)], y: I.Out[I.index, ("M",)]):
    for p in I.parallel(I.domain(0, y.shape[0])):
        at = I.region_fold(x[:] * p, axis=0, summarize=total, combine=plus, identity=0)
        y[p] = table[at] if 0 <= at < x.shape[0] else 5


def test_it_holds():
    holds(k, {"M": 3, "N": 40}, values="integers")
