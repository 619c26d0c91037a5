"""Seed 500031 of `intent-np fuzz`, device: lanes that are not loaded had the largest number for an infinity.

Triton converts the `other` of a load by the instruction that saturates."""

import re

import intent_np as intent
import intent_np.language as I


@intent.kernel
def k(x1: I.In[I.f8e5m2, ("N + 1",)], y1: I.Out[I.f8e5m2, ("N + 1",)]):
    y1[:] = I.cummin(x1[:], inclusive=False)


def test_infinities_are_converted_by_a_function_that_keeps_them():
    source = intent.compile(k, target="sm_90").source
    others = re.findall(r"other=(.*)", source)
    assert others
    assert all(o.startswith("to_float8e5(") for o in others)
