"""Generated arguments keep what a kernel is promised of them: checking mode finds nothing."""

import contextlib
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing import check_calls, generated_calls


@intent.kernel
def finite(x: I.In[I.f32, ("N",), I.constraints(finite=True)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:]


@intent.kernel
def strided(x: I.In[I.f32, ("M", "N"), I.constraints(strides=(None, 1))], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = x[:, :]


@intent.kernel
def pitched(x: I.In[I.f32, ("M", "N"), I.constraints(strides=("N", 1))], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = x[:, :]


@intent.kernel
def required(x: I.In[I.f32, ("M",)], w: I.In[I.f32, ("2 * N",)], y: I.Out[I.f32, ("M",)]):
    I.require_equal(x.shape[0], w.shape[0])
    y[:] = x[:] + w[:]


@intent.kernel
def picked(x: I.In[I.f32, ("M",)], at: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[I.assume_in_bounds(at[:], x)]


@intent.kernel
def picked_once(x: I.In[I.f32, ("N",)], at: I.i64, y: I.Out[I.f32, (1,)]):
    y[0] = x[I.assume_in_bounds(at, x)]


@intent.kernel
def placed(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    y[I.assume_unique(I.assume_in_bounds(at[:], y))] = x[:]


@intent.kernel
def grouped(x: I.In[I.f32, ("N",)], ends: I.In[I.i32, ("G + 1",)], y: I.Out[I.f32, ("G",)]):
    groups, members = I.domain(0, y.shape[0]), I.domain(0, x.shape[0])
    ragged = I.ragged(groups, members, ends)
    for g in I.parallel(groups):
        y[g] = I.reduce.sum(x[ragged[g]])


KERNELS = [finite, strided, pitched, required, picked, picked_once, placed, grouped]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_generated_calls_keep_the_promises(kernel: Any) -> None:
    calls = list(generated_calls(kernel, kinds=("extreme",)))
    assert len(calls) >= 5
    assert any(np.size(a) > 1 for _, given in calls for a in given.values())
    checked = check_calls(kernel, calls)
    assert checked.ok, str(checked)


def test_without_care_each_would_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above says of the others: arguments as they are drawn break the promises."""
    from intent_np.testing.promises import Promises

    monkeypatch.setattr(Promises, "kept", lambda self, given, sizes, rng: given)
    monkeypatch.setattr(Promises, "sizes", lambda self, extents: extents)
    for kernel in KERNELS:
        with contextlib.suppress(intent.CallError):
            assert not check_calls(kernel, generated_calls(kernel, kinds=("extreme",))).ok, kernel
