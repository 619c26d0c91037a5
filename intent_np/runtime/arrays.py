"""Guests: arrays of other libraries, read without importing the library and without copying.

NumPy, CuPy and torch are known by name; anything else comes in through DLPack or `__cuda_array_interface__` and is
seen as a NumPy or CuPy array of the same memory.  A library that is not loaded is never imported: an array of it
could not exist.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

HOST: Final = -1
"""The device number of memory that NumPy reads."""

ACCEPTED: Final[dict[str, frozenset[str]]] = {
    "bool": frozenset({"bool"}),
    "index": frozenset({"int64"}),
    **{f"{kind[0]}{bits}": frozenset({f"{kind}{bits}"}) for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "f16": frozenset({"float16"}),
    "f32": frozenset({"float32"}),
    "f64": frozenset({"float64"}),
    "bf16": frozenset({"bfloat16"}),
    "f8e4m3fn": frozenset({"float8_e4m3fn"}),
    "f8e5m2": frozenset({"float8_e5m2"}),
}
"""The array dtypes, by NumPy's names, that hold elements of each dtype."""

CARRIERS: Final = {"bf16": "uint16", "f8e4m3fn": "uint8", "f8e5m2": "uint8"}
"""Unsigned integers that carry the bits of types which CuPy, or an older CuPy, does not have."""


class ArrayInfo(NamedTuple):
    """One array as a kernel sees it.

    pointer:   address of the first element
    shape:     extents
    strides:   bytes between neighbours along each axis
    dtype:     NumPy's name of the element type
    device:    CUDA device number, or `HOST`
    writable:  whether its owner allows writes
    value:     the array, of `library`
    """

    library: Library
    value: Any
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    writable: bool


class Reading(NamedTuple):
    """How the warm path of a call reads an array, as Python text: `{a}` is the array, `{m}` a name to use freely.

    pointer:  the address of its first element
    key:      hashable, all else that decides a launch, but for the alignment of the address; arrays alike in it may
              differ in strides along axes with one element, or where there are no elements
    before:   a statement to run first
    """

    pointer: str
    key: tuple[str, ...]
    before: str = ""


class Library(Protocol):
    """What is asked of an array library."""

    name: str
    carries_bits: bool  # accepts unsigned integers as `CARRIERS`

    def read(self, array: Any) -> ArrayInfo:
        """Everything about an array."""

    @property
    def reading(self) -> Reading:
        """The same, for the warm path."""

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, held: str | None) -> Any:
        """A new array of intent dtype `dtype`; `held` is the array dtype that holds such elements elsewhere in the
        call, which is followed if the library leaves a choice."""

    def current_stream(self, device: int) -> Callable[[], int]:
        """What gives the handle of the library's current stream on `device`, quickly."""


# ---- NumPy


class NumPy:
    """Arrays in host memory."""

    name = "numpy"
    carries_bits = False

    def read(self, array: Any) -> ArrayInfo:
        kind = array.dtype
        name = kind.name if kind.isnative else kind.str
        writable = bool(array.flags.writeable)
        return ArrayInfo(self, array, array.ctypes.data, array.shape, array.strides, name, HOST, writable)

    @property
    def reading(self) -> Reading:
        return Reading("{a}.ctypes.data", ("{a}.dtype", "{a}.shape", "{a}.strides", "{a}.flags.writeable"))

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, held: str | None) -> Any:
        return np.empty(shape, numpy_dtype(dtype))

    def current_stream(self, device: int) -> Callable[[], int]:
        return lambda: 0


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy type of an intent dtype; `bf16` and the 8-bit floats come from `ml_dtypes`."""
    (name,) = ACCEPTED[dtype]
    if dtype in CARRIERS:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


# ---- CuPy


class CuPy:
    """Arrays of CuPy, in device memory."""

    name = "cupy"
    carries_bits = True

    def read(self, array: Any) -> ArrayInfo:
        memory = array.data
        return ArrayInfo(self, array, memory.ptr, array.shape, array.strides, array.dtype.name, memory.device_id, True)

    @property
    def reading(self) -> Reading:
        # The flag takes a quarter of the time of the strides; CuPy's public `flags` would take more than both.
        flag = hasattr(sys.modules["cupy"].ndarray, "_c_contiguous")
        strides = "{a}._c_contiguous or {a}.strides" if flag else "{a}.strides"
        return Reading("{m}.ptr", ("{a}.dtype", "{a}.shape", strides, "{m}.device_id"), before="{m} = {a}.data")

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, held: str | None) -> Any:
        import cupy

        with cupy.cuda.Device(device):
            if dtype not in CARRIERS:
                return cupy.empty(shape, numpy_dtype(dtype))
            carrier = CARRIERS[dtype]
            if held != carrier:
                try:
                    return cupy.empty(shape, numpy_dtype(dtype))
                except (ImportError, ValueError, TypeError):  # this CuPy does not have the type
                    pass
            return cupy.empty(shape, carrier)

    def current_stream(self, device: int) -> Callable[[], int]:
        import cupy

        current = cupy.cuda.get_current_stream
        return lambda: current(device).ptr  # type: ignore[no-any-return]


# ---- torch


class Torch:
    """Tensors of torch, which is in `sys.modules` since there is a tensor."""

    name = "torch"
    carries_bits = False

    def read(self, array: Any) -> ArrayInfo:
        itemsize = array.element_size()
        strides = tuple(step * itemsize for step in array.stride())
        device = array.device.index if array.is_cuda else HOST
        dtype = str(array.dtype).removeprefix("torch.")
        # torch has no read-only memory
        return ArrayInfo(self, array, array.data_ptr(), tuple(array.shape), strides, dtype, device, True)

    @property
    def reading(self) -> Reading:
        strides = "{a}.is_contiguous() or {a}.stride()"
        return Reading("{a}.data_ptr()", ("{a}.dtype", "{a}.shape", strides, "{a}.get_device()"))

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, held: str | None) -> Any:
        torch = sys.modules["torch"]
        (name,) = ACCEPTED[dtype]
        place = "cpu" if device == HOST else f"cuda:{device}"
        return torch.empty(shape, dtype=getattr(torch, name), device=place)

    def current_stream(self, device: int) -> Callable[[], int]:
        torch = sys.modules["torch"]
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # a fiftieth of the public call's time
        if raw is not None:
            return functools.partial(raw, device)
        return lambda: torch.cuda.current_stream(device).cuda_stream  # type: ignore[no-any-return]


# ---- anything else


class Foreign:
    """An array of an unknown library, for outputs that must go back to it; `home` is its package."""

    def __init__(self, home: str) -> None:
        self.name = home

    def writable(self, array: Any) -> bool:
        """Whether its owner allows writes, as far as it says."""
        if self.name in ("jax", "jaxlib"):
            return False  # immutable, whatever protocol they speak
        for protocol in ("__cuda_array_interface__", "__array_interface__"):
            interface = getattr(array, protocol, None)
            if interface is not None:
                return not interface["data"][1]
        return True

    def returned(self, array: Any) -> Any:
        """`array` of NumPy or CuPy as an array of this library, through DLPack where the library takes it."""
        # The type of a JAX array is defined in jaxlib, its functions in jax.
        package = sys.modules.get({"jaxlib": "jax"}.get(self.name, self.name))
        for owner in (getattr(package, "dlpack", None), package):
            take = getattr(owner, "from_dlpack", None)
            if take is not None:
                try:
                    return take(array)
                except (TypeError, ValueError, RuntimeError, BufferError):  # a type that it does not exchange
                    continue
        return array


NUMPY: Final = NumPy()
CUPY: Final = CuPy()
TORCH: Final = Torch()

_KNOWN: Final[dict[tuple[str, str], Library]] = {
    ("numpy", "ndarray"): NUMPY,
    ("cupy", "ndarray"): CUPY,
    ("torch", "Tensor"): TORCH,
}
LIBRARIES: Final[dict[type, Library]] = {}
"""Array types seen so far; a test adds its own."""


def library_of(array: Any) -> Library | None:
    """The library of an array whose type, or a base of it, is known; None for other arrays and other things."""
    kind = type(array)
    found = LIBRARIES.get(kind)
    if found is None:
        for base in kind.__mro__:
            package = base.__module__.partition(".")[0]
            if (package, base.__name__) in _KNOWN:
                found = LIBRARIES[kind] = _KNOWN[package, base.__name__]
                break
    return found


def adopt(thing: Any) -> tuple[Any, Foreign | None] | None:
    """A NumPy or CuPy array of the memory of `thing`, and the library it came from; None if it is no array.

    A known array is returned as it is.
    """
    if library_of(thing) is not None:
        return thing, None
    home = Foreign(type(thing).__module__.partition(".")[0])
    if hasattr(thing, "__dlpack__") and hasattr(thing, "__dlpack_device__"):
        on_host = thing.__dlpack_device__()[0] == 1
        # DLPack orders the producer's stream before ours; the array interface need not.
        return (np.from_dlpack(thing) if on_host else _cupy_from_dlpack(thing)), home
    if hasattr(thing, "__cuda_array_interface__"):
        import cupy

        return cupy.asarray(thing), home
    if hasattr(thing, "__array_interface__"):
        return np.asarray(thing), home
    return None


def _cupy_from_dlpack(thing: Any) -> Any:
    import cupy

    return cupy.from_dlpack(thing)


def as_numpy(info: ArrayInfo) -> Any:
    """A NumPy array of the same host memory."""
    if info.library.name != "torch":
        return info.value
    tensor = info.value.detach()
    if not info.dtype.startswith(("bfloat", "float8")):
        return tensor.numpy()
    import ml_dtypes

    torch = sys.modules["torch"]
    bits = tensor.view(torch.int16 if info.dtype == "bfloat16" else torch.uint8).numpy()
    return bits.view(getattr(ml_dtypes, info.dtype))
