"""A value in order of which nothing is asked for at any place."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def in_blocks(x: I.In[I.f32, ("N", 258)], w: I.In[I.u8, (1, 144)], y: I.Out[I.f32, ("M", "N")]):
    part = x[:, I.domain(0, 258)[1:257]]
    y[:, :] = I.quantized_dot(w[None, :, :], I.quantize(I.sort(part, axis=1), format=I.quant.q8_k))


def test_it_holds():
    holds(in_blocks, oracles=("reference", "machine"))
