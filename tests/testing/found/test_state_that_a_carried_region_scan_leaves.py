"""A region scan of carried tensors is asked for its state as well, behind what has replaced the tensors."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def total(values):
    return I.reduce.sum(values, axis=0, acc_dtype=I.i32)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def running(values, state):
    return I.cumsum(values, axis=0, acc_dtype=I.i32) + state


@intent.kernel
def alone(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ()]):
    v, s, i = x[:], I.cast(0, I.i32), 0
    while i < 3:
        i += 1
        v, s = I.region_scan(
            v, axis=0, summarize=total, combine=plus, identity=0, initial_state=s, apply=plus, emit=running
        )
    y[:] = v
    z[()] = s


@intent.kernel
def beside(x: I.In[I.i32, ("N",)], w: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.InOut[I.i32, (3,)]):
    v, u, s = x[:], w[:], I.cast(0, I.i32)
    for i in I.domain(0, 3):
        v, s = I.region_scan(
            v, axis=0, summarize=total, combine=plus, identity=0, initial_state=s, apply=plus, emit=running
        )
        if I.reduce.any(u == 0):
            z[i] = s
        v, u = w[:], v
    y[:] = v


@intent.kernel
def left_early(x: I.In[I.i32, ("M", "M")], w: I.In[I.i32, ("M", "M")], y: I.Out[I.i32, ("M", "M")]):
    M = x.shape[0]
    for p in I.parallel(I.domain(0, M)):
        v, u, s = x[p, :], I.reduce.max(w[:, :], axis=0), I.cast(0, I.i32)
        for _ in I.domain(0, 5):
            v, t = I.region_scan(
                v, axis=0, summarize=total, combine=plus, identity=0, initial_state=s, apply=plus, emit=running
            )
            v, u = u, I.full((M,), 3, I.i32)
            if t == 0:
                break
            s = I.reduce.min(v)
        y[p, :] = v


def test_they_hold() -> None:
    for n in (0, 1, 70):
        holds(alone, {"N": n})
        holds(beside, {"N": n})
        holds(left_early, {"M": n})
