"""What a machine does in a second, and from there how long work takes.

`Work` adds up over the executions of a plan, each paid once; `Launch` says how they are spread.  The units work beside
each other, so that the time is a norm of theirs that lies between the largest and the sum.  One of them is no unit but
waiting: what an instance does one thing after the other, hidden by the instances that share its processor.  Registers
decide how many those are, and they how much of what is read twice the caches still hold.

The constants are in `costs.json`, each with its reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

UNITS: Final = ("memory", "again", "l2", "near", "issue", "special", "tensor", "waits", "barriers")
"""What executions ask for, summed over all instances:

memory:    bytes that are stored, or read for the first time
again:     bytes that a loop reads once more, of what its instance alone reads
l2:        bytes of both stored and first reads, in whole sectors of memory
near:      bytes that are read once more, or by several instances
issue:     instructions of lanes
special:   uses of the special-function unit
tensor:    floating-point operations of tensor cores
waits:     iterations, each of which waits for what it loads
barriers:  reductions across lanes, and other meetings of an instance's warps
"""

MEMORY, AGAIN, L2, NEAR, ISSUE, SPECIAL, TENSOR, WAITS, BARRIERS = range(9)

Work = list[float]


class Launch(NamedTuple):
    """How work is spread.

    instances:  program instances
    warps:      of each
    registers:  that a thread wants
    streamed:   bytes that an instance alone reads between two visits of the same element, if some are visited twice
    shared:     bytes that all instances read
    tensor:     whether matrix instructions are used, which bring their own tiling
    """

    instances: int
    warps: int
    registers: float
    streamed: float
    shared: float
    tensor: bool


@cache
def costs() -> Mapping[str, Any]:
    """The constants of the reference machine."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("costs.json").read_text())
    return found


class Residency(NamedTuple):
    """What a processor holds at once: instances, and registers of a thread that go to memory."""

    blocks: int
    spilled: float


def residency(launch: Launch, processors: int, c: Mapping[str, Any]) -> Residency:
    """Registers are handed out in eights; more than the file has are spilled."""
    threads = launch.warps * 32
    cap = min(255, c["registers"] // threads // 8 * 8)
    registers = min(cap, math.ceil(launch.registers / 8) * 8)
    fitting = min(c["threads"] // threads, c["registers"] // (registers * threads), 1 if launch.tensor else 32)
    blocks = max(1, min(fitting, math.ceil(launch.instances / processors)))
    return Residency(blocks, max(0.0, launch.registers - cap))


def missed(launch: Launch, blocks: int, processors: int, c: Mapping[str, Any]) -> float:
    """The share of what is read again that the second-level cache has lost: nothing while all that streams past between
    two visits fills a part of it, everything from where it does not fit."""
    streamed = launch.streamed * min(launch.instances, processors * blocks) + launch.shared
    few, many = c["l2_kept"] * c["l2_bytes"], c["l2_lost"] * c["l2_bytes"]
    return min(1.0, max(0.0, (streamed - few) / (many - few)))


def seconds(work: Sequence[float], launch: Launch, processors: int, c: Mapping[str, Any] | None = None) -> float:
    """How long the work takes: for one launch a convex function of it."""
    c = c or costs()
    blocks, spilled = residency(launch, processors, c)
    threads, each = launch.warps * 32, launch.instances / processors
    issue = work[ISSUE] + launch.instances * threads * c["issue"]["instance"]
    again = missed(launch, blocks, processors, c) * max(0.0, work[AGAIN])  # less than none in part of a plan
    near = 0.0 if launch.streamed * blocks + launch.shared <= c["l1_bytes"] else max(0.0, work[NEAR])
    lanes = processors * c["clock"]
    units = [
        (work[MEMORY] + again) / c["memory"],
        (work[L2] + near) / c["l2"],
        issue / (lanes * c["lanes"]),
        work[SPECIAL] / (lanes * c["specials"]),
        work[TENSOR] / c["tensor"],
    ]
    if not launch.tensor:  # products are pipelined: their loads are under way before they are waited for
        alone = max(c["dependent"], launch.warps / 4)  # cycles from an instruction of a warp to its next
        chain = work[WAITS] * c["wait"] + work[BARRIERS] * c["barrier"] + issue / threads * alone / c["clock"]
        units.append((c["start"] + chain / launch.instances) * each / blocks)
    largest, p = max(units), c["overlap"]
    together = largest * sum((u / largest) ** p for u in units) ** (1 / p) if largest else 0.0
    fullest = math.ceil(each) / each  # the processor with the most instances is the last
    return together * fullest + spilled * threads * launch.instances * c["spill"] / c["l2"] + c["launch"]  # type: ignore[no-any-return]
