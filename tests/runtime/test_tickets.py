"""On a GPU: reductions that instances share, and of which the last one is told by a ticket."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
from kernels.matmul import matmul_f16
from kernels.reductions import col_sum, max_argmax_all, row_sum, sum_all
from tests.passes.split_kernels import KERNELS, arguments
from tests.passes.test_ordered_loops import reference
from tests.passes.test_tickets import calls

from .test_gpu import pytestmark  # noqa: F401
from .test_gpu_buffers import on_device, same


@pytest.mark.parametrize("name", KERNELS)
def test_the_last_one_sees_what_all_others_stored(name: str) -> None:
    kernel = KERNELS[name][0]
    options = {"split_reductions": {"split": True, "members": 4, "parts": 64, "instances": 4096}}
    artifact = intent.compile(kernel, options=intent.CompileOptions(passes=options))
    for extents in (*calls(name), dict.fromkeys(KERNELS[name][1], 97)):
        given = arguments(name, extents)
        expected = reference(kernel, given)
        for _ in range(3):  # later ones find the counters that earlier ones left
            found = on_device(given)
            artifact(*found.values())
            same(found, expected)


def test_a_sum_has_the_same_bits_at_every_launch() -> None:
    import cupy

    x = cupy.random.standard_normal(2**24 + 17, dtype=cupy.float32)
    artifact = intent.compile(sum_all)
    found = {artifact.run(x).get().tobytes() for _ in range(200)}
    assert len(found) == 1
    exact = float(x.astype(cupy.float64).sum())
    assert abs(np.frombuffer(found.pop(), np.float32)[0] - exact) < 1e-6 * float(abs(x).astype(cupy.float64).sum())
    assert any(variant.plan.holds.split for variant in artifact.variants)


@pytest.mark.parametrize(
    ("kernel", "shape"), [(col_sum, (2**20 + 3, 7)), (row_sum, (3, 2**22 + 5))], ids=lambda k: getattr(k, "name", "")
)
def test_long_axes_of_few_results(kernel: Any, shape: tuple[int, int]) -> None:
    import cupy

    x = cupy.random.randint(-3, 4, shape).astype(cupy.float32)
    y = intent.compile(kernel).run(x)
    np.testing.assert_array_equal(y.get(), x.sum(axis=0 if kernel is col_sum else 1).get())


def test_the_first_of_the_largest() -> None:
    import cupy

    artifact = intent.compile(max_argmax_all)
    for n in (2**22 + 1, 2**20, 5):
        x = cupy.random.randint(-100, 100, n).astype(cupy.float32)
        value, index = artifact.run(x)
        assert float(value) == float(x.max())
        assert int(index) == int(x.argmax())


@pytest.mark.parametrize("shape", [(16, 8192, 8192), (1, 40, 100003), (130, 250, 16384)])
def test_long_products(shape: tuple[int, int, int]) -> None:
    import cupy

    m, n, k = shape
    a, b = (cupy.random.randint(-2, 3, s).astype(cupy.float16) for s in ((m, k), (k, n)))
    c = intent.compile(matmul_f16).run(a, b)
    expected = a.astype(cupy.float32) @ b.astype(cupy.float32)
    np.testing.assert_array_equal(c.get(), expected.astype(cupy.float16).get())


def test_streams_and_sizes_have_counters_of_their_own() -> None:
    import cupy

    artifact = intent.compile(sum_all)
    sizes = [2**22 + 1, 2**20, 2**23 + 5, 70000]
    x = [cupy.full(n, 1.0, cupy.float32) for n in sizes]
    y = [cupy.zeros((), cupy.float32) for _ in sizes]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in sizes]
    cupy.cuda.runtime.deviceSynchronize()
    for turn in range(40):
        for i, stream in enumerate(streams):
            with stream:
                artifact(x[(i + turn) % 4], y[(i + turn) % 4]) if turn % 4 == 0 else artifact(x[i], y[i])
        cupy.cuda.runtime.deviceSynchronize()
        assert [float(a) for a in y] == [float(n) for n in sizes]


def test_recorded_launches_leave_their_counters_as_they_were() -> None:
    import cupy

    x, y = cupy.full(2**22, 0.5, cupy.float32), cupy.zeros((), cupy.float32)
    launch = intent.compile(sum_all).prepare(x, y)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(3):
            launch()
        graph = stream.end_capture()
    for scale in (1.0, 2.0, 4.0):
        x[...] = scale
        cupy.cuda.runtime.deviceSynchronize()
        graph.launch(stream)
        stream.synchronize()
        assert float(y) == scale * 2**22
