"""What random kernels have found, each as the smallest kernel of its kind: every pass keeps what the reference says."""

# ruff: noqa: UP037
from __future__ import annotations

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def stepped_beside_plain(z: I.InOut[I.f32, ("N + 1", "2 * N + 2")], limit: I.f32):
    """Two domains of one number of members: as axes they would be one, and the points a diagonal."""
    N = z.shape[0] - 1
    for i in I.parallel(I.domain(0, N + 1)):
        for j in I.parallel(I.domain(0, 2 * N + 2, 2)):
            z[i, j] = I.maximum(z[i, j], limit)


@intent.kernel
def stepped_with_plain(z: I.Out[I.i32, (3, 2)]):
    for i, j in I.parallel((I.domain(0, 3, 2), I.domain(0, 2))):
        z[i, j] = 1
    for j in I.parallel(I.domain(0, 2)):
        z[1, j] = 2


@intent.fn
def combined(a, b):
    return a + b


@intent.kernel
def counted(z: I.InOut[I.f32, (1,)]):
    for _i, _j in I.parallel((I.domain(0, 3, 2), I.domain(0, 2))):
        I.scatter_reduce(z, index=0, value=1.0, combine=combined)


def test_domains_with_as_many_members_have_axes_of_their_own() -> None:
    holds(stepped_beside_plain, {"N": 2}, {"z": -1.0 - np.arange(18).reshape(3, 6), "limit": -5.0})
    holds(stepped_with_plain, {})
    holds(counted, {}, {"z": np.zeros(1)})


@intent.kernel
def never(x: I.In[I.i32, ("K",)], z: I.InOut[I.u64, (5,)]):
    held, valid = I.buffer(x.shape, I.i32), I.buffer(1, I.bool)
    held[:] = 0
    valid[...] = I.full(1, False, I.bool)
    I.scatter_reduce(z, index=I.clamp(held[:], 0, 4), value=1, combine=combined, valid=valid[:])


def test_a_load_whose_condition_a_store_makes_false_is_its_fill() -> None:
    holds(never, {"K": 3}, {"x": np.zeros(3), "z": np.arange(5)})


@intent.kernel
def extremes(
    x: I.In[I.f8e5m2, ("M", "N")],
    w: I.In[I.f8e4m3fn, ("M", "N")],
    y: I.Out[I.f8e5m2, ("M",)],
    z: I.Out[I.f8e4m3fn, ("M",)],
):
    y[:] = I.reduce.min(x[:, :], axis=1)
    z[:] = I.reduce.max(w[:, :], axis=1)


def test_extremes_of_narrow_floats_reach_a_cubin() -> None:
    """Triton's compiler aborts on a reduction of floats of 8 bits."""
    for sizes in ({"M": 3, "N": 33}, {"M": 2, "N": 1}):
        holds(extremes, sizes, values="special", oracles=("machine", "text", "cubin"))
