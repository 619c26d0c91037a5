"""On a GPU: buffers of the kernel's own beside the reference, on several streams, in graphs and from files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.runtime.workspaces import KEPT
from tests.passes import test_copies as copied
from tests.passes import test_staging as staged
from tests.passes.buffer_kernels import CASES
from tests.passes.test_ordered_loops import reference

from .test_gpu import pytestmark  # noqa: F401


def on_device(arguments: dict[str, Any]) -> dict[str, Any]:
    import cupy

    return {n: cupy.asarray(v) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    import cupy

    for n, v in expected.items():
        if isinstance(v, np.ndarray):
            np.testing.assert_allclose(cupy.asnumpy(found[n]), v, rtol=1e-5, err_msg=n)


@pytest.mark.parametrize("name", CASES)
def test_buffers_do_what_the_reference_does(name: str) -> None:
    kernel, arguments = CASES[name]
    expected = reference(kernel, arguments)
    artifact = intent.compile(kernel)
    for _ in range(3):  # later ones find what earlier ones left there
        found = on_device(arguments)
        artifact(*found.values())
        same(found, expected)


@intent.kernel
def turned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        b = I.buffer((N,), I.f32)
        b[columns] = x[row, columns] * 2.0
        y[row, columns] = b[N - 1 - I.indices(columns)]


def test_calls_of_many_sizes_share_memory_that_grows_and_large_ones_give_it_back() -> None:
    import cupy

    artifact = intent.compile(turned)
    large = KEPT // 4 // 4096 + 7
    for rows in (1, 300, 2, large, 5):
        x = cupy.random.standard_normal((rows, 4096), dtype=cupy.float32)
        y = artifact.run(x)
        assert bool((y == 2 * x[:, ::-1]).all())


def test_streams_have_memory_of_their_own() -> None:
    import cupy

    artifact = intent.compile(turned)
    x = [cupy.random.standard_normal((2048, 1000 + k), dtype=cupy.float32) for k in range(4)]
    y = [cupy.empty_like(a) for a in x]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in x]
    cupy.cuda.runtime.deviceSynchronize()
    for _ in range(20):
        for a, b, stream in zip(x, y, streams, strict=True):
            with stream:
                artifact(a, b)
    cupy.cuda.runtime.deviceSynchronize()
    for a, b in zip(x, y, strict=True):
        assert bool((b == 2 * a[:, ::-1]).all())


def test_prepared_launches_are_recorded() -> None:
    import cupy

    x, y = (cupy.zeros((100, 700), cupy.float32) for _ in range(2))
    launch = intent.compile(turned).prepare(x, y)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        launch()
        launch()
        graph = stream.end_capture()
    for seed in range(3):
        x[...] = cupy.asarray(np.random.default_rng(seed).standard_normal(x.shape), cupy.float32)
        cupy.cuda.runtime.deviceSynchronize()
        graph.launch(stream)
        stream.synchronize()
        assert bool((y == 2 * x[:, ::-1]).all())


def test_saved_artifacts_allocate_what_they_need(tmp_path: Path) -> None:
    import cupy

    x = cupy.random.standard_normal((17, 333), dtype=cupy.float32)
    artifact = intent.compile(turned, examples=[(x, cupy.empty_like(x))])
    artifact.save(tmp_path / "turned")
    assert bool((intent.load(tmp_path / "turned").run(x) == 2 * x[:, ::-1]).all())


def test_memory_that_the_device_lacks_is_told_as_such() -> None:
    import cupy

    @intent.kernel
    def huge(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            b = I.buffer((1 << 30,), I.f32)
            b[0] = x[i]
            for k in range(1, 5):
                b[k] = b[k - 1] * 2.0
            y[i] = b[4]

    x = cupy.zeros(1 << 10, cupy.float32)
    with pytest.raises(intent.ProviderError, match="bytes of workspace") as caught:
        intent.compile(huge).run(x)
    assert "buffers of its own" in caught.value.fix
    y = intent.compile(turned).run(cupy.ones((3, 5), cupy.float32))
    assert bool((y == 2).all())


# ---- what is read while it is replaced


@pytest.mark.parametrize("n", [1, 70, 1000, 4096])
def test_squares_are_turned_in_place(n: int) -> None:
    import cupy

    artifact = intent.compile(copied.turned)
    x = cupy.random.standard_normal((n, n), dtype=cupy.float32)
    for given in (x, x.T, x[::-1], cupy.asfortranarray(x)):
        before = given.copy()
        artifact(given)
        assert bool((given == before.T).all())


def test_prepared_launches_copy_what_they_find_each_time() -> None:
    import cupy

    x = cupy.random.standard_normal((300, 300), dtype=cupy.float32)
    expected = x.copy()
    launch = intent.compile(copied.turned).prepare(x)
    for _ in range(3):
        launch()
        expected = expected.T
        assert bool((x == expected).all())
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture()
        launch()
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
        stream.synchronize()
        expected = expected.T
        assert bool((x == expected).all())


@pytest.mark.parametrize("module", [copied, staged], ids=["copied", "staged"])
def test_replaced_values_are_those_of_the_reference(module: Any) -> None:
    for kernel, (arguments, _) in module.KERNELS.items():
        expected = reference(kernel, arguments)
        found = on_device(arguments)
        intent.compile(kernel)(*found.values())
        same(found, expected)


@pytest.mark.parametrize("n", [3, 5000, 70001])
def test_rows_are_smoothed_in_place(n: int) -> None:
    import cupy

    x = cupy.random.randint(-9, 9, (7, n)).astype(cupy.float32)
    expected = x.copy()
    expected[:, 1:-1] = x[:, :-2] + x[:, 2:]
    intent.compile(staged.smoothed)(x)
    assert bool((x == expected).all())
