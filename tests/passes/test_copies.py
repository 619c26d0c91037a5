"""What instances overwrite before others have read it is read in a copy that the host makes before the launch."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena, find
from intent_np.terms.launch import LAUNCH, CopyArgument
from intent_np.terms.normal import View
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from intent_np.testing import arguments
from intent_np.testing.triton_interpreter import interpret, unavailable
from intent_np.testing.validation import CLASSES, validate

from .test_ordered_loops import agree, reference

RNG = np.random.default_rng(3)


def few(*shape: int) -> Any:
    return RNG.integers(-5, 6, shape).astype(np.float32)


@intent.kernel
def turned(x: I.InOut[I.f32, ("N", "N")]):
    x[:, :] = I.transpose(x[:, :])


@intent.kernel
def reversed_whole(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] * 2.0
    x[:] = I.flip(x[:], 0)


@intent.kernel
def two_turned(x: I.InOut[I.f32, ("N", "N")], z: I.InOut[I.f32, ("N", "N")]):
    value = x[:, :] + 1.0
    x[:, :] = I.transpose(value) - z[:, :]
    z[:, :] = value


@intent.kernel
def halved(x: I.InOut[I.f32, ("M", "N")]):
    x[:, :] = x[:, :] / 2.0 - I.reduce.max(x[:, :], axis=1, keepdims=True)


KERNELS = {
    turned: ({"x": few(70, 70)}, "copy_first"),
    reversed_whole: ({"x": few(99), "y": few(99)}, "copy_first"),
    two_turned: ({"x": few(20, 20), "z": few(20, 20)}, "copy_first"),
    halved: ({"x": few(6, 90)}, ""),
}


def copies(program: Any) -> set[str]:
    return {v.source for v in find(program, View) if v.mode == "copy"}


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_every_level_reads_what_there_was(kernel: Any, order: str) -> None:
    given, where = KERNELS[kernel]
    made = agree(kernel, given, order)
    assert next((n for n, program in made.items() if copies(program)), "") == where
    assert not where or copies(made["emit"]) == {"x"}


@pytest.mark.parametrize("which", CLASSES)
def test_every_class_of_calls_does(which: str) -> None:
    found = validate(turned, arguments(turned, {"N": 48}), CLASSES[which], options=intent.CompileOptions(check=True))
    assert found, str(found)


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "negative"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
def test_printed_triton_does(kernel: Any, layout: str) -> None:
    given = {n: laid_out(v, layout) for n, v in KERNELS[kernel][0].items()}
    expected = reference(kernel, given)
    with Arena():
        launch = lower(kernel.capture({}), check=True)
        assert parse(show(launch), LAUNCH) is launch
        found = {n: laid_out(v, layout) for n, v in given.items()}
        interpret(launch, print_triton(launch.function), found)
        assert bool([a for a in launch.arguments if isinstance(a, CopyArgument)]) is bool(KERNELS[kernel][1])
    for n, v in found.items():
        np.testing.assert_array_equal(v, expected[n], err_msg=n)


def laid_out(x: Any, layout: str) -> Any:
    if layout == "transposed":
        return x.T.copy().T
    return x[::-1].copy()[::-1] if layout == "negative" else x.copy()


def test_the_author_is_told_and_may_forbid_a_single_instance() -> None:
    artifact = intent.compile(turned, target="cpu", options=intent.CompileOptions(serial="error"))
    (remark,) = artifact.remarks
    assert remark.code == "P009"
    assert remark.span is not None
    assert remark.text.startswith("x: ")
    x = few(9, 9)
    y = x.copy()
    artifact(y)
    np.testing.assert_array_equal(y, x.T)
    assert not intent.compile(halved, target="cpu").remarks
