"""Triton ends on a loop of which it finds that no iteration begins, so there is none."""

from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine


@intent.kernel
def by_the_start(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    t = x[:]
    i = I.cast(0, I.i32)
    while i < 0:
        i += 1
        t = t + I.reduce.sum(t, axis=0)
    y[:] = t


@intent.kernel
def by_the_range(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    t = x[:]
    for j in range(1):
        i = I.cast(0, I.i32)
        while i < 5 and j % 2 == 1:
            i += 1
            t = t + I.reduce.sum(t, axis=0)
    y[:] = t


@pytest.mark.parametrize("kernel", [by_the_start, by_the_range], ids=lambda k: k.name)
def test_it_compiles_and_holds(kernel: Any) -> None:
    outcome = examine(kernel, recipes(kernel, count=3), ("reference", "machine", "text", "cubin"))
    assert outcome.failure is None, f"{outcome.failure}"
    assert outcome.calls
