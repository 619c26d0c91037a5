"""Check built kernels on this machine's GPU.

    intent-np build kernels --target sm_90 --out out
    python -m benchmarks.device --artifacts out

Built with `--option lower_to_triton.descending=true` as well, all is checked in another order of instances; with
`--option lower_to_triton.instances=7`, with several points to each.

Sections: `check` (every kernel at small sizes against its oracle), `large` (the corpus's large sizes against the
oracle), `overhead` (host time of a call).  Building needs no GPU and running needs no Triton: the folder may come from
another machine.

The work is done in a child process, one item after another.  When an item faults the GPU or hangs, it is recorded so
and a new child goes on with the next.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from .supervise import Record, publish, serve, supervise
from .tables import said, short, table
from .work import LARGE, SECTIONS, Settings, items, perform

HANG = 90.0  # seconds without a finished item before the child is given up


def main() -> int:
    options = _options()
    settings = Settings(Path(options.artifacts), options.rounds)
    if options.worker:
        return serve(options.items, Path(options.worker), lambda item: perform(item, settings))
    command = ["benchmarks.device", "--artifacts", options.artifacts, "--rounds", str(options.rounds)]
    names = items(options.sections, options.only)
    records = supervise(command, names, time.monotonic() + options.budget, HANG)
    return publish(options.out, "device", records, _tables(records))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.device", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--artifacts", default="out", help="folder of `intent-np build`")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where device.json and device.txt go")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--only", nargs="*", default=[], help="names of kernels or families")
    parser.add_argument("--rounds", type=int, default=3, help="layouts and values for each small size")
    parser.add_argument("--budget", type=float, default=450.0, help="seconds after which no further item starts")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("items", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


# What is printed
def _tables(records: dict[str, Record]) -> str:
    """Markdown: checks by kernel, then those of large sizes."""
    lines = []
    checks = {name.partition(":")[2]: r for name, r in records.items() if name.startswith("check:")}
    if checks:
        lines += table(
            ("kernel", "calls", "max error", "of its bound", ""),
            [
                (name, r.get("calls", ""), short(r, "max_error"), short(r, "max_ratio"), said(r))
                for name, r in checks.items()
            ],
        )
    large = {LARGE[int(name.partition(":")[2])]: r for name, r in records.items() if name.startswith("large:")}
    if large:
        lines += [
            "",
            *table(
                ("kernel", "size", "max error", "of its bound", ""),
                [
                    (one.case, one.size, short(r, "max_error"), short(r, "max_ratio"), said(r))
                    for one, r in large.items()
                ],
            ),
        ]
    if "overhead" in records:
        r = records["overhead"]
        told = f"direct {r['direct_us']:.1f} us, prepared {r['prepared_us']:.1f} us" if r["ok"] else said(r)
        lines += ["", f"host time of a warm call: {told}"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
