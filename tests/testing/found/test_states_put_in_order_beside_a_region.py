"""A state in memory that is put in order again goes to places that it decides on itself: computed aside too."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine


@intent.fn
def summarize(values):
    return I.reduce.sum(values, axis=0, acc_dtype=I.index)


@intent.fn
def combine(a, b):
    return a + b


@intent.fn
def apply(summary, state):
    return state + summary


@intent.fn
def emit(values, state):
    return I.cumsum(values, axis=0, acc_dtype=I.index, inclusive=False) + state


@intent.kernel
def k(x: I.In[I.index, ("K",)], y: I.Out[I.index, ("K",)], z: I.InOut[I.index, (5,)], N: I.u8):
    t = x[:]
    for _ in I.domain(0, I.cast(N, I.index)):
        t = I.sort(t, axis=0)
    s, _ = I.region_scan(
        t, axis=0, summarize=summarize, combine=combine, identity=0, initial_state=0, apply=apply, emit=emit
    )
    y[:] = s
    I.scatter_reduce(z, index=s % 5, value=s, combine=I.maximum)


def test_it_holds() -> None:
    outcome = examine(k, recipes(k, count=6), ("reference", "machine", "text"))
    assert outcome.failure is None, f"{outcome.failure}"
    assert outcome.calls
