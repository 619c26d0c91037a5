"""Triton takes a state that becomes another one for what a loop leaves alone, where both start as one value."""

import re
from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I


@intent.kernel
def behind(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        a = x[p]
        b = a
        for _ in range(3):
            a, b = b, b + 5
        y[p] = a
        z[p] = b


@intent.kernel
def in_a_row(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)], w: I.Out[I.f32, ("N",)]):
    a = x[:]
    b = a
    c = a
    for _ in range(x.shape[0]):
        a, b, c = b, c, c + 1.0
    y[:] = a
    z[:] = b
    w[:] = c


@intent.kernel
def nested(x: I.In[I.i32, ()], y: I.Out[I.i32, ()], z: I.Out[I.i32, ()], s: I.i32):
    a = x[()]
    b = x[()]
    i = I.cast(0, I.i32)
    while i < 6 and b < s:
        i += 1
        for _ in range(2):
            a, b = b, b + 1
    y[()] = a
    z[()] = b


@intent.kernel
def left_alone(x: I.In[I.i32, ()], y: I.Out[I.i32, ()], s: I.i32):
    a = x[()]
    b = x[()]
    for i in I.domain(0, 9):
        if I.cast(i, I.i32) < s:
            b = a
    y[()] = b


def test_each_state_is_carried() -> None:
    ptx = intent.compile(behind, "sm_90").variants[0].ptx
    assert {"10", "15"} <= set(re.findall(r"add\.s32\s+%r\d+, %r\d+, (\d+);", ptx))


@pytest.mark.parametrize(("kernel", "times"), [(in_a_row, 2), (nested, 1), (left_alone, 0)])
def test_states_get_a_value_of_their_own_where_they_need_one(kernel: Any, times: int) -> None:
    assert intent.compile(kernel, "sm_90").variants[0].source.count("tl.where(tl.full([], True, tl.int1), ") == times
