"""A CUDA device that is not there, for what is told of devices: host memory poses as its memory, and nothing runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from intent_np.runtime.arrays import LIBRARIES, ArrayInfo, Reading


class OnDevice:
    """A NumPy array that says it lies on a device."""

    def __init__(self, array: np.ndarray, device: int = 0) -> None:
        self.array, self.device = array, device
        LIBRARIES.setdefault(OnDevice, StandIn())


class StandIn:
    """The library of such arrays, and a driver that refuses to launch."""

    name = "stand-in"
    carries_bits = True
    several = True
    reading = Reading(
        "{m}.ctypes.data", ("{m}.dtype", "{m}.shape", "{m}.strides", "{a}.device"), before="{m} = {a}.array"
    )

    def __init__(self, capability: tuple[int, int] = (9, 0), refusal: str = "") -> None:
        self._capability, self._refusal = capability, refusal

    def read(self, array: OnDevice) -> ArrayInfo:
        """Everything about an array."""
        host = array.array
        return ArrayInfo(
            self, array, host.ctypes.data, host.shape, host.strides, host.dtype.name, array.device, host.flags.writeable
        )

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, held: str | None) -> OnDevice:
        """A new array."""
        return OnDevice(np.empty(shape, held or dtype), device)

    def current_stream(self, device: int) -> Callable[[], int]:
        """What gives the handle of the current stream."""
        return lambda: 0

    def current_device(self) -> int:
        """The first device."""
        return 0

    def capability(self, device: int) -> tuple[int, int]:
        """Compute capability."""
        return self._capability

    def load(self, cubin: bytes, entry: str, shared_bytes: int, device: int) -> int:
        """A handle of no function."""
        return 1

    def launch(self, *_: int) -> None:
        """Fails as the driver would."""
        raise RuntimeError(self._refusal or "CUDA_ERROR_NO_DEVICE")

    @contextlib.contextmanager
    def on(self, device: int, stream: int | None = None) -> Iterator[None]:
        """Nothing to make current."""
        yield
