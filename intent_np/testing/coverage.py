"""What random kernels are made of: `python -m intent_np.testing.coverage --seeds 2000`.

For each production the share of kernels that it went into, the rarest first; the sizes of their logical programs; how
many have two structured operations or more.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..terms.core import Arena, walk
from .generator.algebra import ALGEBRA
from .generator.kernels import Config, random_kernel
from .generator.monoids import BASES, COMPOSED
from .generator.pointwise import FORMS
from .generator.statements import STATEMENTS
from .generator.states import STATES
from .generator.values import VALUES

CONSTRUCTS = (*VALUES, *STATEMENTS, *ALGEBRA, *STATES, *FORMS, *(f"monoid {n}" for n in (*BASES, *COMPOSED)))
"""Every production, each operator and monoid that the table of one of them has, and what loops do with states."""


@dataclass(frozen=True)
class Coverage:
    """Of so many kernels: in how many each construct occurs, terms of each logical program, and structured operations
    of each kernel."""

    kernels: int
    found: Counter[str]
    sizes: tuple[int, ...]
    structured: tuple[int, ...]

    def share(self, construct: str) -> float:
        """The share of kernels with a construct."""
        return self.found[construct] / max(self.kernels, 1)

    @property
    def median(self) -> int:
        """Terms of a program in the middle."""
        return sorted(self.sizes)[len(self.sizes) // 2] if self.sizes else 0

    @property
    def with_two(self) -> float:
        """The share of kernels with two structured operations or more."""
        return sum(n >= 2 for n in self.structured) / max(self.kernels, 1)

    def __str__(self) -> str:
        rows = sorted(self.found | Counter(dict.fromkeys(CONSTRUCTS, 0)), key=lambda n: (self.found[n], n))
        lines = [f"{100 * self.share(n):6.1f} %  {n}" for n in rows]
        lines.append(f"{self.kernels} kernels, {self.median} terms in the median")
        return "\n".join([*lines, f"{100 * self.with_two:.0f} % of them with two structured operations or more"])


def coverage(seeds: Iterable[int], config: Config | None = None, captured: int = 100) -> Coverage:
    """Measure the kernels of these seeds; terms are counted of the first `captured` of them."""
    found: Counter[str] = Counter()
    sizes: list[int] = []
    structured: list[int] = []
    count = 0
    for seed in seeds:
        made = random_kernel(seed, config)
        found.update(made.used.keys())
        structured.append(sum(n for p, n in made.used.items() if p in VALUES and VALUES[p].structured))
        count += 1
        if len(sizes) < captured:
            with Arena():
                sizes.append(sum(1 for _ in walk(made.kernel.capture({}))))
    return Coverage(count, found, tuple(sizes), tuple(structured))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many kernels")
    print(coverage(range(parser.parse_args().seeds)))
