"""A barrier stands where a thread may store what another one has still to load, and nowhere else."""

from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I
from kernels.norms import layer_norm
from kernels.softmax import softmax


@intent.kernel
def cleared(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    old = x[points]
    x[points] = 0.0
    y[points] = old


@intent.kernel
def exchanged(x: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    old = x[points]
    x[points] = y[points]
    y[points] = old


@intent.kernel
def doubled(x: I.InOut[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    x[points] = x[points] * 2.0


@intent.kernel
def centered(x: I.InOut[I.f32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        x[row, :] = value - I.reduce.max(value, axis=0)


@intent.kernel
def flagged(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    y[points] = I.full((x.shape[0],), 1.0, I.f32)
    z[points] = x[points]


@intent.kernel
def overwritten(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    y[points] = x[points]
    y[points] = x[points] + 1.0


@intent.kernel
def turned(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for _ in range(3):
        y[:] = I.flip(x[:])
        x[:] = 1.0


@pytest.mark.parametrize(
    ("kernel", "behind"),
    [
        (cleared, ["store(x"]),  # a constant, which waits for no load
        (exchanged, ["store(x"]),  # what comes from y does not wait for x; the barrier orders the store to y as well
        (flagged, ["store(y"]),  # x may be y
        (overwritten, ["store(y"]),  # the second store is the last
        (turned, ["# whole", "store(x", "store(x"]),  # other blocks read what the same range of another loop stores
        (doubled, []),
        (centered, []),
        (softmax, []),
        (layer_norm, []),
    ],
)
def test_barriers_stand_before_these_stores(kernel: Any, behind: list[str]) -> None:
    lines = intent.compile(kernel, target="sm_90").source.splitlines()
    found = [lines[i + 1].strip() for i, line in enumerate(lines) if "tl.debug_barrier()" in line]
    assert [text.removeprefix("tl.")[: len("store(x")] for text in found] == behind


def test_a_barrier_reaches_the_device_code() -> None:
    assert "bar.sync" in intent.compile(cleared, target="sm_90").ir("ptx")
    assert "bar.sync" not in intent.compile(doubled, target="sm_90").ir("ptx")
