"""Seed 610139 of `intent-np fuzz --validate`: what an update found, asked for in another loop over the same blocks."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z: I.InOut[I.i32, (1, "N + 1")], x: I.In[I.i32, (1, "N + 1")], y: I.Out[I.i32, (1, "N + 1")]):
    for p in I.parallel(I.domain(0, 1)):
        for q in I.parallel(I.domain(0, z.shape[1])):
            y[p, q] = I.atomic.exchange(z, index=(p, q), value=I.reduce.sum(x[p, :], axis=0))


def test_it_holds():
    holds(k, {"N": 16}, values="integers", seed=1)
