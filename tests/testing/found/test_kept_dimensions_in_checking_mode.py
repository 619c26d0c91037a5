"""Checking mode keeps a reduced dimension of members that no operator takes past the range."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import check_kernel


@intent.kernel
def largest(x: I.In[I.i32, ("M", "N", "K")], y: I.Out[I.i32, ("M", "N", 1)], z: I.Out[I.i32, ("M", 1, "K")]):
    y[:, :, :] = I.reduce.max(x[:, :, :], axis=2, keepdims=True)
    z[:, :, :] = I.reduce.max(x[:, :, :], axis=1, keepdims=True)


def test_a_reduced_dimension_is_kept() -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    given = {"x": x, "y": np.zeros((2, 3, 1), np.int32), "z": np.zeros((2, 1, 4), np.int32)}
    checked = check_kernel(largest, given)
    assert checked.findings == ()
    assert (given["y"] == x.max(2, keepdims=True)).all()
    assert (given["z"] == x.max(1, keepdims=True)).all()
