"""A sum over the axis that stores in front of it go over, too: in a loop over blocks of rows of its own."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z: I.InOut[I.i64, (8,)], x: I.In[I.i32, ("M", "N")], w: I.In[I.i64, ("M", "N")], b: I.In[I.bool, ("N",)]):
    v = w[:, :]
    for _ in I.domain(0, 3):
        if I.reduce.all(b[:]):
            break
        v = v + 1
    I.atomic.xor(z, index=I.reduce.sum(x[:, :], axis=1) % 8, value=I.reduce.sum(v, axis=1))


def test_it_holds():
    holds(k, {"M": 300, "N": 200})
