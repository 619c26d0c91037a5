"""Memory that an iteration fills with a constant is filled in the iteration, not where the loop begins."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def nothing(a, b):
    return 0


@intent.kernel
def counted(x: I.In[I.f32, (1, "N")], z: I.InOut[I.f32, (2,)], at: I.In[I.i32, ("N + 1",)], w: I.In[I.f32, (0,)]):
    """One instance performs the update; the state, which is as long as an axis, is in memory."""
    state = at[:]
    for _ in I.domain(0, 0):
        state = I.full(x.shape[1] + 1, 1, I.i32)
    I.scatter_reduce(z, index=I.clamp(state, 0, 1), value=I.reduce.max(w[I.domain(0, 0)]), combine=nothing)


def test_it_holds() -> None:
    holds(counted, {"N": 0}, {"z": np.array([0.0, 1.0]), "at": 0})
