"""Targets: what a program is compiled for, as facts that passes may ask about.

A target is bound before the first pass and is part of the program.  Passes ask it for capabilities and never
compare its name.  `cpu` is the NumPy program machine, `reference` the NumPy meaning of logical terms; neither
has device facts.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Final, Literal

from intent_np.errors import error

_log = logging.getLogger(__name__)

_ALWAYS: Final = (
    "bool", "index", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "f8e5m2",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """One target.

    name:              `sm_90`, `cpu` or `reference`; the same name in the artifact's metadata
    kind:              `gpu`, or `cpu` for both NumPy machines
    capability:        CUDA compute capability, `(9, 0)`
    sms:               streaming multiprocessors
    shared_per_block:  dynamic shared memory that one block may have, bytes
    shared_per_sm:     shared memory of one multiprocessor, bytes
    registers_per_sm:  32-bit registers of one multiprocessor
    warps_per_sm:      resident warps of one multiprocessor
    l2_bytes:          size of the second-level cache, bytes
    dtypes:            element types that memory and arithmetic support, natively or by conversion
    """

    name: str
    kind: Literal["gpu", "cpu"] = "gpu"
    capability: tuple[int, int] = (0, 0)
    sms: int = 1
    shared_per_block: int = 0
    shared_per_sm: int = 0
    registers_per_sm: int = 65536
    warps_per_sm: int = 64
    l2_bytes: int = 0
    dtypes: tuple[str, ...] = (*_ALWAYS, "f8e4m3fn")

    @property
    def is_gpu(self) -> bool:
        """Whether it runs Triton, and not NumPy."""
        return self.kind == "gpu"

    @property
    def compute_capability(self) -> int:
        """The capability as lower compilers write it: 90 for 9.0."""
        return self.capability[0] * 10 + self.capability[1]

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Whether a cubin for this target loads on a device of `capability`.

        From 9.0 on the code uses features of exactly one architecture; before, a later minor version runs it.
        """
        if self.capability >= (9, 0):
            return capability == self.capability
        return capability[0] == self.capability[0] and capability[1] >= self.capability[1]

    def __str__(self) -> str:
        return self.name


CPU: Final = Target("cpu", "cpu")
REFERENCE: Final = Target("reference", "cpu")
SM_80: Final = Target("sm_80", "gpu", (8, 0), 108, 166_912, 167_936, l2_bytes=40 << 20, dtypes=_ALWAYS)
SM_90: Final = Target("sm_90", "gpu", (9, 0), 132, 232_448, 233_472, l2_bytes=50 << 20)
SM_100: Final = Target("sm_100", "gpu", (10, 0), 148, 232_448, 233_472, l2_bytes=126 << 20)

KNOWN: Final[dict[str, Target]] = {one.name: one for one in (CPU, REFERENCE, SM_80, SM_90, SM_100)}


def resolve(target: str | Target = "auto") -> Target:
    """The target that `target` names.  `auto` is this machine's GPU, else `cpu`, and is logged.

    Raises `ProviderError` E602 for a name that is not known.
    """
    if isinstance(target, Target):
        return target
    if target == "auto":
        found = _device_target() or CPU
        _log.info("target auto is %s", found.name)
        return found
    if target in KNOWN:
        return KNOWN[target]
    raise error("E602", target=target, name=target, candidates=["auto", *KNOWN])


def parse_name(name: str) -> tuple[int, int]:
    """The compute capability in a name such as `sm_90` or `sm_100`."""
    match = re.fullmatch(r"sm_(\d+)(\d)", name)
    if match is None:
        raise error("E602", target=name)
    return int(match[1]), int(match[2])


def _device_target() -> Target | None:
    """The target of the current CUDA device, or None when there is no usable one.

    A known capability takes its declared facts, so that all devices of one kind compile the same program; an
    unknown one is described by what its driver says.
    """
    try:
        import cupy

        if not cupy.is_available():
            return None
        device = cupy.cuda.Device()
        digits = device.compute_capability
        attributes = device.attributes
    except Exception as problem:  # no package, no driver or no device: each is a machine without a GPU
        _log.debug("no GPU: %s", problem)
        return None
    name = f"sm_{digits}"
    if name in KNOWN:
        return KNOWN[name]
    capability = parse_name(name)
    return Target(
        name,
        "gpu",
        capability,
        attributes["MultiProcessorCount"],
        attributes["MaxSharedMemoryPerBlockOptin"],
        attributes["MaxSharedMemoryPerMultiprocessor"],
        attributes["MaxRegistersPerMultiprocessor"],
        attributes["MaxThreadsPerMultiProcessor"] // 32,
        attributes["L2CacheSize"],
        (*_ALWAYS, "f8e4m3fn") if capability >= (8, 9) else _ALWAYS,
    )
