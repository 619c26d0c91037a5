"""Calls on a device: what is packed, what is remembered, what is checked, and what overlap does."""

import contextlib
import math
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.errors import CallError, ProviderError
from intent_np.runtime.arrays import LIBRARIES
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import Argument, KernelPlan, ScalarPlan, VariantClass, VariantPlan, ViewPlan, generic_class
from intent_np.runtime.scalars import bfloat16_bits
from intent_np.runtime.variants import Variant
from intent_np.target import SM_80, SM_90
from tests.runtime.fakes import (
    AXPBY,
    AXPBY_TYPES,
    STREAM,
    DeviceArray,
    FakeDriver,
    artifact,
    axpby_variant,
    device,
    launches,
)

pytestmark = pytest.mark.usefixtures("devices")


def test_a_call_launches_with_its_arguments() -> None:
    one = artifact()
    x, y, z = device(1, 2, 3), device(10, 20, 30), device(0, 0, 0)
    one(x, 2.0, y, 0.5, z)
    assert z.array.tolist() == [7, 14, 21]
    [launch] = launches(one)
    assert (launch["grid"], launch["block"], launch["shared"], launch["stream"]) == (1, 128, 0, STREAM)
    assert launch["values"][5:] == [3, 0, 0]


def test_a_warm_call_only_changes_pointers_and_scalars() -> None:
    one = artifact()
    memory = [DeviceArray(np.zeros(64, np.float32)) for _ in range(4)]
    one(memory[0], 1.0, memory[1], 1.0, memory[2])
    one._slow = partial(pytest.fail, "the second call was resolved again")  # type: ignore[method-assign]
    memory[3].array[:] = 5
    one(memory[3], np.float32(3), memory[1], 1, memory[2])
    assert memory[2].array[0] == 15
    assert len(one.driver.loads) == 1  # type: ignore[attr-defined]


def test_wrong_arguments_of_a_warm_call_are_told_as_those_of_the_first() -> None:
    one = artifact()
    x, y, z = device(1, 2), device(3, 4), device(0, 0)
    one(x, 1.0, y, 1.0, z)
    host, wide = np.float32([1, 2]), device(1, 2, dtype=np.float64)
    wrong: list[tuple[tuple[Any, ...], str]] = [
        ((x, 1.0, y, 1.0), "E401"),
        ((x, 1.0, y, 1.0, z, z), "E401"),
        ((wide, 1.0, y, 1.0, z), "E402"),
        ((device(1), 1.0, y, 1.0, z), "E404"),
        ((x, 1.0, y, 1.0, DeviceArray(z.array, writable=False)), "E406"),
        ((x, 1.0, y, 1.0, [0, 0]), "E409"),
        ((x, True, y, 1.0, z), "E411"),
        ((x, 1e300, y, 1.0, z), "E411"),
        ((x, "1", y, 1.0, z), "E411"),
    ]
    for arguments, code in wrong:
        with pytest.raises(CallError) as caught:
            one(*arguments)
        assert caught.value.code == code
    one(host, 1.0, y, 1.0, z)
    one(x, 1.0, y, 1.0, z)
    assert z.array.tolist() == [4, 6]


def test_arrays_of_several_types_have_warm_calls_of_their_own() -> None:
    class Other(DeviceArray):
        pass

    LIBRARIES[Other] = LIBRARIES[DeviceArray]
    try:
        one = artifact()
        z = device(0)
        for kind in (DeviceArray, Other):
            one(kind(np.float32([5])), 1.0, device(1), 1.0, z)
        one._slow = partial(pytest.fail, "a call was resolved again")  # type: ignore[method-assign]
        for value, kind in enumerate((DeviceArray, Other, DeviceArray)):
            one(kind(np.float32([value])), 1.0, device(1), 1.0, z)
            assert z.array[0] == value + 1
    finally:
        del LIBRARIES[Other]


def test_an_array_without_elements_may_have_any_strides() -> None:
    kernel = KernelPlan("k", (ViewPlan("x", "f32", "in", ("M", "N"), strides=("N", "1")),))
    variant = Variant(VariantPlan(generic_class(kernel), "k", (), ("M",), 4), b"", "", "")
    one = DeviceArtifact(kernel, SM_90, [variant], driver=FakeDriver([]))
    memory = np.zeros((8, 8), np.float32)
    one(DeviceArray(memory[:3, :0]))
    with pytest.raises(CallError) as caught:
        one(DeviceArray(memory[:3, :2]))
    assert caught.value.code == "E407"


def test_a_zero_size_grid_launches_nothing() -> None:
    one = artifact()
    one(device(), 1.0, device(), 1.0, device())
    one.prepare(device(), 1.0, device(), 1.0, device())()
    assert launches(one) == []


def test_a_prepared_call_runs_again_on_the_same_arrays() -> None:
    one = artifact()
    x, y, z = device(1), device(2), device(0)
    launch = one.prepare(x, 1.0, y, 1.0, z)
    assert launches(one) == []
    launch()
    x.array[0] = 5
    launch()
    assert z.array[0] == 7
    assert "1 programs" in repr(launch)


def test_outputs_are_allocated_like_the_inputs() -> None:
    one = artifact()
    z = one.run(device(1, 2), 1.0, device(3, 4), 1.0)
    assert isinstance(z, DeviceArray)
    assert z.array.tolist() == [4, 6]


def test_allocations_follow_the_shapes() -> None:
    one = artifact()
    for length in (2, 3, 2, 3):
        x = device(*range(length))
        z = one.run(x, 1.0, x, 1.0)
        assert z.array.tolist() == [2 * value for value in range(length)]
    with pytest.raises(CallError):
        one.run(device(1), 1.0, device(1, 2), 1.0)


def test_a_loop_over_many_shapes_does_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intent_np.runtime.device._MEMORY", 8)
    one = artifact()
    for length in range(1, 30):
        x = device(*[1.0] * length)
        assert one.run(x, 1.0, x, 1.0).array.tolist() == [2.0] * length
    assert len(one._patterns.launches) <= 8
    assert len(one._allocations) <= 8


def test_numpy_arrays_are_copied_in_and_out_with_one_remark(caplog: pytest.LogCaptureFixture) -> None:
    one = artifact()
    x, y, z = np.float32([1, 2]), np.float32([3, 4]), np.zeros(2, np.float32)
    for _ in range(2):
        one(x, 1.0, y, 1.0, z)
    assert z.tolist() == [4, 6]
    assert isinstance(one.run(x, 1.0, device(1, 1), 1.0), np.ndarray)
    assert [remark.code for remark in one.remarks] == ["P002"]
    assert caplog.text.count("P002") == 1


def test_views_of_any_stride_are_passed_as_they_are() -> None:
    kernel = KernelPlan("copy", (ViewPlan("x", "f32", "in", ("M", "N")), ViewPlan("y", "f32", "out", ("M", "N"))))
    types = ["*fp32", "*fp32", "i32", "i32", "i64"]
    seen: list[tuple[Any, ...]] = []
    driver = FakeDriver(types, lambda *values: seen.append(values))

    def specialize(holds: VariantClass) -> Variant:
        scalars = [("x_s0", "i32"), ("x_s1", "i32"), ("x_s0 * M + x_s1", "i64")]
        arguments = [Argument(name, "pointer", name, "*fp32") for name in "xy"]
        arguments += [Argument(f"a{i}", "scalar", text, kind) for i, (text, kind) in enumerate(scalars)]
        return Variant(VariantPlan(holds, "copy", tuple(arguments), ("M", "N"), 4), b"", "", "")

    one = DeviceArtifact(kernel, SM_90, specialize=specialize, driver=driver)
    memory = np.zeros((8, 10), np.float32)
    out = DeviceArray(np.zeros((3, 4), np.float32))
    for view in (memory[1:4, 2:6], memory[6:0:-2, 8:0:-2], np.broadcast_to(memory[0, :4], (3, 4)), memory.T[:3, :4]):
        one(DeviceArray(view), out)
        x, _, s0, s1, computed, *_ = seen[-1]
        assert x == view.ctypes.data
        assert (s0, s1) == tuple(step // 4 for step in view.strides)
        assert computed == s0 * 3 + s1
        assert driver.launches[-1]["grid"] == 12


def test_scalars_are_packed_exactly() -> None:
    kinds = {"u": ("bool", "i1"), "v": ("i8", "i8"), "w": ("i64", "i64"), "n": ("u64", "u64"), "h": ("f16", "fp16"),
             "b": ("bf16", "bf16"), "d": ("f64", "fp64"), "i": ("index", "i64")}  # fmt: skip
    kernel = KernelPlan("k", tuple(ScalarPlan(name, dtype) for name, (dtype, _) in kinds.items()))
    arguments = tuple(Argument(name, "scalar", name, kind) for name, (_, kind) in kinds.items())
    variant = Variant(VariantPlan(generic_class(kernel), "k", arguments, ("1",), 4), b"", "", "")
    driver = FakeDriver([kind for _, kind in kinds.values()])
    one = DeviceArtifact(kernel, SM_90, [variant], driver=driver)
    import intent_np.runtime.device as module

    class NoStream:
        @staticmethod
        def current_stream(device: int) -> Any:
            return lambda: 0

    before, module.CUPY = module.CUPY, NoStream()  # type: ignore[assignment]
    try:
        for _ in range(2):
            one(True, -5, -(2**62), 2**64 - 1, 0.5, 1.0, 1e300, -1)
    finally:
        module.CUPY = before
    for launch in driver.launches:
        assert launch["values"][:-2] == [True, -5, -(2**62), 2**64 - 1, 0x3800, 0x3F80, 1e300, -1]
    with pytest.raises(CallError) as caught:
        one(True, 300, 0, 0, 0.5, 1.0, 1e300, -1)
    assert (caught.value.code, caught.value.parameter) == ("E411", "v")


def test_a_scalar_that_shapes_the_grid_is_part_of_the_key() -> None:
    kernel = KernelPlan("k", (ScalarPlan("count", "i32"), ViewPlan("x", "f32", "inout", ("N",))))
    arguments = (Argument("x", "pointer", "x", "*fp32"),)
    variant = Variant(VariantPlan(generic_class(kernel), "k", arguments, ("count",), 4), b"", "", "")
    driver = FakeDriver(["*fp32"])
    one = DeviceArtifact(kernel, SM_90, [variant], driver=driver)
    for count in (3, 5, 3):
        one(count, device(1))
    assert [launch["grid"] for launch in driver.launches] == [3, 5, 3]


@given(st.floats(allow_nan=False, width=64))
def test_bfloat16_is_rounded_once(value: float) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    largest = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    if math.isfinite(value) and abs(value) > largest:
        return
    bits = bfloat16_bits(value)
    got = float(np.array([bits], np.uint16).view(ml_dtypes.bfloat16)[0])
    if math.isinf(value):
        assert got == value
        return
    neighbours = [float(np.array([(bits + step) & 0xFFFF], np.uint16).view(ml_dtypes.bfloat16)[0]) for step in (-1, 1)]
    errors = [abs(got - value), *(abs(other - value) for other in neighbours if math.isfinite(other))]
    assert errors[0] == min(errors)
    assert errors.count(errors[0]) == 1 or bits % 2 == 0 or value == 0


# ---- overlap


def test_the_launch_goes_to_the_device_of_the_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeDriver, "several", True)
    one = artifact()
    used: list[int] = []
    one.driver.program = lambda *_: used.append(one.driver.device)  # type: ignore[attr-defined]
    x, y, z = (DeviceArray(np.zeros(4, np.float32), device=3) for _ in range(3))
    one(x, 1.0, y, 1.0, z)
    one(x, 1.0, y, 1.0, z)
    assert used == [3, 3]
    assert one.driver.device == 0  # type: ignore[attr-defined]
    with pytest.raises(CallError) as caught:
        one(x, 1.0, device(0, 0, 0, 0), 1.0, z)
    assert (caught.value.code, caught.value.parameter) == ("E405", "y")


def test_another_architecture_is_refused() -> None:
    one = DeviceArtifact(AXPBY, SM_80, specialize=axpby_variant, driver=FakeDriver(AXPBY_TYPES))
    with pytest.raises(CallError, match="sm_90"):
        one(device(1), 1.0, device(1), 1.0, device(1))


def test_a_launch_error_says_what_was_launched() -> None:
    one = artifact()
    one.driver.refuse = RuntimeError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many")  # type: ignore[attr-defined]
    with pytest.raises(ProviderError, match="grid 1, block 128") as caught:
        one(device(1), 1.0, device(1), 1.0, device(1))
    assert "likely a block needs more registers" in caught.value.fix


def test_a_thread_that_never_used_the_device_gets_its_context() -> None:
    one = artifact()
    driver = one.driver
    ready = driver.on

    @contextlib.contextmanager
    def on(device: int, stream: int | None = None) -> Iterator[None]:
        driver.refuse = None  # type: ignore[attr-defined]
        with ready(device, stream):
            yield

    driver.on = on  # type: ignore[method-assign]
    x, y, z = device(1), device(2), device(0)
    launch = one.prepare(x, 1.0, y, 1.0, z)
    for call in (lambda: one(x, 1.0, y, 1.0, z), lambda: one(x, 2.0, y, 1.0, z), launch):
        driver.refuse = RuntimeError("CUDA_ERROR_INVALID_CONTEXT: invalid device context")  # type: ignore[attr-defined]
        call()
    assert z.array[0] == 3
    assert len(launches(one)) == 3


def test_a_failed_warm_launch_is_reported_and_the_next_one_runs() -> None:
    one = artifact()
    x, y, z = device(1), device(2), device(0)
    one(x, 1.0, y, 1.0, z)
    one.driver.refuse = RuntimeError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many")  # type: ignore[attr-defined]
    for call in (lambda: one(x, 1.0, y, 1.0, z), one.prepare(x, 1.0, y, 1.0, z)):
        with pytest.raises(ProviderError, match="grid 1, block 128"):
            call()
    one.driver.refuse = None  # type: ignore[attr-defined]
    one(x, 2.0, y, 1.0, z)
    assert z.array[0] == 4


def test_workspaces_may_be_filled_before_each_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    from intent_np.runtime.workspaces import Workspaces

    driver, held = FakeDriver([]), Workspaces()
    for size in (8, 64):
        held.memory(driver, "own", 0, STREAM, size).buffer[:] = 1
        monkeypatch.setattr(Workspaces, "filled", 0x7F)
        memory = held.memory(driver, "own", 0, STREAM, size)
        counter = held.memory(driver, "counter", 0, STREAM, size, zeroed=True)
        start = memory.pointer - memory.buffer.ctypes.data
        assert (memory.buffer[start : start + size] == 0x7F).all()
        assert not counter.buffer.any()


def test_a_grid_beyond_one_launch_is_refused() -> None:
    variant = axpby_variant(generic_class(AXPBY), grid=("N", "2147483648"))
    one = artifact(variants=[variant], specialize=None)
    with pytest.raises(CallError) as caught:
        one(device(1), 1.0, device(1), 1.0, device(1))
    assert caught.value.code == "E416"


def test_a_grid_beyond_one_launch_gets_programs_that_take_several_points() -> None:
    made = []

    def specialize(holds: VariantClass) -> Variant:
        made.append(holds)
        grid = ("minimum(N * 2147483648, 64)",) if holds.strided else ("N", "2147483648")
        return axpby_variant(holds, grid=grid)

    one = artifact(variants=[], specialize=specialize)
    x, y, z = device(1), device(2), device(-1)
    for _ in range(2):
        one(x, 3.0, y, 1.0, z)
    assert [holds.strided for holds in made] == [False, True]
    assert [launch["grid"] for launch in one.driver.launches] == [64, 64]
    assert z.array[0] == 5


def test_threads_share_an_artifact() -> None:
    one = artifact()
    failures: list[int] = []

    def work(value: int) -> None:
        x, y, z = device(value), device(0), device(-1)
        for _ in range(200):
            one(x, 1.0, y, 1.0, z)
            if z.array[0] != value:
                failures.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
