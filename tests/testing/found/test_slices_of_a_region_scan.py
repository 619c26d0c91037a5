"""Seed 20015 of `intent-np fuzz`, compile: KeyError in lower_to_coordinates lower_to_coordinates._Lowering._element."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize_region1(values):
    return I.reduce.sum(values, axis=0, acc_dtype=I.index)


@intent.fn
def combine_region1(a, b):
    return a + b


@intent.fn
def apply_region1(summary, state):
    return state + summary


@intent.fn
def emit_region1(values, state):
    return I.cumsum(values, axis=0, acc_dtype=I.index, inclusive=False) + state


@intent.kernel
def k(x1: I.In[I.i16, (3, "N + 1")], x2: I.In[I.index, (16,)], x3: I.In[I.index, ()], y1: I.Out[I.f32, (16,)]):
    t2 = x2[:]
    t4, _ = I.region_scan(
        t2 >> (x3[()] & 63),
        axis=0,
        summarize=summarize_region1,
        combine=combine_region1,
        identity=0,
        initial_state=x3[()],
        apply=apply_region1,
        emit=emit_region1,
    )
    y1[:] = I.gather(
        I.cumsum(I.cast(x1[-1, :], I.f32), axis=0, reverse=True), (t4,), valid=0 <= t4 < x1.shape[1] - 1 + 1, fill=0.25
    )


def test_it_holds():
    holds(k)
