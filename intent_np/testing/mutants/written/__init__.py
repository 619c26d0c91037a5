"""Kernels that somebody has written for mutants that hardly any other kernel shows to be wrong."""

from __future__ import annotations

from typing import Final

from . import loops, parts, rules, statements, updates
from .kept import Written

MODULES: Final = (rules, statements, loops, parts, updates)
WRITTEN: Final[dict[str, Written]] = {
    one.kernel.name: one for module in MODULES for one in vars(module).values() if isinstance(one, Written)
}
"""By name."""
