"""Seed 1501764 of `intent-np fuzz`, compile: KeyError where what stored last is what began the iteration."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(x1: I.In[I.bool, ("N",)], x2: I.In[I.i64, ("M",)], x4: I.In[I.i64, ("N", "M + 2")], y: I.Out[I.i64, ("M",)]):
    M = x2.shape[0]
    y[:] = x2[:]
    for i in I.domain(0, x1.shape[0]):
        found, _ = I.arg_reduce.min(x1[:], axis=0)
        if found:
            break
        one = I.buffer((M,), I.i64)
        one[...] = x4[i, 2 : M + 2]
        one[:] = x2[:]
        other = I.buffer((M,), I.i64)
        other[...] = one[:]
        y[:] = y[:] + other[:]


def test_it_holds() -> None:
    holds(k, {"N": 3, "M": 5}, oracles=("reference", "machine", "cubin"))
