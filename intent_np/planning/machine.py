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
from typing import Any, Final, NamedTuple

UNITS: Final = ("memory", "l2", "issue", "special", "tensor", "iterations", "barriers")
"""Bytes from and to memory; bytes through the second-level cache; instructions of lanes; uses of the special-function
unit; floating-point operations of tensor cores; iterations of loops and barriers, summed over the instances."""

MEMORY, L2, ISSUE, SPECIAL, TENSOR, ITERATIONS, BARRIERS = range(7)

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
    """Registers grow with the elements of a thread; without loops also with the fragments that are needed at once."""
    threads = launch.warps * 32
    cap = min(255, c["registers"] // threads // 8 * 8)
    if launch.tensor:
        wanted = 200.0  # an accumulator and operands of the usual tiles
    elif launch.loops:
        wanted = 26 + c["loop_registers"] * launch.elements
    else:
        wanted = 14 + (c["whole_registers"] * launch.live + 0.35) * launch.elements
    registers = min(cap, math.ceil(wanted / 8) * 8)
    fitting = min(c["threads"] // threads, c["registers"] // (registers * threads), 2 if launch.tensor else 32)
    return Residency(wanted, registers, max(1, min(fitting, math.ceil(launch.instances / processors))))


def seconds(work: Work, launch: Launch, processors: int, c: Mapping[str, Any] | None = None) -> float:
    """How long the work takes."""
    c = c or costs()
    r = residency(launch, processors, c)
    threads, blocks = launch.warps * 32, r.blocks
    fed, busy = 1.0, 1.0
    if not launch.tensor:  # little in flight leaves the memory waiting, and few warps the schedulers
        fed = min(1.0, blocks * threads * launch.elements * 2 / c["in_flight"])
        busy = min(1.0, (blocks * launch.warps / c["busy_warps"]) ** c["busy_power"])
    lanes = processors * c["clock"]
    units = (
        work[MEMORY] / (c["memory"] * fed),
        work[L2] / c["l2"],
        work[ISSUE] * c["issue_share"] / (lanes * c["lanes"] * busy),
        work[SPECIAL] * c["special_share"] / (lanes * c["specials"]),
        work[TENSOR] / c["tensor"],
        work[ITERATIONS] * c["iteration"] / (processors * blocks),
    )
    largest, p = max(units), c["overlap"]
    together = largest * sum((u / largest) ** p for u in units) ** (1 / p) if largest else 0.0
    barrier = c["barrier"] + c["barrier_warp"] * launch.warps
    waiting = work[BARRIERS] * barrier / (processors * blocks)
    spilled = max(0.0, r.wanted - r.registers) * threads * launch.instances * c["spill"] / c["l2"]
    filled = _last_wave(launch.instances / (processors * blocks), c["last_wave"])
    return (together + waiting) * filled + spilled + c["launch"]  # type: ignore[no-any-return]


def _last_wave(waves: float, share: float) -> float:
    """How much longer the whole takes since its last wave is not full; less than one wave fills processors in part."""
    if waves <= 0:
        return 1.0
    full = math.ceil(waves) / waves
    return full if waves < 1 else 1 + share * (full - 1)
