"""Oracles, arguments and comparison for kernels, the corpus's and yours.

`arguments` makes inputs with awkward values and layouts inside guarded memory; `approx` computes what a formula may
come out as on a machine that rounds; `compare` says whether an output is within that; `check` does all three.
`check_kernel` executes a kernel in checking mode and says what no execution may depend on.

`random_kernel` is the kernel of a seed, over all constructs of the language; `kernels` and `terms` are strategies
of hypothesis, which is imported when they are asked for.  `intent_np.testing.strategies` has those of the arguments of
a kernel and of rules as well.
"""

from __future__ import annotations

from typing import Any

from .approx import Approx, exact
from .arguments import arguments
from .bounds import expected
from .case import Case
from .check import Report, check
from .checked import Checked, check_calls, check_kernel, generated_calls
from .compare import Comparison, Expected, compare, ulps
from .generator import Config, RandomKernel, random_kernel
from .host import HostProgram, host_program, launch, launching
from .values import KINDS
from .views import LAYOUTS, guards_intact

__all__ = [
    "KINDS",
    "LAYOUTS",
    "Approx",
    "Case",
    "Checked",
    "Comparison",
    "Config",
    "Expected",
    "HostProgram",
    "RandomKernel",
    "Report",
    "arguments",
    "check",
    "check_calls",
    "check_kernel",
    "compare",
    "exact",
    "expected",
    "generated_calls",
    "guards_intact",
    "host_program",
    "kernels",
    "launch",
    "launching",
    "random_kernel",
    "terms",
    "ulps",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("kernels", "terms"):
        from . import strategies

        return getattr(strategies, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
