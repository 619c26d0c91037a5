"""What a region scan of floats leaves is unknown in its own shape: a scalar, beside outputs along the axis."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def largest(values):
    return I.reduce.max(values, axis=0)


@intent.fn
def larger(a, b):
    return I.maximum(a, b)


@intent.fn
def running(values, state):
    return I.maximum(I.cummax(values, axis=0), state)


@intent.kernel
def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]):
    y[:], z[()] = I.region_scan(
        x[:], axis=0, summarize=largest, combine=larger, identity=float("-inf"), initial_state=0.3, apply=larger,
        emit=running,
    )  # fmt: skip


def test_it_holds() -> None:
    for n in (0, 1, 70):
        holds(k, {"N": n})
