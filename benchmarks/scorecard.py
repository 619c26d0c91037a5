"""The scorecard: kernels at large sizes beside the best that is known for each, on this machine's GPU, in one run.

    intent-np build benchmarks/cases.py --target sm_90 --out out
    python -m benchmarks.scorecard --artifacts out

Peers are PyTorch (eager, torch.compile, its fused attention) and Triton kernels written by hand; each is left out where
it can't run, and that is said.  What peers compile is compiled first, in several processes.  Then one child process
measures row after row; a row that takes too long or faults costs no other row.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .measure import measure, warm
from .ranking import report
from .rows import SCORECARD
from .supervise import publish, serve, supervise


def main() -> int:
    options = _options()
    artifacts = Path(options.artifacts)
    if options.warm:
        for item in options.items:
            warm(SCORECARD[int(item)])
        return 0
    if options.worker:
        journal = Path(options.worker)
        return serve(options.items, journal, lambda item: measure(SCORECARD[int(item)], artifacts, options.repeats))
    started = time.monotonic()
    chosen = [str(i) for i, row in enumerate(SCORECARD) if not options.only or row.case in options.only]
    with tempfile.TemporaryDirectory() as caches:
        for variable in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
            os.environ.setdefault(variable, str(Path(caches) / variable.lower()))
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # one more pool a process costs more than it gains
        _warm(chosen, options.jobs, started + options.budget / 2)
        warmed = time.monotonic() - started
        command = ["benchmarks.scorecard", "--artifacts", options.artifacts, "--repeats", str(options.repeats)]
        records = supervise(command, chosen, started + options.budget, options.limit)
    rows = {SCORECARD[int(i)].title: record for i, record in records.items()}
    text = report(rows)
    text += f"\n\npeers compiled in {warmed:.0f} s, everything in {time.monotonic() - started:.0f} s"
    return publish(options.out, "scorecard", rows, text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.scorecard", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--artifacts", default="out", help="folder of `intent-np build`")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where scorecard.json and .txt go")
    parser.add_argument("--only", nargs="*", default=[], help="names of cases")
    parser.add_argument("--repeats", type=int, default=25, help="timed calls of each function")
    parser.add_argument("--budget", type=float, default=140.0, help="seconds for everything")
    parser.add_argument("--limit", type=float, default=25.0, help="seconds that one row may take")
    parser.add_argument("--jobs", type=int, default=min(10, os.cpu_count() or 1), help="processes that compile peers")
    parser.add_argument("--warm", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("items", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


def _warm(chosen: list[str], jobs: int, deadline: float) -> None:
    """Compile the peers of the rows, dealt out to processes; what is not done by the deadline is left to its row."""
    command = [sys.executable, "-m", "benchmarks.scorecard", "--warm", "--"]
    children = [subprocess.Popen([*command, *dealt]) for i in range(jobs) if (dealt := chosen[i::jobs])]
    for child in children:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    sys.exit(main())
