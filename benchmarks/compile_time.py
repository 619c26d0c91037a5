"""Compile time of every kernel of the corpus, after warm-up: capture, directed passes, e-graph pass and printing apart.

    python -m benchmarks.compile_time [kernels/softmax.py ...]

Nodes are the terms of a kernel in coordinates.  A kernel is compiled for arrays of its first size, or for any where it
has none.  Times are those of the process, whatever runs beside.  Needs no GPU and does not run Triton: what a lower
compiler takes comes on top.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from intent_np.corpus.cases import Entry, entries
from intent_np.errors import IntentError

REPEATS = 5
EGRAPH, COORDINATES = "choose_plan", "lower_to_coordinates"
TYPICAL = range(100, 301)
"""Nodes of a typical kernel."""


class Times(NamedTuple):
    """Milliseconds of one compilation by part."""

    capture: float
    directed: float
    egraph: float
    printing: float


def measured(entry: Entry) -> tuple[int, Times]:
    """One compilation, from the function to the text of its module: its nodes and its times."""
    from intent_np.backends.triton.printer import print_triton
    from intent_np.compiler import LAST_OF_ALL, CompileOptions
    from intent_np.corpus.lowering import prepared
    from intent_np.passes.pipeline import Trace
    from intent_np.terms.core import Arena, walk

    permissions = CompileOptions(**entry.options).permissions
    with Arena():
        capture, _ = timed(lambda: entry.kernel.capture(entry.constexprs, permissions))
    compilation, options = prepared(entry)
    trace = Trace()
    with compilation.arena:
        launch = compilation.lowered(compilation.normal, options=options, trace=trace, after=LAST_OF_ALL)
        printing, _ = timed(lambda: print_triton(launch.function))
        nodes = len(walk(compilation.front.programs[COORDINATES]))
    passes = {**compilation.front.seconds, **trace.seconds}
    egraph = passes.pop(EGRAPH, 0.0) * 1e3
    return nodes, Times(capture, sum(passes.values()) * 1e3, egraph, printing)


def timed(work: Any) -> tuple[float, Any]:
    """Milliseconds of the process for a function without parameters, and its result."""
    start = time.process_time()
    result = work()
    return (time.process_time() - start) * 1e3, result


def kernels(places: Sequence[str]) -> Iterator[Entry]:
    """The kernels that reach Triton; of host programs, those that they launch."""
    for entry in entries(places):
        for one in entry.launches:
            try:
                measured(one)  # warms up
            except IntentError as e:
                if e.code != "E708":
                    raise
            else:
                yield one


def best(entry: Entry) -> tuple[int, Times]:
    """Each part's shortest time of some compilations."""
    runs = [measured(entry) for _ in range(REPEATS)]
    return runs[0][0], Times(*map(min, zip(*(times for _, times in runs), strict=True)))


def import_milliseconds() -> float:
    """`import intent_np` in a fresh process, the best of five."""
    code = "import time; t = time.process_time(); import intent_np; print(time.process_time() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)) * 1e3


def line(name: str, nodes: object, values: Sequence[float]) -> str:
    return f"{name:44} {nodes:>6}" + "".join(f"{v:>10.1f}" for v in values)


def main() -> None:
    found = {one.title: best(one) for one in kernels(sys.argv[1:] or ["kernels"])}
    print(f"{'milliseconds':44} {'nodes':>6}" + "".join(f"{part:>10}" for part in Times._fields))
    for name, (nodes, times) in found.items():
        print(line(name, nodes, times))
    typical = [(nodes, times) for nodes, times in found.values() if nodes in TYPICAL]
    for what, some in (("all", [*found.values()]), (f"{TYPICAL[0]} to {TYPICAL[-1]} nodes", typical)):
        for how, of in (("median", statistics.median), ("largest", max)):
            if some:
                columns = zip(*(times for _, times in some), strict=True)
                print(line(f"{len(some)} kernels, {what}: {how}", of(n for n, _ in some), [of(c) for c in columns]))
    print(f"import intent_np {import_milliseconds():.1f} ms")


if __name__ == "__main__":
    main()
