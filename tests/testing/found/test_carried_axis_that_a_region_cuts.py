"""Seed 1259 of `intent-np fuzz`, compile: E702."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize_region1(values, s):
    return I.reduce.sum(values, axis=1)


@intent.fn
def combine_region1(a, b):
    return a


@intent.kernel
def k(
    z1: I.InOut[I.f32, ("N + 1",)],
    x1: I.In[I.f32, ("N + 1", "M")],
    x2: I.In[I.bool, ()],
    x3: I.In[I.f32, ("K", 1, "N + 3")],
    z2: I.InOut[I.f32, ("K", "N")],
):
    N = z2.shape[1]
    acc1 = x1[:, I.domain(0, x1.shape[1])]
    for _i1 in range(0):
        acc1 = acc1
    t1, _ = I.arg_reduce.max(x3[:, :, I.domain(0, N + 2)[1 : N + 2]], axis=0)
    I.atomic.add(
        z1,
        index=I.cast(I.reduce.prod(acc1, axis=1), I.index) % (N + 1),
        value=I.select(
            x2[()],
            t1,
            I.region_fold(
                x1[:, :], axis=1, summarize=summarize_region1, combine=combine_region1, identity=0, operands=0
            ),
        )[0, :],
    )


def test_it_holds():
    arrays = {
        "z1": np.array([0.0], np.float64),
        "x1": np.array([], np.float64).reshape((1, 0)),
        "x2": np.array([False], np.bool_).reshape(()),
        "x3": np.array([], np.float64).reshape((0, 1, 3)),
        "z2": np.array([], np.float64).reshape((0, 0)),
    }
    holds(k, {"N": 0, "M": 0, "K": 0}, arrays)
