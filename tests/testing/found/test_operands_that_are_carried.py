"""Seed 1100138 of `intent-np fuzz`, cubin: half a minute in ptxas for a product of few members, an operand of which are
places of maxima: each thread of two warps carried 768 registers of them."""

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90


@intent.kernel
def k(x: I.In[I.f32, ("N", "K")], y: I.In[I.f32, ("N", "K", "N")], z: I.Out[I.f32, ("N", "N")]):
    _, places = I.arg_reduce.max(y[:, :, :], axis=0)
    z[:, :] = I.matmul(x[:, :], I.cast(places, I.f32), acc_dtype=I.f32)


def test_there_are_threads_for_what_is_carried():
    compilation = Compilation(k, SM_90, {}, CompileOptions())
    launch, _ = compilation.launch(generic_class(compilation.plan))
    assert launch.function.num_warps == 16
