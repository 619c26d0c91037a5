"""Seed 1209 of `intent-np fuzz`, compile: E702."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def summarize_region1(values):
    return I.record(f0=I.reduce.sum(values), f1=0)


@intent.fn
def combine_region1(a, b):
    return I.record(f0=0, f1=0)


@intent.kernel
def k(x3: I.In[I.f32, ("M",)], z1: I.InOut[I.f32, ("M",)]):
    M = x3.shape[0]
    for p1 in I.parallel(I.domain(0, M)):
        z1[p1] = 0
    for i3 in I.domain(0, M):
        z1[i3] = I.region_fold(
            I.zeros(0, I.f32),
            axis=0,
            summarize=summarize_region1,
            combine=combine_region1,
            identity=I.record(f0=0, f1=0),
        ).f0 + (1 if i3 > 0 else 0)


def test_it_holds():
    holds(k)
