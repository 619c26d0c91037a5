"""A device without a device: host memory poses as device memory, and launches run Python functions.

The parameter block is read as the driver would read it, through addresses, so that packing is tested for real.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intent_np.runtime.arrays import ArrayInfo, Reading
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import Argument, KernelPlan, ScalarPlan, VariantClass, VariantPlan, ViewPlan
from intent_np.runtime.variants import Variant
from intent_np.target import SM_90, Target

STREAM = 77


class DeviceArray:
    """An array on a pretended device."""

    def __init__(self, array: np.ndarray, device: int = 0, writable: bool = True) -> None:
        self.array, self.device, self.writable = array, device, writable

    def __getitem__(self, index: Any) -> DeviceArray:
        return DeviceArray(self.array[index], self.device, self.writable)

    @property
    def T(self) -> DeviceArray:
        return DeviceArray(self.array.T, self.device, self.writable)


class DeviceLibrary:
    name = "fake"
    carries_bits = True

    def read(self, array: Any) -> ArrayInfo:
        host = array.array
        return ArrayInfo(
            self, array, host.ctypes.data, host.shape, host.strides, host.dtype.name, array.device, array.writable
        )

    @property
    def reading(self) -> Reading:
        return Reading(
            "{m}.ctypes.data",
            ("{m}.dtype", "{m}.shape", "{m}.strides", "{a}.device", "{a}.writable"),
            "{m} = {a}.array",
        )

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, held: str | None) -> Any:
        return DeviceArray(np.full(shape, 0x7F, {"f16": np.float16, "f32": np.float32}[dtype]), device)

    def current_stream(self, device: int) -> Callable[[], int]:
        return lambda: STREAM


class HostMemory:
    def __init__(self, size: int) -> None:
        self.buffer = np.zeros(size + 32, np.uint8)
        self.pointer = self.buffer.ctypes.data


class FakeDriver:
    """Runs `program(driver, values)` at each launch, where `values` are the arguments of the device function.

    types:  Triton types of the arguments
    """

    several = True

    def __init__(self, types: list[str], program: Callable[..., None] | None = None) -> None:
        self.types, self.program = types, program
        self.launches: list[dict[str, Any]] = []
        self.loads: list[tuple[str, int, int]] = []
        self.allocations: list[int] = []
        self.copies = self.waits = 0
        self.device = 0
        self.refuse: Exception | None = None
        self.current_device = lambda: self.device

    def load(self, cubin: bytes, entry: str, shared_bytes: int, device: int) -> int:
        self.loads.append((cubin.decode(), shared_bytes, device))
        return len(self.loads)

    def launch(self, function: int, *rest: int) -> None:
        gx, gy, gz, bx, by, bz, shared, stream, parameters, extra = rest
        assert (gy, gz, by, bz, extra) == (1, 1, 1, 1, 0)
        if self.refuse is not None:
            raise self.refuse
        count = len(self.types) + 2
        addresses = (ctypes.c_void_p * count).from_address(parameters)
        kinds = [_C[kind[:1] if kind.startswith("*") else kind] for kind in self.types] + [ctypes.c_uint64] * 2
        values = [kind.from_address(address).value for kind, address in zip(kinds, addresses, strict=True)]
        self.launches.append(
            {"function": function, "grid": gx, "block": bx, "shared": shared, "stream": stream, "values": values}
        )
        if self.program is not None:
            self.program(*values)

    @contextlib.contextmanager
    def on(self, device: int, stream: int | None = None) -> Iterator[None]:
        before, self.device = self.device, device
        yield
        self.device = before

    def zeros(self, size: int, device: int, stream: int) -> HostMemory:
        self.allocations.append(size)
        return HostMemory(size)

    def allocate(self, size: int, device: int, stream: int) -> HostMemory:
        self.allocations.append(size)
        memory = HostMemory(size)
        memory.buffer[:] = 0x7F
        return memory

    def fill(self, target: int, value: int, size: int, device: int, stream: int) -> None:
        ctypes.memset(target, value, size)

    def copy(self, target: int, source: int, size: int, device: int, stream: int) -> None:
        self.copies += 1
        ctypes.memmove(target, source, size)

    def duplicate(self, pointer: int, size: int, device: int, stream: int) -> HostMemory:
        assert stream == STREAM
        memory = HostMemory(size)
        memory.pointer += (pointer - memory.pointer) % 16
        ctypes.memmove(memory.pointer, pointer, size)
        return memory

    def capability(self, device: int) -> tuple[int, int]:
        return 9, 0

    def upload(self, array: np.ndarray, device: int, contents: bool) -> DeviceArray:
        return DeviceArray(np.array(array, order="C") if contents else np.zeros(array.shape, array.dtype), device)

    def wait(self, device: int) -> None:
        self.waits += 1

    def download(self, source: DeviceArray, target: np.ndarray) -> None:
        target[...] = source.array


_C = {
    "*": ctypes.c_uint64, "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64, "fp16": ctypes.c_uint16, "bf16": ctypes.c_uint16, "fp32": ctypes.c_float,
    "fp64": ctypes.c_double,
}  # fmt: skip


def float_array(pointer: int, count: int) -> np.ndarray:
    """The floats at an address."""
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(pointer))


AXPBY = KernelPlan(
    "axpby",
    (
        ViewPlan("x", "f32", "in", ("N",)),
        ScalarPlan("a", "f32"),
        ViewPlan("y", "f32", "in", ("N",)),
        ScalarPlan("b", "f32"),
        ViewPlan("z", "f32", "out", ("N",)),
    ),
)
AXPBY_TYPES = ["*fp32", "*fp32", "*fp32", "fp32", "fp32", "i32"]


def run_axpby(x: int, y: int, z: int, a: float, b: float, n: int, *scratch: int) -> None:
    """z = a x + b y, an element at a time from the front, as a device might: overlap shows."""
    xs, ys, zs = (float_array(pointer, n) for pointer in (x, y, z))
    for index in range(n):
        zs[index] = np.float32(a) * xs[index] + np.float32(b) * ys[index]


def axpby_variant(holds: VariantClass, **changes: Any) -> Variant:
    arguments = (
        *(Argument(name, "pointer", name, "*fp32") for name in "xyz"),
        Argument("a", "scalar", "a", "fp32"),
        Argument("b", "scalar", "b", "fp32"),
        Argument("N", "scalar", "N", "i32"),
    )
    facts = {"registers": 20, "version": "3.6"}
    same = (("x", "z"),)
    plan = VariantPlan(holds, "axpby", arguments, ("cdiv(N, 1024)",), num_warps=4, identical=same, facts=facts)
    plan = VariantPlan(**{**{name: getattr(plan, name) for name in plan.__dataclass_fields__}, **changes})
    return Variant(plan, holds.name.encode(), "// ptx", f"# {holds.name}\n", {"gpu": f"gpu for {holds.name}"})


def target() -> Target:
    return SM_90


def device(*values: float, dtype: Any = np.float32) -> DeviceArray:
    """A vector on the device."""
    return DeviceArray(np.array(values, dtype))


def artifact(**changes: Any) -> DeviceArtifact:
    """z = a x + b y, compiled for the pretended device."""
    driver = FakeDriver(AXPBY_TYPES, run_axpby)
    options: dict[str, Any] = {"specialize": axpby_variant, "driver": driver, **changes}
    return DeviceArtifact(AXPBY, SM_90, **options)


def launches(one: DeviceArtifact) -> list[dict[str, Any]]:
    """What was launched, in order."""
    return one.driver.launches  # type: ignore[attr-defined, no-any-return]
