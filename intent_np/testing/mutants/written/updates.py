"""Kernels for mutants of updates."""

# ruff: noqa: D103, F821, UP037  (extents are names in quotes)
# mypy: ignore-errors

from __future__ import annotations

import intent_np as intent
import intent_np.language as I

from .kept import written


@written()
@intent.kernel
def exchanged(x: I.In[I.f16, ("N",)], y: I.InOut[I.f16, ("N",)], z: I.Out[I.f16, ("N",)], w: I.InOut[I.f16, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        z[i] = I.atomic.exchange(y, index=(i,), value=x[i])
        I.atomic.store(w, index=(i,), value=x[i] + z[i])


@written()
@intent.kernel
def largest_of_bins(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, (4,)], z: I.InOut[I.i16, (4,)]):
    i = I.indices(I.domain(0, x.shape[0]))
    I.atomic.max(y, index=(i % 4,), value=x[:])
    I.atomic.add(z, index=(i % 4,), value=I.cast(i, I.i16))


@written()
@intent.kernel
def carried(x: I.In[I.i32, ("N",)], n: I.In[I.u8, ()], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    a, b = x[:], x[:] * 2
    for k in range(I.cast(n[()] % 5, I.index)):
        a, b = b + I.cast(k, I.i32), a
    y[:] = a
    z[:] = b
