"""Seed 30144 of random kernels, compile: E702 where the places of coordinates in order hang on a comparison of them."""

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import classify
from intent_np.target import SM_90
from intent_np.testing import arguments


@intent.kernel
def k(z: I.InOut[I.f32, ("N + 1",)], x: I.In[I.i64, (5, "K")], s: I.u64):
    K, N = x.shape[1], z.shape[0] - 1
    ordered = I.argsort(I.cast(I.indices(I.domain(0, 3 * K, 3)), I.i64), axis=0)
    places = I.argsort(3 * I.reduce.sum(x[:, :], axis=0), axis=0, descending=True)
    I.atomic.add(z, index=(places % (N + 1),), value=I.random.uniform(s, ordered))


def test_it_compiles():
    compilation = Compilation(k, SM_90, {}, intent.CompileOptions(check=True))
    given = arguments(k, {"N": 5, "K": 40})
    launch, _ = compilation.launch(classify(compilation.plan, bind(compilation.plan, tuple(given.values())).facts()))
    assert launch.function
