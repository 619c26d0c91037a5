"""Bounds of a loop that are read behind a statement, whose value has a simpler form, are read behind that statement."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine


@intent.kernel
def k(x: I.In[I.f32, (8,)], ends: I.Out[I.i32, ("N",)], y: I.Out[I.f32, ("N", 8)]):
    N = y.shape[0]
    ends[:] = I.cast(2.0, I.i32)
    for p in I.parallel(I.domain(0, N - 1)):
        v = x[:]
        for _ in I.ragged(I.domain(0, N - 1), I.domain(0, 5), ends)[p]:
            b = I.buffer((8,), I.f32, init=v)
            v = b[:] + 1.0
        y[p, :] = v


def test_it_holds() -> None:
    outcome = examine(k, recipes(k, count=5), ("reference", "machine", "text"))
    assert outcome.failure is None, f"{outcome.failure}"
    assert outcome.calls
