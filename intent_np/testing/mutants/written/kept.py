"""A kernel that somebody has written for a mutant, with how it is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Written(NamedTuple):
    """A kernel, the launch class that it is compiled for, and whether its debug statements report."""

    kernel: Any
    which: str
    reports: bool


def written(which: str = "small blocks", reports: bool = False) -> Callable[[Any], Written]:
    """Decorator: a kernel with how it is tried."""
    return lambda kernel: Written(kernel, which, reports)
