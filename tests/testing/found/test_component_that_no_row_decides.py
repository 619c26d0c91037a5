"""Seed 1201520 of `intent-np fuzz`, compile: E702 after block_axes."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize(values):
    return I.reduce.sum(I.full(values.shape, 1, I.i32), axis=0), I.reduce.max(values, axis=0)


@intent.fn
def combine(a, b):
    return a[0] + b[0], I.maximum(a[1], b[1])


@intent.kernel
def state(x: I.In[I.i32, ("M", 5)], z: I.InOut[I.u32, (7,)], n: I.i32):
    M = x.shape[0]
    for p in I.parallel(I.domain(0, M)):
        count, _ = I.region_fold(x[p, :], axis=0, summarize=summarize, combine=combine, identity=(0, -2147483648))
        for i in range(n):
            count = count + I.cast(i, I.i32)
        I.atomic.add(z, index=I.cast(count, I.index) % 7, value=1)


@intent.kernel
def both(x: I.In[I.i32, ("M", "K")], y: I.Out[I.i32, ("M",)], z: I.InOut[I.i32, (7,)], n: I.i32):
    M = x.shape[0]
    for p in I.parallel(I.domain(0, M)):
        count, most = I.region_fold(x[p, :], axis=0, summarize=summarize, combine=combine, identity=(0, -2147483648))
        y[p] = most
        for _ in range(n):
            count = I.minimum(count, 3) * 2
        if count > 1:
            I.atomic.min(z, index=I.cast(count, I.index) % 7, value=2)


def test_a_state():
    holds(state, {"M": 3}, {"n": 2})
    holds(state, {"M": 0}, {"n": 2})


def test_another_component_stands_elsewhere():
    holds(both, {"M": 5, "K": 6}, {"n": 2})
    holds(both, {"M": 70, "K": 300}, {"n": 0})
