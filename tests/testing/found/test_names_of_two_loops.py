"""Seed 1100156 of `intent-np fuzz`, cubin: RecursionError; a bound has one name in each of two loops, and was followed
from one into the other and back."""

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import classify
from intent_np.target import SM_90
from intent_np.testing.checked import Recipe, made


@intent.fn
def combine1(a, b):
    return a * b


@intent.kernel
def k(
    x4: I.In[I.f8e4m3fn, ("2 * N + 2",)],
    x5: I.In[I.f8e4m3fn, ("N + 1",)],
    z1: I.InOut[I.f8e4m3fn, ("N + 1", 3)],
    x6: I.In[I.i64, ("K", "N + 4")],
    z2: I.InOut[I.index, (6,)],
):
    N = x5.shape[0] - 1
    low = I.sort(I.minimum(x4[I.domain(0, 2 * N + 2, 2)], x5[:]), axis=0)
    sums = I.reduce.sum(I.full((N + 1, N + 1), -1.0, I.f8e4m3fn), axis=1, acc_dtype=I.f8e4m3fn)
    z1[:, 0] = I.cumprod(I.join(low, I.flip(sums, 0))[..., 1], axis=0, inclusive=False, reverse=True)
    t4, _ = I.topk(I.bitcast(x6[:, 2 : N + 4], I.index), 2, axis=1)
    z2[::2] = I.pad(I.reduce(t4, axis=0, identity=1, combine=combine1), ((0, 1),), constant_values=-7)


def test_it_is_lowered():
    made_of = Compilation(k, SM_90, {}, CompileOptions(check=True))
    given = made(k, Recipe({"K": 0, "N": 0}, "contiguous", "normal", 0))
    launch, _ = made_of.launch(classify(made_of.plan, bind(made_of.plan, tuple(given.values())).facts()))
    assert launch.function.parameters
