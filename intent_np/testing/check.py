"""Running a case once and saying all that is wrong with the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arguments import arguments
from .case import Case, Extents
from .compare import Comparison, compare
from .views import guards_intact, memory


@dataclass(frozen=True, slots=True)
class Report:
    """The comparisons by output, and complaints about memory that the kernel should have left alone."""

    outputs: dict[str, Comparison]
    complaints: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every output is as expected, and nothing else was found."""
        return not self.complaints and all(c.ok for c in self.outputs.values())

    @property
    def max_error(self) -> float:
        """The largest absolute error of any output."""
        return max((c.max_error for c in self.outputs.values()), default=0.0)

    @property
    def max_ratio(self) -> float:
        """The largest error of any output in units of its bound."""
        return max((c.max_ratio for c in self.outputs.values()), default=0.0)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "; ".join([f"{name}: {c.message}" for name, c in self.outputs.items()] + list(self.complaints))


def check(
    case: Case,
    launch: Callable[..., Any],
    extents: Extents,
    seed: int = 0,
    layout: str = "contiguous",
    values: str | None = None,
) -> Report:
    """Call `launch(*arguments)` (all parameters in order, outputs written in place) and compare with the oracle.

    Guard memory, and inputs, must be as they were.
    """
    given = arguments(case, extents, seed, layout, values)
    views = {name: a for name, a in given.items() if isinstance(a, np.ndarray)}
    before = {name: memory(view).copy() for name, view in views.items() if name not in case.outputs}
    expected = case.expected(given)
    launch(*given.values())
    changed = [f"input {name} was written" for name, b in before.items() if not np.array_equal(memory(views[name]), b)]
    spilled = [f"memory around {name} was written" for name in case.outputs if not guards_intact(views[name])]
    return Report({name: compare(views[name], e) for name, e in expected.items()}, (*changed, *spilled))
