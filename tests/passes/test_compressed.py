"""Operands in fewer bits behind every pass and as printed Triton, beside the reference."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage
from intent_np.testing import compare, expected
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import unavailable

from .printed import BLOCKS, printed

RNG = np.random.default_rng(13)


@intent.kernel
def packed(
    a: I.In[I.u8, ("M", "16 * G")], s: I.In[I.u8, ("M", "G")], b: I.In[I.u8, ("32 * G", "N")],
    t: I.In[I.u8, ("N", "G")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[:, :] = I.scaled_matmul(
        a[:, :], s[:, :], b[:, :], t[:, :], lhs_format=I.e2m1, rhs_format=I.e4m3, group_size=32, acc_dtype=I.f32
    )


@intent.kernel
def wide(
    a: I.In[I.f8e5m2, ("M", "4 * G")], s: I.In[I.u8, ("M", "G")], b: I.In[I.u8, ("2 * G", "N")],
    t: I.In[I.u8, ("N", "G")], y: I.Out[I.f64, ("M", "N")],
):  # fmt: skip
    y[:, :] = I.scaled_matmul(
        a[:, :], s[:, :], b[:, :], t[:, :], lhs_format=I.e5m2, rhs_format=I.e2m1, group_size=4, acc_dtype=I.f64
    )


@intent.kernel
def thinned(
    a: I.In[I.f32, ("M", "2 * G")], at: I.In[I.u8, ("M", "2 * G")], b: I.In[I.f32, ("4 * G", "N")],
    y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    """What was left out meets infinities and NaN."""
    y[:, :] = I.sparse_matmul(a[:, :], at[:, :], b[:, :], format=I.sparse.two_of_four(), acc_dtype=I.f32)


@intent.kernel
def halved(
    a: I.In[I.i8, ("M", "G")], at: I.In[I.i32, ("M", "G")], b: I.In[I.i8, ("2 * G", "N")],
    y: I.Out[I.i32, ("M", "N")],
):  # fmt: skip
    y[:, :] = I.sparse_matmul(a[:, :], at[:, :], b[:, :], format=I.sparse.one_of_two(), acc_dtype=I.i32)


@intent.kernel
def recorded(x: I.In[I.f32, ("M", "256 * G")], y: I.Out[I.u8, ("M", "G", 292)]):
    y[:, :, :] = I.quantize(x[:, :], format=I.quant.q8_k)


@intent.kernel
def records(l: I.In[I.u8, ("N", "G", 144)], r: I.In[I.u8, ("M", "G", 292)], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.quantized_dot(l[None, :, :, :], r[:, None, :, :])


KERNELS = {k.name: k for k in (packed, wide, thinned, halved, recorded, records)}
EXTENTS = {"M": (1, 3, 17), "N": (5, 1, 20), "G": (0, 1, 3)}
HARD = (np.nan, np.inf, -np.inf, 0.0)


def arguments(kernel: Any, call: int) -> dict[str, Any]:
    """Codes of all kinds with scales near 1, so that sums are exact; what floats have besides, here and there."""
    extents = {k: e[call] for k, e in EXTENTS.items()}
    made: dict[str, Any] = {}
    for p in kernel.parameters:
        shape = tuple(eval(str(e), {}, extents) for e in p.shape)
        d = np.dtype(storage(p.dtype))
        if p.mode == "out":
            made[p.name] = np.zeros(shape, d)
        elif p.name in ("s", "t"):
            made[p.name] = np.where(RNG.random(shape) < 0.1, 255, RNG.integers(125, 130, shape)).astype(d)
        elif p.name == "at":
            pairs = np.array([(0, 1), (0, 2), (1, 3), (2, 3)] if kernel is thinned else [(0,), (1,)])
            made[p.name] = pairs[RNG.integers(0, len(pairs), (shape[0], extents["G"]))].reshape(shape).astype(d)
        elif kernel is records:
            record = RNG.integers(0, 4, shape).astype(d)
            halves = RNG.integers(1, 4, (*shape[:-1], 2))
            head = halves.astype("<f2") if p.name == "l" else halves[..., :1].astype("<f4")
            record[..., :4] = np.ascontiguousarray(head).view("u1")
            made[p.name] = record
        elif p.dtype.is_integer:
            made[p.name] = RNG.integers(0, 127, shape).astype(d)
        else:
            x = RNG.integers(-4, 5, shape).astype(np.float64)
            hard = RNG.random(shape) < (0.2 if p.name in ("b", "x") else 0.0)
            made[p.name] = np.where(hard, RNG.choice(HARD, shape), x).astype(d)
    return made


@pytest.mark.parametrize("which", ["generic", "bounded", "small blocks"], ids=lambda n: n.replace(" ", "-"))
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_the_numbers(name: str, which: str) -> None:
    kernel, launch_class = KERNELS[name], v.CLASSES[which]
    made = v.stages(kernel, launch_class)
    for call in range(len(EXTENTS["G"])):
        found = v.validate(kernel, arguments(kernel, call), launch_class, made=made, steps=4)
        assert found, f"{call}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_does_the_same(name: str) -> None:
    kernel = KERNELS[name]
    text = printed(kernel, **BLOCKS)
    for call in (1, 2):
        given = arguments(kernel, call)
        found = text(given)
        for k, x in expected(kernel, given).items():  # sums may be made in any order
            assert (result := compare(found[k], x)), f"{k}: {result}\n{text.source}"
