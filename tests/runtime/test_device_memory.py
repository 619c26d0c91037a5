"""Memory of a launch on a device: what overlaps, what is copied first, workspaces."""

import numpy as np
import pytest

from intent_np.errors import ProviderError
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import Argument, KernelPlan, VariantPlan, ViewPlan, generic_class
from intent_np.runtime.variants import Variant
from intent_np.target import SM_90
from tests.runtime.fakes import (
    AXPBY,
    AXPBY_TYPES,
    STREAM,
    DeviceArray,
    FakeDriver,
    artifact,
    axpby_variant,
    device,
    float_array,
    launches,
)

pytestmark = pytest.mark.usefixtures("devices")


def test_an_input_that_overlaps_the_output_is_copied_first() -> None:
    one = artifact()
    memory = np.arange(9, dtype=np.float32)
    y = device(*[0.0] * 8)
    one(DeviceArray(memory[:-1]), 1.0, y, 1.0, DeviceArray(memory[1:]))  # a naive run would smear memory[0]
    assert memory.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert [remark.code for remark in one.remarks] == ["P005"]


def test_the_same_array_is_copied_unless_that_is_proved_safe() -> None:
    one = artifact()
    x, y = device(1, 2), device(3, 4)
    one(x, 1.0, y, 1.0, x)
    assert x.array.tolist() == [4, 6]
    assert launches(one)[-1]["values"][0] == x.array.ctypes.data
    one(x, 1.0, y, 1.0, y)
    assert y.array.tolist() == [7, 10]
    assert launches(one)[-1]["values"][1] != y.array.ctypes.data


def test_a_remembered_pattern_still_sees_overlap() -> None:
    one = artifact()
    memory = np.zeros(64, np.float32)
    apart = [DeviceArray(memory[at : at + 16]) for at in (0, 16, 32)]
    one(apart[0], 1.0, apart[1], 1.0, apart[2])
    memory[:] = np.arange(64)
    one(DeviceArray(memory[0:16]), 1.0, DeviceArray(memory[40:56]), 0.0, DeviceArray(memory[4:20]))
    assert memory[4:20].tolist() == list(range(16))


def test_prepare_with_overlap_copies_at_every_run() -> None:
    one = artifact()
    memory = np.arange(5, dtype=np.float32)
    launch = one.prepare(DeviceArray(memory[:-1]), 1.0, device(0, 0, 0, 0), 1.0, DeviceArray(memory[1:]))
    launch()
    launch()
    assert memory.tolist() == [0, 0, 0, 1, 2]


# ---- devices, streams, workspaces, failures


def test_workspaces_are_kept_for_a_stream_and_never_shared_with_a_prepared_launch() -> None:
    plan = axpby_variant(generic_class(AXPBY)).plan
    arguments = (*plan.arguments, Argument("tickets", "workspace", "4 * N", "*i32"))
    variant = axpby_variant(generic_class(AXPBY), arguments=arguments, scratch_bytes=128)
    driver = FakeDriver([*AXPBY_TYPES, "*i32"])
    one = artifact(variants=[variant], specialize=None, driver=driver)
    for length in (2, 2, 8, 4):
        one(*(device(*[1.0] * length) if value is None else value for value in (None, 1.0, None, 1.0, None)))
    assert driver.allocations == [8, 128, 32]
    one.prepare(device(1), 1.0, device(1), 1.0, device(1))()
    assert driver.allocations[3:] == [4, 128]
    addresses = [launch["values"][6] for launch in driver.launches]
    assert addresses[0] == addresses[1] != addresses[2] == addresses[3] != addresses[4]
    assert all(launch["values"][7] and not launch["values"][8] for launch in driver.launches)


def test_large_workspaces_are_given_back_behind_their_launch_and_kept_by_prepared_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("intent_np.runtime.workspaces.KEPT", 16)
    plan = axpby_variant(generic_class(AXPBY)).plan
    arguments = (*plan.arguments, Argument("b", "workspace", "4 * N", "*fp32"))
    variant = axpby_variant(generic_class(AXPBY), arguments=arguments)
    driver = FakeDriver([*AXPBY_TYPES, "*fp32"])
    one = artifact(variants=[variant], specialize=None, driver=driver)
    call = lambda n: tuple(device(*[1.0] * n) if v is None else v for v in (None, 1.0, None, 1.0, None))  # noqa: E731
    for length in (4, 5, 5, 3):
        one(*call(length))
    assert driver.allocations == [16, 20, 20]
    launch = one.prepare(*call(5))
    assert driver.allocations == [16, 20, 20, 20]  # before a graph may be recorded
    for stream in (STREAM, STREAM + 1):
        monkeypatch.setattr("tests.runtime.fakes.STREAM", stream)
        launch()
    assert len(driver.allocations) == 4
    assert driver.launches[-1]["values"][6] == driver.launches[-2]["values"][6]
    assert driver.launches[-1]["stream"] != driver.launches[-2]["stream"]


def test_counters_are_zeros_that_launches_leave_until_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each launch finds what the one before left, in memory that no workspace shares; nothing zeroes it in between."""
    monkeypatch.setattr("intent_np.runtime.workspaces.KEPT", 16)
    plan = axpby_variant(generic_class(AXPBY)).plan
    own = (Argument("own", "counter", "4 * N", "*i32"), Argument("own", "workspace", "4 * N", "*i32"))
    variant = axpby_variant(generic_class(AXPBY), arguments=(*plan.arguments, *own))
    found: list[list[float]] = []

    def draw(x: int, y: int, z: int, a: float, b: float, n: int, counters: int, other: int, *scratch: int) -> None:
        assert counters != other
        tickets = float_array(counters, n)
        found.append(tickets.tolist())
        tickets += np.float32(a)  # 0 from a launch that counts to its end

    driver = FakeDriver([*AXPBY_TYPES, "*i32", "*i32"], draw)
    one = artifact(variants=[variant], specialize=None, driver=driver)
    call = lambda n, a: one(device(*[1.0] * n), a, device(*[1.0] * n), 1.0, device(*[1.0] * n))  # noqa: E731
    for n in (2, 5, 2):
        call(n, 0.0)
    assert found == [[0.0] * 2, [0.0] * 5, [0.0] * 2]
    assert driver.allocations == [8, 8, 20, 20]  # that of counters is kept, though it is large
    call(2, 1.0)  # as one does that is cut short
    call(2, 0.0)
    assert found[-1] == [1.0, 1.0]
    driver.refuse = RuntimeError("CUDA_ERROR_LAUNCH_FAILED")
    with pytest.raises(ProviderError):
        call(2, 0.0)
    driver.refuse = None
    call(2, 0.0)
    assert found[-1] == [0.0, 0.0]


IN_PLACE = KernelPlan("turn", (ViewPlan("x", "f32", "inout", ("N",)),))


def in_place(driver: FakeDriver, memory: np.ndarray) -> DeviceArtifact:
    """x[i] = x_before[N - 1 - i], which a launch finds in a copy."""
    arguments = (
        Argument("x", "pointer", "x", "*fp32"),
        Argument("x_before", "copy", "x", "*fp32"),
        Argument("N", "scalar", "N", "i32"),
        Argument("x_s0", "scalar", "x_s0", "i32"),
    )

    def turn(x: int, before: int, n: int, step: int, *scratch: int) -> None:
        assert (before - x) % 16 == 0
        first = (memory.ctypes.data - x) // 4
        for i in range(n):
            at = float_array(before + 4 * step * (n - 1 - i), 1)
            memory[i * step - first] = at[0]

    driver.program = turn
    plan = VariantPlan(generic_class(IN_PLACE), "turn", arguments, ("1",), num_warps=1)
    return DeviceArtifact(IN_PLACE, SM_90, [Variant(plan, b"turn", "", "", {})], driver=driver)


@pytest.mark.parametrize("part", [slice(None), slice(1, None), slice(None, None, 3), slice(None, None, -1)])
@pytest.mark.parametrize("kept", [1 << 20, 0])
def test_what_a_launch_overwrites_is_copied_before_each(
    part: slice, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intent_np.runtime.workspaces.KEPT", kept)
    memory = np.arange(50, dtype=np.float32)
    expected = memory.copy()
    driver = FakeDriver(["*fp32", "*fp32", "i32", "i32"])
    one = in_place(driver, memory)
    for _ in range(3):
        expected[part] = expected[part][::-1]
        one(DeviceArray(memory[part]))
        np.testing.assert_array_equal(memory, expected)
    launch = one.prepare(DeviceArray(memory[part]))
    before = len(driver.allocations)
    for _ in range(3):
        expected[part] = expected[part][::-1]
        launch()
        np.testing.assert_array_equal(memory, expected)
    assert len(driver.allocations) == before
    assert driver.copies == 6
    one(DeviceArray(memory[:0]))
    assert driver.copies == 6


def test_a_call_without_elements_needs_no_workspace() -> None:
    plan = axpby_variant(generic_class(AXPBY)).plan
    arguments = (*plan.arguments, Argument("b", "workspace", "4 * (N - 3)", "*fp32"))
    variant = axpby_variant(generic_class(AXPBY), arguments=arguments)
    driver = FakeDriver([*AXPBY_TYPES, "*fp32"])
    one = artifact(variants=[variant], specialize=None, driver=driver)
    one(device(1), 1.0, device(1), 1.0, device(1))
    assert driver.allocations == [1]
