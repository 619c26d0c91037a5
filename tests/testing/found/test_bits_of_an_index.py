"""The bits of an index are 64, also where it is held in 32."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine


@intent.kernel
def bits(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], z: I.Out[I.u64, ("N",)]):
    n = I.indices(I.domain(0, x.shape[0]))
    y[:] = I.bitcast(n, I.i64) + x[:]
    z[:] = I.bitcast(n - 5, I.u64)


def test_it_holds() -> None:
    outcome = examine(bits, recipes(bits, count=3), ("reference", "machine", "cubin"), each_pass=True)
    assert outcome.failure is None
    assert outcome.status == "ok"
