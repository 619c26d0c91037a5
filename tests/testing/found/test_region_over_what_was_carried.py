"""A region over a carried tensor is asked for behind what has replaced it: its part is of no axis of a statement."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine


@intent.fn
def largest(values, told):
    return I.reduce.max(I.minimum(values, told), axis=0)


@intent.fn
def larger(a, b):
    return I.maximum(a, b)


@intent.kernel
def k(
    x: I.In[I.f32, ("N + 1",)], first: I.In[I.f32, ("K", 1)], more: I.In[I.f32, ("K", "K", "3 * N")],
    s: I.In[I.f32, ()], offsets: I.Out[I.i32, ("K + 1",)], y: I.Out[I.f32, ("K", "N + 1")],
):  # fmt: skip
    K, N = first.shape[0], x.shape[0] - 1
    offsets[:] = 0
    for p in I.parallel(I.domain(0, K)):
        v, a, b = x[:], I.abs(s[()]), I.maximum(s[()], 0.5)
        u = I.concat((first[p, :], more[p, p, I.domain(0, 3 * N, 3)]), axis=0)
        for i in I.domain(0, 1):
            b = I.region_fold(v, axis=0, summarize=largest, combine=larger, identity=float("-inf"), operands=(a,))
            if a == b:
                v = u if i % 2 == 1 else I.maximum(v, u)
            else:
                u = I.flip(I.buffer((N + 1,), I.f32, init=u)[:], 0)
        for _ in I.ragged(I.domain(0, K), I.domain(0, 1), offsets)[p]:
            v = I.select(a > b, v, v)
        y[p, :] = v


def test_it_holds() -> None:
    outcome = examine(k, recipes(k, count=6), ("reference", "machine", "text"))
    assert outcome.failure is None, f"{outcome.failure}"
    assert outcome.calls
