"""Seed 1501598 of `intent-np fuzz`, cubin: E605, a fragment of 64-bit places whose axes are all carried: held."""

import math

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.terms.core import walk
from intent_np.terms.triton import Block


@intent.kernel
def k(y: I.In[I.i64, (256,)], z: I.InOut[I.bf16, ("N",)]):
    (N,) = z.shape
    columns = I.cast(I.indices(I.domain(0, 128)), I.i64)
    for i in I.domain(0, 3):
        columns = columns * y[i]
    rows = y[:]
    for i in I.domain(0, 3):
        rows = rows * y[i]
    I.atomic.add(z, index=I.cast(rows[:, None] ^ columns[None, :], I.index) % N, value=I.cast(columns, I.bf16))


def test_another_layout_of_any_fragment_has_the_shared_memory():
    compilation = Compilation(k, SM_90, {}, CompileOptions())
    launch, _ = compilation.launch(generic_class(compilation.plan))
    blocks = {t.type for t in walk(launch.function) if isinstance(t.type, Block)}
    sizes = [math.prod(getattr(n, "value", n) for n in b.shape) * b.dtype.bytes for b in blocks]
    assert 0 < max(sizes) <= SM_90.shared_per_block
