"""Components of 8-bit floats that are reduced or scanned beside others: Triton's compiler ends on them."""

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine
from intent_np.testing.triton_interpreter import unavailable

ORACLES = ("machine", "cubin", *(() if unavailable() else ("triton",)))


@intent.fn
def both(a, b):
    return a[0] + b[0], I.maximum(a[1], b[1])


@intent.kernel
def placed(x: I.In[I.f8e5m2, ("M", "N")], y: I.Out[I.f8e5m2, ("M",)], z: I.Out[I.index, ("M",)]):
    y[:], z[:] = I.arg_reduce.min(x[:, :], axis=1)


@intent.kernel
def summed(
    x: I.In[I.f8e4m3fn, ("M", "N")], w: I.In[I.i8, ("M", "N")], y: I.Out[I.f8e4m3fn, ("M", "N")],
    z: I.Out[I.i8, ("M", "N")],
):  # fmt: skip
    parts = (x[:, :], w[:, :])
    y[:, :], z[:, :] = I.scan(parts, axis=1, identity=(0.0, -128), combine=both, inclusive=True)


@intent.fn
def larger(a, b):
    chosen = b.value > a.value or (b.value == a.value and b.place < a.place)
    return I.record(value=b.value if chosen else a.value, place=b.place if chosen else a.place)


@intent.kernel
def beside(
    x: I.In[I.f8e5m2, ("N",)], y: I.Out[I.f8e5m2, (1,)], w: I.In[I.f32, ("M",)], at: I.In[I.index, ("M",)],
    z: I.Out[I.f32, (1,)],
):  # fmt: skip
    """Two groups, whose tuples have one name: one is held in wider types, the other had these from the beginning."""
    y[0] = I.arg_reduce.max(x[:], axis=0)[0]
    none = I.record(value=float("-inf"), place=9223372036854775807)
    z[0] = I.reduce(I.record(value=w[:], place=at[:]), axis=0, identity=none, combine=larger).value


@pytest.mark.parametrize("kernel", [placed, summed, beside], ids=lambda k: k.name)
def test_every_machine_has_them(kernel) -> None:
    outcome = examine(kernel, recipes(kernel, count=3), ORACLES, each_pass=True)
    assert outcome.failure is None
    assert outcome.status == "ok"
