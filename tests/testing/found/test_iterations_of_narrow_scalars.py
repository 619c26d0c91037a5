"""A plan is priced for many iterations, of which a scalar of a narrow dtype can ask only for so many."""

import pytest

import intent_np as intent
from intent_np.testing.reduction import kernel_of

TEXT = """\
import intent_np as intent
import intent_np.language as I


@intent.kernel
def k(x: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("K",)], N: I.{dtype}):
    t = x[:]
    for _ in I.domain(0, I.cast(N, I.index)):
        t = t / I.reduce.sum(t, axis=0)
    y[:] = t
"""


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "bool", "f8e4m3fn", "f16", "f64"])
def test_it_compiles(dtype: str) -> None:
    options = intent.CompileOptions(passes={"choose_plan": {"policy": "egraph"}})
    assert intent.compile(kernel_of(TEXT.format(dtype=dtype)), "cpu", options=options).kernel.name == "k"
