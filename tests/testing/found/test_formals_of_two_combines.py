"""Seed 600999 of `intent-np fuzz`, machine: different in lower_to_coordinates.

The second component of one combine's right side has the place of the first one of another's, with three components."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def pair(values):
    return I.reduce.sum(values, axis=0, acc_dtype=I.i32), I.reduce.max(values, axis=0)


@intent.fn
def join_pairs(a, b):
    return a[0] + b[0], I.maximum(a[1], b[1])


@intent.fn
def triple(values):
    return I.reduce.max(values, axis=0), I.reduce.sum(values, axis=0, acc_dtype=I.i32), 0


@intent.fn
def join_triples(a, b):
    return I.maximum(a[0], b[0]), a[1] + b[1], a[2] + b[2]


@intent.kernel
def k(x: I.In[I.i32, ("M",)], z: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()]):
    largest, _, _ = I.region_fold(z[:], axis=0, summarize=triple, combine=join_triples, identity=(-(2**31), 0, 0))
    total, _ = I.region_fold(x[:], axis=0, summarize=pair, combine=join_pairs, identity=(0, -(2**31)))
    y[()] = total - largest


def test_it_holds():
    holds(k, {"M": 7, "N": 17}, values="integers", seed=1)
