"""Seed 1036 of `intent-np fuzz`, compile: KeyError in lower_to_coordinates lower_buffers.Buffers.place."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z1: I.InOut[I.f32, ("N + 1",)], x1: I.In[I.f32, (0,)]):
    acc1 = True
    for _i1 in range(0):
        acc1 = True
    if acc1:
        buffer1 = I.buffer(1, I.f32)
        buffer1[...] = 0
        t1 = buffer1[:]
    else:
        t1 = I.full(1, 0, I.f32)
    I.atomic.add(z1, index=I.clamp(I.cast(x1[:], I.i32), 0, 0), value=t1)


def test_it_holds():
    holds(k)
