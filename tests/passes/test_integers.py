"""Integers of a program keep their width, whatever holds an index."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import classify
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.testing.triton_interpreter import interpret, unavailable


@intent.kernel
def polynomial(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = (x[i] * 3 - x[i] // 7) % 1000 + x[i]


@intent.kernel
def squares(x: I.In[I.i32, ("N",)], y: I.Out[I.i64, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.cast(x[i] * x[i], I.i64)


@intent.kernel
def total(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = x[:] + I.reduce.sum(x[:], axis=0)


@pytest.mark.parametrize("generic", [True, False], ids=["generic", "exact"])
@pytest.mark.parametrize("kernel", [polynomial, squares, total], ids=lambda k: k.name)
def test_integers_wrap_at_their_own_width(kernel: Any, generic: bool) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 3000).astype(np.int32)
    y = np.zeros(3000, np.int64 if kernel is squares else np.int32)
    expected = y.copy()
    intent.compile(kernel, target="reference")(x, expected)
    compilation = Compilation(kernel, SM_90, {}, intent.CompileOptions())
    plan = compilation.plan
    launch, _ = compilation.launch(generic_class(plan) if generic else classify(plan, bind(plan, (x, y)).facts()))
    with compilation.arena:
        interpret(launch, print_triton(launch.function), {"x": x, "y": y}, {"N": 3000})
    assert (y == expected).all()
