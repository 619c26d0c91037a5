"""Seed 610106 of `intent-np fuzz`, capture: E207, a name that nobody reads, assigned before two loops and in them."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(x: I.In[I.f32, ("N", 4)], y: I.Out[I.f32, ()]):
    total, _ = I.arg_reduce.max(x[:, 0], axis=0)
    for i in range(x.shape[0]):
        for j in range(0, x.shape[0], 2):
            _ = j
        ordered, _ = I.topk(x[i, :], 2, axis=0)
        total += I.reduce.sum(ordered, axis=0)
    y[()] = total


def test_it_holds():
    holds(k, {"N": 5}, values="integers", seed=1)
