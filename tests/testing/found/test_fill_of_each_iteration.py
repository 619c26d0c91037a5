"""What a loop carries begins anew in each iteration of the loop around it, with the same stores each time."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def exchanged(y: I.InOut[I.i32, ("N", 4)], x: I.In[I.i8, ("M",)]):
    M = x.shape[0]
    for n in I.parallel(I.domain(0, y.shape[0])):
        for i in I.domain(0, 4):
            pair = (I.full((M,), 2, I.i8), I.full((M,), 1, I.i8))
            for _j in range(1):
                pair = (pair[1], pair[0])
            y[n, i] = I.maximum(y[n, i], I.dot(pair[0], I.full((M,), -3, I.i8), acc_dtype=I.i32))


def test_it_holds():
    holds(exchanged, {"N": 5, "M": 3}, oracles=("reference", "machine"))
