"""e4m3 for devices that do not know it: bytes, converted by integer operations, and products as those of halves."""

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation, CompileOptions
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_80, SM_90
from intent_np.testing.triton_interpreter import interpret, unavailable

E4M3 = ml_dtypes.float8_e4m3fn


@intent.kernel
def converted(
    x: I.In[I.f32, ("N",)],
    b: I.In[I.f8e4m3fn, ("K",)],
    y: I.Out[I.f8e4m3fn, ("N",)],
    z: I.Out[I.f8e4m3fn, ("N",)],
    w: I.Out[I.f16, ("K",)],
    u: I.Out[I.u8, ("K",)],
    v: I.Out[I.f8e4m3fn, ("K",)],
):
    y[:] = I.cast(I.clamp(x[:], -463.0, 463.0), I.f8e4m3fn)
    z[:] = I.saturate_cast(x[:], I.f8e4m3fn)
    w[:] = I.cast(b[:], I.f16)
    u[:] = I.bitcast(b[:], I.u8)
    v[:] = I.select(I.cast(b[:], I.f32) > 1.0, b[:], 1.5)


@intent.kernel
def product(a: I.In[I.f8e4m3fn, ("M", "K")], b: I.In[I.f8e4m3fn, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


def numbers() -> np.ndarray:
    rng = np.random.default_rng(0)
    some = rng.normal(size=3000) * 10.0 ** rng.integers(-4, 4, 3000)
    ends = [0.0, -0.0, np.nan, np.inf, -np.inf, 448, 2.0**-9, 2.0**-10, 3 * 2.0**-10, 1e-45]
    return np.concatenate([some, np.arange(-464, 464, 0.5), np.arange(-64, 64) / 2048, ends]).astype(np.float32)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(found.astype(np.float32)), np.signbit(expected.astype(np.float32)))


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
def test_every_conversion_is_that_of_the_reference() -> None:
    x, every = numbers(), np.arange(256, dtype=np.uint8).view(E4M3)
    made = Compilation(converted, SM_80, {}, CompileOptions(check=True))
    launch, _ = made.launch(generic_class(made.plan))
    outputs = {"y": (len(x), E4M3), "z": (len(x), E4M3), "w": (256, np.float16), "u": (256, np.uint8), "v": (256, E4M3)}
    found = {"x": x, "b": every, **{n: np.zeros(size, kind) for n, (size, kind) in outputs.items()}}
    expected = {n: a.copy() for n, a in found.items()}
    interpret(launch, print_triton(launch.function), found)
    with np.errstate(all="ignore"):
        intent.compile(converted, "reference")(*expected.values())
    for name in outputs:
        kept = ~np.isnan(expected[name].astype(np.float32))  # of which the sign is nobody's
        same(found[name][kept], expected[name][kept])
        assert np.isnan(found[name][~kept].astype(np.float32)).all()


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
def test_products_are_those_of_halves() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, shape).astype(E4M3) for shape in ((40, 70), (70, 50)))
    made = Compilation(product, SM_80, {}, CompileOptions(check=True))
    launch, _ = made.launch(generic_class(made.plan))
    c = np.zeros((40, 50), np.float32)
    interpret(launch, print_triton(launch.function), {"a": a, "b": b, "c": c})
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_both_kinds_of_devices_get_a_cubin() -> None:
    for kernel in (converted, product):
        old, new = (intent.compile(kernel, target) for target in (SM_80, SM_90))
        assert "float8e4" not in old.source.replace("float8e4_portable", "")
        assert "portable" not in new.source
        assert old.variants[0].cubin
        assert new.variants[0].cubin
