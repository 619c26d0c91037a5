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

UNITS: Final = (
    "memory", "again", "l2", "near", "streamed", "issue", "phased", "special", "branches",
    "tensor", "waits", "arrivals", "barriers",
)  # fmt: skip
"""What executions ask for, summed over all instances:

memory:    bytes that are stored, or read for the first time
again:     bytes that a loop reads once more, of what its instance alone reads
l2:        bytes of both stored and first reads, in whole sectors of memory
near:      bytes that are read once more, or by several instances
streamed:  bytes that loops read or keep, each once: what comes past between two visits of the same element
issue:     instructions of lanes
phased:    those, each execution as long as its special functions take where that is longer
special:   uses of the special-function unit
branches:  operations of two cases, through both of which a warp goes, with nothing else to issue meanwhile
tensor:    floating-point operations of tensor cores
waits:     iterations: each waits for what it loads, unless a cache holds it
arrivals:  those that visit something first, and so wait for memory in any case
barriers:  reductions across lanes, and other meetings of an instance's warps
"""

MEMORY, AGAIN, L2, NEAR, STREAMED, ISSUE, PHASED, SPECIAL, BRANCHES, TENSOR, WAITS, ARRIVALS, BARRIERS = range(13)

SCHEDULERS = 4
"""Of a processor: each issues an instruction of a warp in a cycle."""

Work = list[float]


class Launch(NamedTuple):
    """How work is spread.

    instances:  program instances
    warps:      of each
    registers:  that a thread wants
    shared:     bytes that all instances read
    tensor:     whether matrix instructions are used, which bring their own tiling
    looped:     whether it walks an axis by loops, in which each warp goes on by itself
    spilled:    registers of a thread that are known to be in memory, beside those
    """

    instances: int
    warps: int
    registers: float
    shared: float
    tensor: bool
    looped: bool
    spilled: float = 0.0


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
    return Residency(blocks, max(0.0, launch.registers - cap) + launch.spilled)


def missed(streamed: float, shared: float, kept: float, lost: float) -> float:
    """The share of what is read again that a cache has lost: nothing while all that streams past between two visits
    fills `kept` bytes, everything from where it takes `lost`."""
    return min(1.0, max(0.0, (streamed + shared - kept) / (lost - kept)))


def seconds(work: Sequence[float], launch: Launch, processors: int, c: Mapping[str, Any] | None = None) -> float:
    """How long the work takes: more work is never faster."""
    c = c or costs()
    blocks, spilled = residency(launch, processors, c)
    n, threads, each = launch.instances, launch.warps * 32, launch.instances / processors
    own = n * threads * c["issue"]["instance"]
    issue = work[ISSUE] + own
    stream = work[STREAMED] / n
    lost = missed(
        stream * min(n, processors * blocks), launch.shared, c["l2_kept"] * c["l2_bytes"], c["l2_lost"] * c["l2_bytes"]
    )
    near = max(0.0, work[NEAR]) * missed(stream * blocks, launch.shared, c["l1_kept"], c["l1_lost"])
    again = lost * max(0.0, work[AGAIN])  # less than none in part of a plan
    lanes = processors * c["clock"]
    units = [
        (work[MEMORY] + again) / c["memory"],
        (work[L2] + near) / c["l2"],
        max(issue / c["lanes"], work[SPECIAL] / c["specials"]) / lanes,  # of one warp beside those of another
        work[TENSOR] / c["tensor"],
    ]
    waits = max(0.0, work[WAITS])
    first = min(waits, work[ARRIVALS])
    arrivals = first + lost * (waits - first)
    chain = arrivals * c["arrival"] + work[BARRIERS] * (c["barrier"] + c["meeting"] * launch.warps)
    overlap = c["overlap"]
    if launch.tensor:  # all warps of the one instance wait for the product; what is kept beside it is not under way
        units[-1] += (chain / n) * each + (1 + lost) * work[STREAMED] / c["memory"]
    else:
        latency = issue * c["dependent"] + work[BRANCHES] * c["branch"]  # of the instructions of a warp, one by one
        if not launch.looped:  # what is held goes from phase to phase, all warps at once
            latency, overlap = max(latency, (work[PHASED] + own) * launch.warps / SCHEDULERS), c["phases"]
            change = c["change"] if launch.warps > 1 else 0.0  # all wait for the last one
            chain += work[L2] / c["draw"] + work[BARRIERS] * change
        chain += latency / threads / c["clock"]
        units.append((c["start"] + chain / n) * each / blocks)
    largest, p = max(units), max(1.0, overlap * blocks ** c["company"])
    together = largest * sum((u / largest) ** p for u in units) ** (1 / p) if largest else 0.0
    turns = each / blocks  # the last ones leave processors idle
    last = 1 + c["tail"] * (math.ceil(turns) / turns - 1)
    return together * last + spilled * threads * n * c["spill"] / c["l2"] + c["launch"]  # type: ignore[no-any-return]
