"""Seeds 520140 and 520507 of `intent-np fuzz`, device: TypeError where all members of a histogram have one number."""

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def constant(y: I.Out[I.u32, ("N + 1",)]):
    y[:] = I.histogram(I.full((5,), 0, I.u8), bins=y.shape[0], count_dtype=I.u32)


@intent.kernel
def scalar(s: I.index, x: I.In[I.bool, ("N",)], y: I.Out[I.i32, (16,)]):
    y[:] = I.histogram(I.full(x.shape, s, I.index), bins=16, valid=x[:], count_dtype=I.i32)


@intent.kernel
def rows(x: I.In[I.i64, ("N",)], p: I.In[I.bool, ()], y: I.Out[I.u8, ("N", 17)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i, :] = I.histogram(
            I.full((3, 4), x[i], I.i64), bins=17, valid=I.full((3, 4), p[()], I.bool), count_dtype=I.u8
        )


@pytest.mark.parametrize("kernel", [constant, scalar, rows])
def test_it_holds(kernel):
    holds(kernel, {"N": 5}, oracles=("reference", "machine", "triton", "cubin"))
