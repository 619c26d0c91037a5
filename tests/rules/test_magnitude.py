"""Narrow offsets are for calls whose index arithmetic fits, not only their addresses."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation
from intent_np.plans import UNBOUNDED
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import classify
from intent_np.target import CPU
from kernels.attention import attention_window
from kernels.matmul import matmul_f16
from kernels.softmax import softmax


@intent.kernel
def scaled(y: I.Out[I.i64, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = I.cast(i * 1000000, I.i64)


@intent.kernel
def shifted(start: I.index, y: I.Out[I.i64, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = I.cast(i + start, I.i64)


@intent.kernel
def below(lens: I.In[I.i64, ("N",)], y: I.Out[I.i32, ("N",)]):
    (N,) = y.shape
    for i in I.parallel(I.domain(0, N)):
        y[i] = I.select(i < I.cast(lens[i], I.index), 1, 0)


@intent.kernel
def reshaped(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    M, N = x.shape
    y[:, :] = I.reshape(x[:, :], (N, M))


@intent.kernel
def grouped(group: I.index, y: I.InOut[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, group)):
        if i < y.shape[0]:
            y[i] = 1.0


def plan(kernel, constexprs=None):
    return Compilation(kernel, CPU, constexprs or {}, intent.CompileOptions()).plan


@pytest.mark.parametrize(
    ("kernel", "bounds"),
    [
        (scaled, {"N * 1000000"}),
        (shifted, {"abs(start) + N"}),
        (below, {UNBOUNDED}),
        (softmax, set()),
        (matmul_f16, set()),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_what_has_to_fit(kernel, bounds) -> None:
    assert set(plan(kernel).indices) == bounds


def test_the_host_knows_parameters_by_their_own_names() -> None:
    assert plan(grouped).indices == ("abs(group)",)


def test_a_linear_position_has_to_fit_where_it_is_divided() -> None:
    (bound,) = plan(reshaped).indices
    assert {"M", "N"} <= set(bound.replace("*", " ").split())


def test_a_window_is_compared_with_the_extents() -> None:
    assert all("Q" in bound or "L" in bound for bound in plan(attention_window, {"WINDOW": 64}).indices)


@pytest.mark.parametrize(
    ("kernel", "arguments", "bits"),
    [
        (scaled, (np.zeros(1000, np.int64),), 32),
        (scaled, (np.zeros(10000, np.int64),), 64),
        (shifted, (1 << 20, np.zeros(10, np.int64)), 32),
        (shifted, (-(1 << 40), np.zeros(10, np.int64)), 64),
    ],
    ids=["fits", "large", "near", "far"],
)
def test_the_class_of_a_call_has_offsets_that_hold_its_indices(kernel, arguments, bits) -> None:
    kernel = plan(kernel)
    assert classify(kernel, bind(kernel, arguments).facts()).index_bits == bits
