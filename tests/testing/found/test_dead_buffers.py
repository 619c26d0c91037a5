"""A buffer in a branch that is never taken."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    if N < 0:
        memory = I.buffer(1, I.f32)
        memory[...] = 0
        added = memory[:]
    else:
        added = I.full(1, 1, I.f32)
    y[:] = x[:] + added


def test_it_holds():
    holds(k, {"N": 5})
