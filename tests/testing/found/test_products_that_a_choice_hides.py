"""A product that is chosen may still be absorbed by the sum behind the choice: what is expected allows for both."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import expected


@intent.kernel
def chosen(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.select(x[:] > -100.0, x[:] * 0.1, 0.0) - z[:]


def test_a_fused_product_is_allowed():
    x = np.arange(1, 200, dtype="f4")
    scale = np.float32(0.1)
    rounded = x * scale
    fused = (x.astype("f8") * np.float64(scale) - rounded).astype("f4")  # what is left of a product is its rounding
    assert fused.any()
    wanted = expected(chosen, {"x": x, "z": rounded, "y": np.full_like(x, np.nan)})["y"]
    for made in (fused, rounded - rounded):
        assert (np.abs(made - wanted.value) <= wanted.bound).all()
