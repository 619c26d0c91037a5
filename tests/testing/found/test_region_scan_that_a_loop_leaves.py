"""A region scan in what an ordered loop carries is performed in each iteration."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def total(values):
    return I.reduce.sum(values, axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def running(values, state):
    return I.cumsum(values, axis=0) + state


@intent.kernel
def left(x: I.In[I.i32, ("N", "K")], y: I.Out[I.i32, ("K",)]):
    made = I.full((x.shape[1],), 1, I.i32)
    for i in I.domain(0, x.shape[0]):
        made, _ = I.region_scan(
            x[i, :], axis=0, summarize=total, combine=plus, identity=0, initial_state=0, apply=plus, emit=running
        )
    y[:] = made


@intent.kernel
def never(x: I.In[I.i32, ("N", 5)], w: I.In[I.i32, ("K", "N")], y: I.Out[I.i32, ("K",)]):
    made = I.full((w.shape[0],), 1, I.i32)
    for i in range(0):
        made, _ = I.region_scan(
            I.matvec(w[:, :], x[:, i], acc_dtype=I.i32),
            axis=0,
            summarize=total,
            combine=plus,
            identity=0,
            initial_state=0,
            apply=plus,
            emit=running,
        )
    y[:] = made


def test_it_is_performed() -> None:
    for n in (0, 1, 3):
        holds(left, {"N": n, "K": 70})


def test_or_never() -> None:
    holds(never, {"N": 1, "K": 5})
