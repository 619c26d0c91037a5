"""What underflows to the zero of a narrow float has the sign of the value, whichever way an approximation may err."""

import ml_dtypes
import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import expected


@intent.kernel
def reciprocal_root(x: I.In[I.f8e5m2, ("N",)], power: I.Out[I.f8e5m2, ("N",)], root: I.Out[I.f8e5m2, ("N",)]):
    power[:] = I.exp2(x[:])
    root[:] = I.rsqrt(I.exp2(x[:]))


def test_the_zero_is_positive():
    dtype = ml_dtypes.float8_e5m2
    x = np.array([0.0, -28672.0], dtype)
    given = {"x": x, "power": np.zeros(2, dtype), "root": np.zeros(2, dtype)}
    wanted = expected(reciprocal_root, given)
    assert not np.signbit(wanted["power"].value).any()
    np.testing.assert_array_equal(wanted["root"].value, [1.0, np.inf])
    intent.compile(reciprocal_root, target="reference")(*given.values())
    np.testing.assert_array_equal(given["root"].astype("f8"), [1.0, np.inf])
