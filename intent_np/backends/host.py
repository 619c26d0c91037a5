"""A program on the NumPy machine of its level, as what an artifact calls."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..runtime.host import Machine
from ..runtime.plan import KernelPlan
from ..target import Target
from ..terms.core import Arena
from ..terms.normal import same_arrays


def level(target: Target) -> str:
    """The level that a NumPy target executes."""
    return "logical" if target.name == "reference" else "gpu"


def executor(kernel: KernelPlan, target: Target, program: Any, space: Arena, checking: bool = False) -> Machine:
    """What runs `program`, whose terms are in `space`; one call at a time.

    `checking` makes the reference raise a `CheckError` with all that is wrong with the call, once it is over.
    """
    if level(target) == "logical":
        from .reference import logical as machine
    else:
        from . import program as machine  # type: ignore[no-redef]
    views = {v.name for v in kernel.views}
    turn = threading.Lock()

    def execute(values: Mapping[str, Any]) -> None:
        arrays = {n: v for n, v in values.items() if n in views}
        scalars = {n: v for n, v in values.items() if n not in views}
        with turn, space:
            if checking and level(target) == "logical":
                from .reference.checking import check

                check(program, arrays, scalars).raise_if_any()
            else:
                machine.run(program, arrays, scalars)

    if level(target) == "logical":  # it evaluates a read where its value is used, which may be behind a write
        from .reference.one_array import one_array

        return Machine(execute, one_array(program))
    return Machine(execute, same_arrays(program.parameters))


def revive(kernel: KernelPlan, target: Target, texts: Mapping[str, str]) -> Machine:
    """The machine of a saved artifact, from the text of the level that it executes.

    Raises `KeyError` or `ParseError` where that text is missing or is not of this version.
    """
    from ..terms.gpu import GPU
    from ..terms.logical import LOGICAL
    from ..terms.parse import parse

    space = Arena()
    with space:
        program = parse(texts[level(target)], LOGICAL if level(target) == "logical" else GPU)
    return executor(kernel, target, program, space)
