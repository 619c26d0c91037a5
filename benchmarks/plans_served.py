"""How many execution groups have a plan, and why others have none: of the corpus, and of random kernels.

    python -m benchmarks.plans_served [--random 200] [--first 0] [--names] [kernels/softmax.py ...]

Each kernel is lowered as far as `choose_plan`, as it is by default; every group is then asked for its plans.  A kernel
of the corpus is compiled for arrays of its first size, or for any where it has none, a random one for any.  `--names`
prints the kernels of each line but the first two.  Needs no GPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from intent_np.compiler import LAST_OF_ALL, Compilation, CompileOptions
from intent_np.corpus.cases import entries
from intent_np.corpus.lowering import prepared
from intent_np.errors import IntentError
from intent_np.planning.explain import NOTHING, explained
from intent_np.target import SM_90
from intent_np.testing import random_kernel

from .tables import table

PLANNED = "with a plan"
Reasons = dict[str, list[str]]
"""The groups, each by the name of its kernel, by what keeps their plan from being chosen."""


def corpus(places: list[str]) -> Iterator[tuple[str, Compilation, Mapping[str, Any]]]:
    """The kernels of the corpus; of host programs those that they launch."""
    for entry in entries(places):
        for one in entry.launches:
            compilation, options = prepared(one)
            yield one.title, compilation, options


def random(first: int, count: int) -> Iterator[tuple[str, Compilation, Mapping[str, Any]]]:
    """Random kernels by their seeds."""
    for seed in range(first, first + count):
        yield f"seed {seed}", Compilation(random_kernel(seed).kernel, SM_90, {}, CompileOptions()), {}


def served(kernels: Iterator[tuple[str, Compilation, Mapping[str, Any]]]) -> Reasons:
    """The groups of kernels, by why they have no plan."""
    found: Reasons = {PLANNED: [], NOTHING: []}
    for title, made, options in kernels:
        with made.arena:
            try:
                program = made.lowered(
                    made.normal, options=dict(options), after=LAST_OF_ALL, stop_after="split_reductions"
                )
            except IntentError as e:
                if e.code != "E708":  # only the reference executes it
                    raise
                continue
            for g in explained(program, shown=1):  # type: ignore[arg-type]
                found.setdefault(g["directed"] or PLANNED, []).append(title)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=["kernels"], help="kernels of the corpus")
    parser.add_argument("--random", type=int, default=200, help="how many random kernels")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of them")
    parser.add_argument("--names", action="store_true", help="print the kernels, too")
    given = parser.parse_args()
    columns = [served(corpus(given.places)), served(random(given.first, given.random))]
    reasons = sorted({r: None for c in columns for r in c}, key=lambda r: r not in (PLANNED, NOTHING))
    rows = [[r, *(str(len(c.get(r, ()))) for c in columns)] for r in reasons]
    print("\n".join(table(("groups", "of the corpus", f"of {given.random} random kernels"), rows)))
    for r in reasons[2:] if given.names else ():
        print(f"{r}: {', '.join(n for c in columns for n in c.get(r, ()))}")


if __name__ == "__main__":
    main()
