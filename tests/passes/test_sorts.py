"""What stands at a place in order: behind every pass and as printed Triton, beside the reference."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import unavailable

from .printed import BLOCKS, by_reference, printed

RNG = np.random.default_rng(11)


@intent.kernel
def ascending(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("M", "N")], place: I.Out[I.i64, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value[row, :] = I.sort(x[row, :])
        place[row, :] = I.cast(I.argsort(x[row, :]), I.i64)


@intent.kernel
def descending(x: I.In[I.i16, ("M", "N")], value: I.Out[I.i16, ("M", "N")], place: I.Out[I.i32, ("M", "N")]):
    value[:, :] = I.sort(x[:, :], axis=0, descending=True)
    place[:, :] = I.cast(I.argsort(x[:, :], axis=0, descending=True), I.i32)


@intent.kernel
def largest(x: I.In[I.f16, ("M", "N + 3")], value: I.Out[I.f16, ("M", 3)], place: I.Out[I.i64, ("M", 3)]):
    found, at = I.topk(x[:, :], 3, axis=1)
    value[:, :] = found
    place[:, :] = I.cast(at, I.i64)


@intent.kernel
def many(x: I.In[I.u32, ("M", "N + 20")], value: I.Out[I.u32, ("M", 20)]):
    value[:, :] = I.topk(x[:, :], 20, axis=1)[0]


@intent.kernel
def median(x: I.In[I.f64, ("M", "2 * N + 1")], y: I.Out[I.f64, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        ordered = I.sort(x[row, :])
        y[row] = ordered[x.shape[1] // 2]


@intent.kernel
def gaps(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)]):
    """Each member in order is read at two places."""
    ordered, i = I.sort(x[:]), I.indices(I.domain(0, x.shape[0]))
    y[:] = ordered - I.gather(ordered, i - 1, valid=i > 0, fill=0)


@intent.kernel
def trimmed(x: I.In[I.i32, ("M", "N")], flag: I.In[I.i32, ("M",)], y: I.InOut[I.i32, ("M",)]):
    """What is kept in a branch is kept for the branch alone."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        i = I.indices(I.domain(0, x.shape[1]))
        ordered = I.sort(x[row, :])
        if flag[row] > 0:
            y[row] = y[row] + I.reduce.sum(ordered * I.cast(i, I.i32), axis=0)
        else:
            y[row] = I.reduce.max(ordered - I.gather(I.sort(x[row, :], descending=True), i), axis=0)
        y[row] = y[row] - I.reduce.sum(ordered * I.cast(i, I.i32), axis=0)


KERNELS = {k.name: k for k in (ascending, descending, largest, many, median, gaps, trimmed)}
EXTENTS = {"M": (3, 1, 5, 2), "N": (0, 1, 7, 40)}
HARD = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0)


def arguments(kernel: Any, call: int) -> dict[str, Any]:
    """Small numbers, so that many are equal, and what floats have besides."""
    extents = {k: e[call] for k, e in EXTENTS.items()}
    made: dict[str, Any] = {}
    for p in kernel.parameters:
        shape = tuple(eval(e, {}, extents) if isinstance(e, str) else e for e in map(str, p.shape))
        d = np.dtype(storage(p.dtype))
        x = RNG.integers(0 if d.kind == "u" else -4, 5, shape).astype(d)
        if d.kind == "f":
            x = np.where(RNG.random(shape) < 0.3, RNG.choice(HARD, shape), x).astype(d)
        made[p.name] = np.zeros(shape, d) if p.mode == "out" else x
    return made


@pytest.mark.parametrize("which", ["generic", "bounded", "small blocks"], ids=lambda n: n.replace(" ", "-"))
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_the_order(name: str, which: str) -> None:
    kernel, launch_class = KERNELS[name], v.CLASSES[which]
    made = v.stages(kernel, launch_class)
    for call in range(len(EXTENTS["N"])):
        given = arguments(kernel, call)
        assert (found := v.validate(kernel, given, launch_class, made=made)), f"{call}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_does_the_same(name: str) -> None:
    kernel = KERNELS[name]
    for options in ({}, BLOCKS):
        text = printed(kernel, **options)
        for call in range(1, len(EXTENTS["N"])):
            given = arguments(kernel, call)
            found, expected = text(given), by_reference(kernel, given)
            for k, x in found.items():
                np.testing.assert_array_equal(x, expected[k], err_msg=text.source)


@pytest.mark.parametrize("name", ["ascending", "largest", "gaps"])
def test_it_compiles(name: str) -> None:
    assert intent.compile(KERNELS[name], target="sm_90").variants[0].cubin
