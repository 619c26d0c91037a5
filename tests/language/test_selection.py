"""`a if c else b` and `I.select(c, a, b)` are one selection: what they guard, and what they do not."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from tests.sources import executed


@intent.kernel
def by_expression(x: I.In[I.f32, ("M",)], at: I.In[I.index, ("N",)], y: I.Out[I.f32, ("N",)], z: I.InOut[I.i32, (1,)]):
    M = x.shape[0]
    for i in I.parallel(I.domain(0, at.shape[0])):
        p = at[i]
        y[i] = x[p] if p >= 0 and p < M else -1.0
        _ = I.atomic.add(z, index=0, value=1) if p == 0 else 0


@intent.kernel
def by_call(x: I.In[I.f32, ("M",)], at: I.In[I.index, ("N",)], y: I.Out[I.f32, ("N",)], z: I.InOut[I.i32, (1,)]):
    M = x.shape[0]
    for i in I.parallel(I.domain(0, at.shape[0])):
        p = at[i]
        y[i] = I.select(p >= 0 and p < M, otherwise=-1.0, then=x[p])
        _ = I.select(p == 0, I.atomic.add(z, index=0, value=1), 0)


def test_a_scalar_condition_guards_both_sides_and_what_they_do(run):
    x, at = np.arange(4, dtype=np.float32), np.array([0, 3, 4, -1, 2**40, 0])
    done = []
    for kernel in (by_expression, by_call):
        y, z = np.zeros(6, np.float32), np.zeros(1, np.int32)
        run(kernel, x=x, at=at, y=y, z=z)
        assert y.tolist() == [0, 3, -1, -1, -1, 0]
        assert z.tolist() == [2]
        done.append((y.tolist(), z.tolist()))
    assert done[0] == done[1]


@pytest.mark.parametrize("call", [False, True])
def test_a_tensor_of_conditions_guards_no_read(told, call):
    @intent.kernel
    def expression(x: I.In[I.f32, ("M",)], at: I.In[I.index, ("N",)], y: I.Out[I.f32, ("N",)]):
        p = at[:]
        y[:] = x[p] if p < x.shape[0] else 0.0

    @intent.kernel
    def function(x: I.In[I.f32, ("M",)], at: I.In[I.index, ("N",)], y: I.Out[I.f32, ("N",)]):
        p = at[:]
        y[:] = I.select(p < x.shape[0], x[p], 0.0)

    told(function if call else expression, "E301", "I.gather(..., valid=, fill=)")


def test_the_condition_itself_is_evaluated_once(run):
    @intent.kernel
    def k(c: I.InOut[I.i32, (1,)], y: I.Out[I.i32, (3,)]):
        for i in I.domain(0, 3):
            y[i] = I.select(I.atomic.add(c, index=0, value=1) != 1, 5, 7)

    c, y = np.zeros(1, np.int32), np.zeros(3, np.int32)
    run(k, c=c, y=y)
    assert (c[0], y.tolist()) == (3, [5, 7, 5])


def test_a_known_condition_still_gives_a_selection_the_shape_of_both(run):
    @intent.kernel
    def k(x: I.In[I.i32, (3,)], y: I.Out[I.i32, (3,)]):
        y[:] = I.select(True, 4, x[:])

    y = np.zeros(3, np.int32)
    run(k, x=np.zeros(3, np.int32), y=y)
    assert y.tolist() == [4, 4, 4]


@pytest.mark.parametrize("call", ["I.select(True, 1)", "I.select(True, 1, 2, 3)", "I.select(True, 1, then=2)"])
def test_operands_that_do_not_fit_are_told(told, call):
    scope: dict = {"I": I, "intent": intent}
    executed(f"@intent.kernel\ndef k(y: I.Out[I.i32, (1,)]):\n    y[0] = {call}\n", call, scope)
    told(scope["k"], "E113", "I.select")
