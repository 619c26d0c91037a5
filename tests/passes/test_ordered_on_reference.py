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
def both_ways(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cumsum(x[:], axis=0) + I.cumsum(x[:], axis=0, reverse=True)


def test_other_targets_say_so():
    with pytest.raises(intent.CompileError, match="by the reference alone"):
        intent.compile(both_ways, target="cpu")
