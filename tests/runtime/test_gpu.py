"""The runtime on a real device: libraries, layouts, streams, graphs."""

import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intent_np import target as targets
from intent_np.errors import CallError, ProviderError
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import Argument, KernelPlan, VariantPlan, ViewPlan, generic_class
from intent_np.runtime.storage import load
from intent_np.runtime.variants import Variant

TARGET = targets.resolve("auto")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not TARGET.is_gpu, reason="no GPU on this machine, or no CuPy")]

if TARGET.is_gpu:
    import cupy

    pytest.importorskip("triton")
    from tests.runtime.handwritten import artifact


@pytest.fixture(scope="module")
def axpy() -> dict[str, DeviceArtifact]:
    return {dtype: artifact(dtype, TARGET) for dtype in ("f32", "f16", "bf16")}


def matrix(rows: int, columns: int, dtype: Any = np.float32) -> Any:
    generator = np.random.default_rng(rows * 1000 + columns)
    return cupy.asarray(generator.integers(-9, 9, (rows, columns)).astype(dtype))


def test_random_layouts_with_few_variants(axpy: dict[str, DeviceArtifact]) -> None:
    one = axpy["f16"]
    chance = random.Random(5)

    def view(rows: int, columns: int) -> Any:
        big = matrix(2 * columns + 9, 2 * rows + 9, np.float16).T if chance.random() < 0.4 else matrix(
            2 * rows + 9, 2 * columns + 9, np.float16
        )  # fmt: skip
        r, c = chance.choice([0, 1, 4, 8]), chance.choice([0, 1, 4, 8])
        down, across = chance.choice([1, 1, 2]), chance.choice([1, 1, 2])
        cut = big[r : r + rows * down : down, c : c + columns * across : across]
        return cut[::-1, ::-1] if chance.random() < 0.2 else cut

    for _ in range(150):
        rows, columns = chance.choice([0, 1, 2, 5]), chance.choice([0, 1, 2, 64, 100, 511, 512, 513, 1001])
        x, y = view(rows, columns), view(rows, columns)
        x = cupy.broadcast_to(x[:1], x.shape) if rows and chance.random() < 0.1 else x
        z = matrix(rows, columns, np.float16) if chance.random() < 0.5 else view(rows, columns)
        expected = (2 * x.astype(np.float32) + y.astype(np.float32)).astype(np.float16)
        one(x, 2.0, y, z)
        assert (z == expected).all()
    assert len(one.variants) <= 12


def test_numpy_torch_and_jax(axpy: dict[str, DeviceArtifact]) -> None:
    x, y = matrix(3, 1000), matrix(3, 1000)
    expected = cupy.asnumpy(2 * x + y)
    for dtype in ("f32", "bf16"):
        one = axpy[dtype]
        host = _numpy(cupy.asnumpy(x), dtype)
        got = one.run(host, 2.0, _numpy(cupy.asnumpy(y), dtype))
        assert type(got) is np.ndarray
        assert got.dtype == host.dtype
        assert (got.astype(np.float32) == expected).all()
    assert isinstance(axpy["f32"].run(x, 2.0, y), cupy.ndarray)


def _numpy(array: Any, dtype: str) -> Any:
    if dtype == "f32":
        return array
    import ml_dtypes

    return array.astype(ml_dtypes.bfloat16)


def test_bits_of_bfloat16_in_cupy(axpy: dict[str, DeviceArtifact]) -> None:
    import ml_dtypes

    x = cupy.asarray(np.ones((2, 64), ml_dtypes.bfloat16).view(np.uint16))
    got = axpy["bf16"].run(x, 2.0, x)
    assert got.dtype == np.uint16
    assert (cupy.asnumpy(got).view(ml_dtypes.bfloat16) == 3).all()


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_torch_tensors(dtype: str, axpy: dict[str, DeviceArtifact]) -> None:
    torch = pytest.importorskip("torch")
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    x = torch.arange(3000, device="cuda").reshape(3, 1000).remainder(7).to(kind)
    one = axpy[dtype]
    got = one.run(x, 2.0, x.flip(0))
    assert isinstance(got, torch.Tensor)
    assert torch.equal(got, 2 * x + x.flip(0))
    host = one.run(x.cpu(), 2.0, x.cpu())
    assert host.device.type == "cpu"
    assert torch.equal(host, 3 * x.cpu())
    # its own current stream, with work queued before and after
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        y = x * 2
        z = torch.empty_like(x)
        one(y, 1.0, x, z)
        late = z + 0
    stream.synchronize()
    assert torch.equal(late, 3 * x)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_jax_arrays(dtype: str, axpy: dict[str, DeviceArtifact], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    x = jax.numpy.ones((3, 1000), {"f32": "float32", "bf16": "bfloat16"}[dtype])
    got = axpy[dtype].run(x, 2.0, x)
    assert isinstance(got, jax.Array)
    assert got.dtype == x.dtype
    assert (got == 3).all()
    with pytest.raises(CallError) as caught:
        axpy[dtype](x, 2.0, x, x)
    assert caught.value.code == "E406"


def test_the_current_stream_of_cupy(axpy: dict[str, DeviceArtifact]) -> None:
    one = axpy["f32"]
    x = matrix(64, 4096)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        heavy = cupy.ones((4096, 4096), np.float32)
        for _ in range(30):
            heavy = heavy @ heavy * 1e-9
        y = x * 1 + heavy[0, :] * 0
        late = one.run(y, 2.0, y) + 0
    stream.synchronize()
    assert (late == 3 * x).all()


def test_prepared_launches_and_graphs(axpy: dict[str, DeviceArtifact]) -> None:
    one = axpy["f32"]
    x, y, z = matrix(3, 100), matrix(3, 100), matrix(3, 100)
    launch = one.prepare(x, 2.0, y, z)
    launch()
    assert (z == 2 * x + y).all()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        launch()
        stream.begin_capture()
        launch()
        one(z, 1.0, y, z)
        graph = stream.end_capture()
        z[:] = 0
        graph.launch(stream)
    stream.synchronize()
    assert (z == 2 * x + 2 * y).all()


def test_overlap_on_the_device(axpy: dict[str, DeviceArtifact]) -> None:
    one = axpy["f32"]
    memory = matrix(1, 5000)
    before = memory.copy()
    one(memory[:, :-1], 1.0, cupy.zeros((1, 4999), np.float32), memory[:, 1:])
    assert (memory[:, 1:] == before[:, :-1]).all()


def test_zero_size(axpy: dict[str, DeviceArtifact]) -> None:
    for shape in ((0, 5), (5, 0), (0, 0)):
        x = cupy.zeros(shape, np.float32)
        assert axpy["f32"].run(x, 1.0, x).shape == shape


def test_more_than_48_kib_of_shared_memory_and_a_bad_launch() -> None:
    source = """
import triton
import triton.language as tl


@triton.jit
def gram(x, y, BLOCK: tl.constexpr, DEEP: tl.constexpr):
    i = tl.arange(0, BLOCK)
    k = tl.arange(0, DEEP)
    a = tl.load(x + i[:, None] * DEEP + k[None, :])
    b = tl.load(x + i[None, :] * DEEP + k[:, None])
    tl.store(y + i[:, None] * BLOCK + i[None, :], tl.dot(a, b, input_precision="ieee"))
"""
    import tempfile

    from intent_np.backends.triton.compiler import compile_source

    kernel = KernelPlan(
        "gram", (ViewPlan("x", "f16", "in", ("128", "256")), ViewPlan("y", "f32", "out", ("128", "128")))
    )
    signature = [("x", "*fp16"), ("y", "*fp32")]
    with tempfile.TemporaryDirectory() as folder:
        made = compile_source(
            source, "gram", signature, {"BLOCK": 128, "DEEP": 256}, {"x": 16, "y": 16}, TARGET, 4, 2, folder
        )
    assert made.shared_bytes > 48 * 1024
    arguments = tuple(Argument(name, "pointer", name, kind) for name, kind in signature)
    plan = VariantPlan(generic_class(kernel), "gram", arguments, ("1",), 4, shared_bytes=made.shared_bytes)
    x = matrix(128, 256, np.float16)
    y = DeviceArtifact(kernel, TARGET, [Variant(plan, made.cubin, made.ptx, source)]).run(x)
    expected = x.astype(np.float32) @ x.astype(np.float32).T
    assert (y == expected).all()
    plan = VariantPlan(generic_class(kernel), "gram", arguments, ("1",), 64, shared_bytes=made.shared_bytes)
    with pytest.raises(ProviderError) as caught:
        DeviceArtifact(kernel, TARGET, [Variant(plan, made.cubin, made.ptx, source)]).run(x)
    assert caught.value.code == "E604"
    assert "block 2048" in caught.value.found


def test_a_loaded_artifact_needs_numpy_and_cupy_alone(axpy: dict[str, DeviceArtifact], tmp_path: Path) -> None:
    x = matrix(3, 100)
    for each in (x, x.T.copy().T):
        axpy["f32"].run(each, 1.0, x)
    axpy["f32"].save(tmp_path / "axpy")
    program = (
        "import sys, cupy, intent_np.runtime.storage as storage\n"
        "one = storage.load(sys.argv[1])\n"
        "x = cupy.ones((3, 100), 'float32')\n"
        "assert (one.run(x, 2.0, x) == 3).all()\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'triton', 'torch', 'rich'}, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "axpy")], check=True)
    other = load(tmp_path / "axpy")
    assert (other.run(x.T.copy().T, 1.0, x) == 2 * x).all()


def test_a_thread_that_never_used_the_device(axpy: dict[str, DeviceArtifact]) -> None:
    one = axpy["f32"]
    x, y, z = matrix(3, 100), matrix(3, 100), matrix(3, 100)
    prepared = one.prepare(x, 2.0, y, z)
    fresh = artifact("f32", TARGET)  # a module is loaded in the thread
    one(x, 2.0, y, z)
    for call in (prepared, lambda: one(x, 2.0, y, z), lambda: fresh(x, 2.0, y, z)):
        z[:] = 0
        problems: list[Exception] = []

        def run(call: Any = call, problems: list[Exception] = problems) -> None:
            try:
                call()
            except Exception as problem:
                problems.append(problem)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert problems == []
        assert (z == 2 * x + y).all()


def test_one_array_of_many_layouts_on_the_warm_path(axpy: dict[str, DeviceArtifact]) -> None:
    one = axpy["f32"]
    whole = matrix(8, 64)
    z = matrix(4, 32)
    views = [whole[:4, :32], whole[::2, ::2], whole[4:, 32:], whole[:4, 31::-1], whole[:1, :32], whole[:4, 1:33]]
    for _ in range(3):
        for x in views:
            x = cupy.broadcast_to(x, (4, 32))
            one(x, 2.0, x, z)
            assert (z == 3 * x).all()
