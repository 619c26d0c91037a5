"""Time from Python kernel to Triton source, for every kernel of the corpus, after warm-up; and of `import intent_np`.

    python -m benchmarks.compile_time [kernels/softmax.py ...]

Needs no GPU and does not run Triton: what a lower compiler takes comes on top.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from intent_np.corpus.cases import Entry, entries
from intent_np.errors import IntentError


def seconds(entry: Entry) -> float:
    """One compilation, from the function to the text of its module."""
    from intent_np.backends.triton.printer import print_triton
    from intent_np.corpus.lowering import lower

    start = time.perf_counter()
    compilation, launch = lower(entry)
    with compilation.arena:
        print_triton(launch.function)
    return time.perf_counter() - start


def kernels(places: Sequence[str]) -> Iterator[Entry]:
    """The kernels that reach Triton; of host programs, those that they launch."""
    for entry in entries(places):
        for one in entry.launches:
            try:
                seconds(one)  # warms up
            except IntentError as e:
                if e.code != "E708":
                    raise
            else:
                yield one


def import_seconds() -> float:
    """`import intent_np` in a fresh process, the best of five."""
    code = "import time; t = time.perf_counter(); import intent_np; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def main() -> None:
    times = {one.title: min(seconds(one) for _ in range(3)) for one in kernels(sys.argv[1:] or ["kernels"])}
    for name, value in times.items():
        print(f"{name:44} {value * 1e3:7.1f} ms")
    values = list(times.values())
    print(f"{len(values)} kernels: median {statistics.median(values) * 1e3:.1f} ms, largest {max(values) * 1e3:.1f} ms")
    print(f"import intent_np {import_seconds() * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
