"""Seed 1241 of `intent-np fuzz`, compile: KeyError in syncs._Syncs._loads."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(z1: I.InOut[I.f32, ("K", "M")], z3: I.InOut[I.f32, ("M",)], x7: I.In[I.f32, ("N", 0, "N + 1")]):
    M = z1.shape[1]
    N = x7.shape[0]
    t2, _ = I.arg_reduce.min(I.transpose(x7[:, :, I.domain(0, N + 1)], (0, 2, 1)), axis=2)
    I.scatter_unique(
        z3,
        index=I.domain(0, M),
        value=I.matvec(
            I.sort(I.buffer((M, N), I.f32, init=0)[:, :]),
            I.contract(t2, I.full((N, N + 1), 0.0, I.f32), reduce=((1, 1),), batch=((0, 0),), acc_dtype=I.f32),
            acc_dtype=I.f32,
        ),
    )


def test_it_holds():
    holds(k)
