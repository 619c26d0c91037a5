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


@pytest.mark.parametrize("kernel", [placed, summed], ids=lambda k: k.name)
def test_every_machine_has_them(kernel) -> None:
    outcome = examine(kernel, recipes(kernel, count=3), ORACLES, each_pass=True)
    assert outcome.failure is None
    assert outcome.status == "ok"
