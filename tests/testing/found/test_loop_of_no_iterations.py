"""A loop that is known to have no iterations: Triton ends on the dead body of a `while`."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(w: I.In[I.i64, ("M",)], b: I.In[I.bool, ("N",)], y: I.Out[I.i64, ("M",)]):
    v = w[:]
    for _ in I.domain(0, 0):
        if I.reduce.all(b[:]):
            break
        v = v + 1
    y[:] = v


def test_it_holds():
    holds(k, {"M": 3, "N": 5})


def test_it_compiles():
    assert intent.compile(k, target="sm_90").variants[0].cubin
