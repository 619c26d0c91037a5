"""Seed 20024 of `intent-np fuzz`, compile: E702."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize_region1(values):
    return I.reduce.max(values, axis=0)


@intent.fn
def combine_region1(a, b):
    return 1


@intent.fn
def apply_region1(summary, state):
    return 1


@intent.fn
def emit_region1(values, state):
    return I.maximum(values, state)


@intent.kernel
def k(
    x2: I.In[I.i64, ("K",)],
    z3: I.InOut[I.i64, ("N + 1",)],
    x8: I.In[I.i32, (8,)],
    x9: I.In[I.i32, ("K",)],
    x10: I.In[I.i32, (3, "K")],
    x11: I.In[I.i32, ()],
):
    K = x2.shape[0]
    acc2 = x8[I.assume_in_bounds(x9[I.domain(0, K)] & 7, x8)]
    for i2 in I.domain(0, 3):
        acc2 = x10[i2, :]
    t5, _ = I.region_scan(
        acc2,
        axis=0,
        summarize=summarize_region1,
        combine=combine_region1,
        identity=-2147483648,
        initial_state=x11[()],
        apply=apply_region1,
        emit=emit_region1,
    )
    I.atomic.min(
        z3, index=I.cast(t5, I.index) % (z3.shape[0] - 1 + 1), value=I.cast(I.indices(I.domain(0, 2 * K, 2)), I.i64)
    )


def test_it_holds():
    arrays = {
        "x2": np.array([], np.int64),
        "z3": np.array([0], np.int64),
        "x8": np.array([0, 0, 0, 0, 0, 0, 0, 0], np.int32),
        "x9": np.array([], np.int32),
        "x10": np.array([], np.int32).reshape((3, 0)),
        "x11": np.array([0], np.int32).reshape(()),
    }
    holds(k, {"K": 0, "N": 0}, arrays)
