"""Seed 1028 of `intent-np fuzz`, reference: OverflowError in promises.Promises.kept."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z1: I.InOut[I.f32, (0,)], x3: I.In[I.u64, ()]):
    for _p1 in I.domain(0, 0):
        I.scatter_reduce(z1, index=x3[()], value=0, combine=I.maximum)


def test_it_holds():
    holds(k, {}, layout="contiguous", values="negative", seed=1028)
