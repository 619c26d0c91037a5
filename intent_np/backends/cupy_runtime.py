"""The device through CuPy: modules, launches, memory.  Loaded at the first launch.

CuPy's own binding of `cuLaunchKernel` is a compiled function that takes addresses: 3.3 us a launch where `ctypes` takes
3.7 to 5.1, and CuPy's `Function`, which packs its arguments anew at each call, 8.8.  It
releases the GIL, as it must: a launch blocks while the queue is full, and a host function that drains the queue may be
Python.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

from intent_np.errors import error

_STATIC_SHARED_LIMIT: Final = 48 * 1024
_MAX_DYNAMIC_SHARED: Final = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_DEVICE_TO_DEVICE: Final = 3


class CupyMemory:
    """Memory of CuPy's pool, which hands it out again in stream order once this object is gone."""

    def __init__(self, holder: Any, pointer: int) -> None:
        self._holder, self.pointer = holder, pointer


class _ForeignStream:
    """A stream handle that speaks the CUDA stream protocol."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle  # version of the protocol, handle


class CupyDriver:
    """`intent_np.runtime.launch.Driver` on CuPy.  `ProviderError` E603 when there is no CuPy or no device."""

    def __init__(self) -> None:
        self._cupy = _cupy()
        self.launch: Callable[..., Any] = _launch_function()
        self.current_device: Callable[[], int] = self._cupy.cuda.runtime.getDevice
        self.several: bool = self._cupy.cuda.runtime.getDeviceCount() > 1
        self._modules: list[Any] = []

    def load(self, cubin: bytes, entry: str, shared_bytes: int, device: int) -> int:
        with self.on(device):
            module = self._cupy.cuda.function.Module()
            try:
                module.load(cubin)
                function = module.get_function(entry)
                if shared_bytes > _STATIC_SHARED_LIMIT:
                    self._allow_shared(function.ptr, shared_bytes)
            except Exception as problem:  # CuPy's errors derive from RuntimeError, in places that move
                raise error(
                    "E604", kernel=entry, detail=str(problem), fix="check the device and its driver"
                ) from problem
            self._modules.append(module)  # the handle is valid as long as the module
            handle: int = function.ptr
            return handle

    def _allow_shared(self, handle: int, shared_bytes: int) -> None:
        from cupy_backends.cuda.api import driver

        driver.funcSetAttribute(handle, _MAX_DYNAMIC_SHARED, shared_bytes)

    @contextlib.contextmanager
    def on(self, device: int, stream: int | None = None) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._cupy.cuda.Device(device))
            # A thread that never used the device has no context, though the device may be current already.
            self._cupy.cuda.runtime.setDevice(device)
            if stream is not None:
                stack.enter_context(self._stream(stream, device))
            yield

    def _stream(self, handle: int, device: int) -> Any:
        """A stream of another library as CuPy's."""
        kind = self._cupy.cuda.Stream
        if hasattr(kind, "from_external"):
            return kind.from_external(_ForeignStream(handle))
        return self._cupy.cuda.ExternalStream(handle, device)  # CuPy before 14

    def zeros(self, size: int, device: int, stream: int) -> CupyMemory:
        with self.on(device, stream):
            memory = self._cupy.cuda.alloc(size)
            memory.memset_async(0, size)
            return CupyMemory(memory, memory.ptr)

    def allocate(self, size: int, device: int, stream: int) -> CupyMemory:
        with self.on(device, stream):
            memory = self._cupy.cuda.alloc(size)
            return CupyMemory(memory, memory.ptr)

    def fill(self, target: int, value: int, size: int, device: int, stream: int) -> None:
        with self.on(device):
            self._cupy.cuda.runtime.memsetAsync(target, value, size, stream)

    def copy(self, target: int, source: int, size: int, device: int, stream: int) -> None:
        with self.on(device):
            self._cupy.cuda.runtime.memcpyAsync(target, source, size, _DEVICE_TO_DEVICE, stream)

    def duplicate(self, pointer: int, size: int, device: int, stream: int) -> CupyMemory:
        with self.on(device, stream):
            memory = self._cupy.cuda.alloc(size + 16)
            place = memory.ptr + (pointer - memory.ptr) % 16
            self._cupy.cuda.runtime.memcpyAsync(place, pointer, size, _DEVICE_TO_DEVICE, stream)
            return CupyMemory(memory, place)

    def capability(self, device: int) -> tuple[int, int]:
        digits: str = self._cupy.cuda.Device(device).compute_capability
        return int(digits[:-1]), int(digits[-1])

    def upload(self, array: Any, device: int, contents: bool) -> Any:
        bits = _carried(array)
        with self.on(device):
            return self._cupy.asarray(bits) if contents else self._cupy.empty(bits.shape, bits.dtype)

    def wait(self, device: int) -> None:
        with self.on(device):
            self._cupy.cuda.runtime.deviceSynchronize()

    def download(self, source: Any, target: Any) -> None:
        _carried(target)[...] = source.get()


def _carried(array: Any) -> Any:
    """A NumPy array with unsigned integers in the place of types that CuPy may not have."""
    kind = array.dtype
    return array if kind.isbuiltin == 1 else array.view(f"u{kind.itemsize}")


@functools.cache
def _cupy() -> Any:
    try:
        import cupy
    except ImportError as problem:
        raise error(
            "E603",
            package="cupy",
            purpose="launching on a GPU",
            command="pip install 'intent-np[cuda13]', or cuda12 for an older driver",
            detail=str(problem),
        ) from problem
    if not cupy.is_available():
        raise error("E603", package="a CUDA device", purpose="launching on a GPU", command="run intent-np doctor")
    return cupy


def _launch_function() -> Callable[..., Any]:
    """CuPy's `cuLaunchKernel`, or the driver library's where CuPy keeps it elsewhere."""
    try:
        from cupy_backends.cuda.api.driver import launchKernel
    except ImportError:
        return _ctypes_launch()
    found: Callable[..., Any] = launchKernel
    return found


def _ctypes_launch() -> Callable[..., Any]:
    library = ctypes.CDLL("libcuda.so.1")
    launch = library.cuLaunchKernel
    launch.restype = ctypes.c_int
    launch.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]

    def checked(*arguments: int) -> None:
        status = launch(*arguments)
        if status:
            name = ctypes.c_char_p()
            library.cuGetErrorName(status, ctypes.byref(name))
            raise RuntimeError((name.value or b"an error without a name").decode())

    return checked
