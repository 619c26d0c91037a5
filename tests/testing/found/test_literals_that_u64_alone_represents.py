"""Found by hand: a literal from 2**63 beside a u64 was E203, as it does not fit i64, which it was before it was met."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def pointwise(x: I.In[I.u64, ("N",)], y: I.Out[I.u64, ("N",)], z: I.Out[I.bool, ("N",)]):
    y[:] = I.maximum(x[:] ^ 9223372036854775808, 18446744073709551614) + x[:] // 18446744073709551615
    z[:] = x[:] < 9223372036854775808


@intent.kernel
def chosen(x: I.In[I.u64, ("N",)], y: I.Out[I.u64, ("N",)], z: I.Out[I.bool, ("N",)]):
    flags = x[:] > 3
    y[:] = I.select(flags, 9223372036854775808, 5) + x[:]
    z[:] = I.select(flags, x[:], 18446744073709551615) == 18446744073709551615


@intent.kernel
def carried(x: I.In[I.u64, ("N",)], y: I.Out[I.u64, ("N",)], z: I.Out[I.bool, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        least = 18446744073709551615
        for j in I.domain(0, x.shape[0]):
            least = I.minimum(least, x[j] | 9223372036854775808)
        y[i] = least
        z[i] = least > 9223372036854775808


@intent.kernel
def above(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)]):
    y[:] = x[:] + 9223372036854775808


@pytest.mark.parametrize("kernel", [pointwise, chosen, carried])
def test_it_holds(kernel):
    x = np.array([0, 5, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    holds(kernel, {"N": 5}, {"x": x}, oracles=("reference", "machine", "text", "triton", "cubin"))


def test_the_numbers_are_those_of_numpy():
    x = np.array([0, 5, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    y, z = np.zeros(5, np.uint64), np.zeros(5, np.bool_)
    intent.compile(pointwise, target="cpu")(x, y, z)
    assert y.tolist() == [2**64 - 2, 2**64 - 2, 2**64 - 1, 2**64 - 2, 2**64 - 1]
    assert z.tolist() == [True, True, True, False, False]


def test_what_no_i64_represents_stays_an_error_beside_one():
    with pytest.raises(intent.CompileError) as caught:
        intent.compile(above, target="reference")
    assert caught.value.code == "E203"
