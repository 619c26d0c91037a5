"""A kernel that no other target can run yet compiles for the reference, as its error advises."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I


@intent.kernel
def turned_around(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    kept = I.buffer((N,), I.f32)
    for i in I.domain(0, N):
        kept[N - 1 - i] = x[i]
    y[:] = kept[:]


def test_the_reference_needs_no_form_in_coordinates():
    x, y = np.arange(5, dtype=np.float32), np.full(5, np.nan, np.float32)
    intent.compile(turned_around, target="reference")(x, y)
    np.testing.assert_array_equal(y, x[::-1])


def test_other_targets_say_so():
    with pytest.raises(intent.CompileError, match="by the reference alone"):
        intent.compile(turned_around, target="cpu")
