"""Some lanes leave a loop; the others carry on what a buffer of the loop holds."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I


@intent.kernel
def largest(x: I.In[I.u32, ("M", "N")], leaves: I.In[I.bool, ("M",)], y: I.Out[I.u32, ("M",)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        row = x[0, :]
        i = I.cast(0, I.i32)
        while i < 3:
            i += 1
            if leaves[m]:
                break
            kept = I.buffer((x.shape[1],), I.u32, init=0)
            kept[:] = x[m, :] + I.cast(i, I.u32)
            row = kept[:]
        y[m] = I.reduce.max(row)


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("check", [False, True])
def test_lanes_that_left_keep_what_they_had(target, check) -> None:
    x = np.arange(15, dtype=np.uint32).reshape(3, 5)
    y = np.zeros(3, np.uint32)
    options = intent.CompileOptions(check=check and target == "reference")
    intent.compile(largest, target=target, options=options)(x, np.array([False, True, False]), y)
    assert y.tolist() == [7, 4, 17]
