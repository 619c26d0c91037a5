"""A kernel that no other target can run yet compiles for the reference, as its error advises."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing import arguments
from kernels import quantized

(CASE,) = (c for c in quantized.CASES if c.name == "sparse_2_4_matmul")


def test_the_reference_needs_no_form_in_coordinates():
    given = arguments(CASE, CASE.small[-1])
    intent.compile(CASE.kernel, target="reference", constexprs=CASE.constexprs)(*given.values())
    (output,) = CASE.outputs
    assert np.isfinite(given[output]).any()


@intent.kernel
def as_many_as_counted(n: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, n.shape[0])):
        b = I.buffer((I.cast(n[i], I.index),), I.i32, init=1)
        for j in range(1, b.shape[0]):
            b[j] = b[j] + b[j - 1]
        y[i] = I.reduce.sum(b[:], axis=0)


def test_other_targets_say_so():
    with pytest.raises(intent.CompileError, match="by the reference alone"):
        intent.compile(as_many_as_counted, target="cpu")
