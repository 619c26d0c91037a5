"""A cast to a format of more digits and fewer exponents rounds, or passes its range, in what is expected too."""

import ml_dtypes
import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import expected


@intent.kernel
def narrow(x: I.In[I.bf16, ("N",)], y: I.Out[I.bf16, ("N",)]):
    y[:] = I.fma(2.0, x[:], I.cast(I.cast(x[:], I.f16), I.bf16))


@intent.kernel
def eight(x: I.In[I.f8e5m2, ("N",)], y: I.Out[I.f16, ("N",)]):
    y[:] = I.cast(I.cast(x[:], I.f8e4m3fn), I.f16)


def test_subnormals_underflow() -> None:
    x = np.array([-(2.0**-133), 1, 2.0**100], ml_dtypes.bfloat16)
    y = expected(narrow, {"x": x, "y": np.zeros(3, x.dtype)})["y"]
    assert y.value.tolist() == [-(2.0**-132), 3, np.inf]
    assert not y.bound.any()


def test_what_passes_the_range_is_not_what_it_was() -> None:
    x = np.array([2.0**-16, 1.5, 57344], ml_dtypes.float8_e5m2)
    y = expected(eight, {"x": x, "y": np.zeros(3, "f2")})["y"]
    assert y.value[:2].tolist() == [0, 1.5]
    assert np.isnan(y.value[2]) or np.isinf(y.bound[2])
