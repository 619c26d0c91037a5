"""What a machine does in a second, and from there how long work takes.

`Work` adds up over the executions of a plan, each paid once; `Launch` says how they are spread.  The units work beside
each other, so that the time is a norm of theirs that lies between the largest and the sum; barriers, the last wave and
registers that don't suffice come on top.  The constants are in `costs.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

UNITS = ("memory", "l2", "issue", "special", "tensor", "barriers")
"""Bytes from and to memory; bytes through the second-level cache; instructions of lanes; uses of the special-function
unit; floating-point operations of tensor cores; barriers, all over the instances."""

MEMORY, L2, ISSUE, SPECIAL, TENSOR, BARRIERS = range(6)

Work = list[float]


class Launch(NamedTuple):
    """How work is spread.

    instances:  program instances
    warps:      of each
    elements:   of the largest fragment, for each thread
    live:       such fragments that are needed at once
    loops:      whether they are walked in loops
    tensor:     whether matrix instructions are used, which bring their own tiling
    """

    instances: int
    warps: int
    elements: float
    live: float
    loops: bool
    tensor: bool


@cache
def costs() -> Mapping[str, Any]:
    """The constants of the reference machine."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("costs.json").read_text())
    return found


class Residency(NamedTuple):
    """What an instance takes: registers of a thread that it wants and gets, and instances of a processor."""

    wanted: float
    registers: float
    blocks: int


def residency(launch: Launch, processors: int, c: Mapping[str, Any]) -> Residency:
    """The registers that a launch wants and gets, and the blocks that a multiprocessor holds at once."""
    threads = launch.warps * 32
    cap = min(255, c["registers"] // threads // 8 * 8)
    wanted = (
        200
        if launch.tensor
        else (26 + 2 * launch.elements if launch.loops else 14 + (1.2 * launch.live + 0.35) * launch.elements)
    )
    registers = min(cap, math.ceil(wanted / 8) * 8)
    fitting = min(c["threads"] // threads, c["registers"] // (registers * threads), 2 if launch.tensor else 32)
    return Residency(wanted, registers, max(1, min(fitting, math.ceil(launch.instances / processors))))


def seconds(work: Work, launch: Launch, processors: int, c: Mapping[str, Any] | None = None) -> float:
    """How long the work takes."""
    c = c or costs()
    r = residency(launch, processors, c)
    threads = launch.warps * 32
    flight = 1.0 if launch.tensor else min(1.0, r.blocks * threads * launch.elements * 2 / c["in_flight"])
    busy = min(1.0, (r.blocks * launch.warps / 16) ** 0.8)
    lanes = processors * c["clock"]
    units = (
        work[MEMORY] / (c["memory"] * flight),
        work[L2] / c["l2"],
        work[ISSUE] / (lanes * c["lanes"] * busy),
        work[SPECIAL] / (lanes * c["specials"]),
        work[TENSOR] / c["tensor"],
    )
    p = c["overlap"]
    largest = max(units)
    together = largest * sum((u / largest) ** p for u in units) ** (1 / p) if largest else 0.0
    barrier = c["barrier"] + c["barrier_warp"] * launch.warps
    waiting = work[BARRIERS] * barrier / (processors * r.blocks)
    spilled = max(0.0, r.wanted - r.registers) * threads * launch.instances * 12 / c["l2"]
    return (together + waiting) * _last_wave(launch.instances / (processors * r.blocks)) + spilled + c["launch"]  # type: ignore[no-any-return]


def _last_wave(waves: float) -> float:
    """How much longer the whole takes since its last wave is not full; less than one wave fills processors in part."""
    if waves <= 0:
        return 1.0
    full = math.ceil(waves) / waves
    return full if waves < 1 else 1 + 0.35 * (full - 1)
