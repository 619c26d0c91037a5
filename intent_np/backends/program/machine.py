"""Which machine executes a program: the class of its root says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...terms.blocked import BlockedProgram
from ...terms.gpu import Kernel
from ...terms.grouped import GroupedProgram
from ...terms.normal import Program
from ..arrays.counters import Counters
from ..arrays.schedule import BUDGET
from ..reference import normal
from . import blocked, gpu, grouped

MACHINES: dict[type, Any] = {
    Program: normal.run,
    GroupedProgram: grouped.run,
    BlockedProgram: blocked.run,
    Kernel: gpu.run,
}


def run(
    program: Any,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    order: str = "forward",
    counters: Counters | None = None,
    budget: int = BUDGET,
) -> None:
    """Execute a normal, grouped, blocked or gpu program.

    `arrays` are NumPy arrays by view name, of any strides, written in place; workspaces may be left out.  `scalars` are
    the values of scalar parameters, and of extents that no array shows.  Every access is checked against its bounds.

    `strict` also finds races between instances, elements that a store writes twice, reads of what nobody wrote, and
    padded lanes that touch memory.  `order` is that of the instances: `forward`, `reverse` or `random`; a program whose
    result depends on it is wrong.  `counters` collects what was done.  `budget` bounds the bytes of temporaries, by
    performing fewer instances at once.
    """
    machine = MACHINES.get(type(program))
    if machine is None:
        raise TypeError(f"a {type(program).__name__} is no normal, grouped, blocked or gpu program")
    machine(program, arrays, scalars, strict=strict, order=order, counters=counters, budget=budget)
