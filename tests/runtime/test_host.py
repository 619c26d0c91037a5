"""Artifacts for the NumPy machines keep the conventions of those for a device."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from intent_np.errors import CallError
from intent_np.runtime.host import HostArtifact, Machine
from intent_np.runtime.plan import KernelPlan, ScalarPlan, ViewPlan
from intent_np.target import CPU
from tests.runtime.fakes import DeviceArray

SCALE = KernelPlan(
    "scale", (ViewPlan("x", "bf16", "in", ("N",)), ScalarPlan("a", "f32"), ViewPlan("y", "f32", "out", ("N",)))
)


def execute(values: Any) -> None:
    assert type(values["a"]) is np.float32
    for index in range(len(values["y"])):
        values["y"][index] = values["x"][index].astype(np.float32) * values["a"]


def test_call_run_and_prepare() -> None:
    one = HostArtifact(SCALE, CPU, Machine(execute))
    x, y = np.array([1, 2], ml_dtypes.bfloat16), np.zeros(2, np.float32)
    one(x, 2, y)
    assert y.tolist() == [2, 4]
    assert one.run(x, 3.0).tolist() == [3, 6]
    again = one.prepare(x, 4.0, y)
    x[0] = 5
    again()
    assert y.tolist() == [20, 8]


def test_inputs_keep_their_values_while_outputs_overlap_them() -> None:
    kernel = KernelPlan("shift", (ViewPlan("x", "f32", "in", ("N",)), ViewPlan("y", "f32", "out", ("N",))))

    def shift(values: Any) -> None:
        for index in range(len(values["x"])):
            values["y"][index] = values["x"][index]

    memory = np.arange(5, dtype=np.float32)
    one = HostArtifact(kernel, CPU, Machine(shift))
    one(memory[:-1], memory[1:])
    assert memory.tolist() == [0, 0, 1, 2, 3]
    assert [remark.code for remark in one.remarks] == ["P005"]


def test_device_memory_is_refused() -> None:
    one = HostArtifact(SCALE, CPU, Machine(execute))
    with pytest.raises(CallError, match="host memory"):
        one(DeviceArray(np.zeros(2, np.uint16)), 1.0, np.zeros(2, np.float32))


class Guest:
    """An array of an unknown library, through DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class OldGuest:
    """The same, through the NumPy array interface."""

    def __init__(self, array: np.ndarray) -> None:
        self.__array_interface__ = array.__array_interface__
        self._array = array


@pytest.mark.parametrize("kind", [Guest, OldGuest])
def test_guests_are_read_and_written_without_a_copy(kind: Any) -> None:
    kernel = KernelPlan("double", (ViewPlan("x", "f32", "in", ("N",)), ViewPlan("y", "f32", "inout", ("N",))))

    def double(values: Any) -> None:
        values["y"][...] = 2 * values["x"]

    x, y = np.float32([1, 2, 3]), np.zeros(3, np.float32)
    HostArtifact(kernel, CPU, Machine(double))(kind(x), kind(y))
    assert y.tolist() == [2, 4, 6]


def test_a_read_only_guest_is_not_written() -> None:
    kernel = KernelPlan("clear", (ViewPlan("y", "f32", "inout", ("N",)),))
    y = np.zeros(3, np.float32)
    y.flags.writeable = False
    with pytest.raises(CallError) as caught:
        HostArtifact(kernel, CPU, Machine(lambda values: None))(OldGuest(y))
    assert caught.value.code == "E406"
