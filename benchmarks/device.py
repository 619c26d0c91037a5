"""Check and time built kernels on this machine's GPU.

    intent-np build kernels --target sm_90 --out out
    python -m benchmarks.device --artifacts out

Sections: `check` (every kernel at small sizes against its oracle), `large` (the scorecard's sizes against the oracle),
`time` (the scorecard, taking turns with PyTorch), `overhead` (host time of a call).  Building needs no GPU and running
needs no Triton: the folder may come from another machine.

The work is done in a child process, one item after another.  When an item faults the GPU or hangs, it is recorded so
and a new child goes on with the next.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from .peers import SCORECARD
from .work import Record, Settings, items, perform

SECTIONS = ("check", "large", "time", "overhead")
HANG = 90.0  # seconds without a finished item before the child is given up
GPU_LOST = 3  # the status of a child that has recorded a fault and cannot go on


def main() -> int:
    options = _options()
    settings = Settings(Path(options.artifacts), options.rounds, options.repeats)
    if options.worker:
        return _worker(options.items, settings, Path(options.worker))
    names = items(options.sections, options.only, settings)
    records = _supervise(names, options, time.monotonic() + options.budget)
    text = _tables(records)
    print(text)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "device.json").write_text(json.dumps(records, indent=1))
    (out / "device.txt").write_text(text + "\n")
    return 0 if all(record["ok"] for record in records.values()) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.device", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--artifacts", default="out", help="folder of `intent-np build`")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where device.json and device.txt go")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--only", nargs="*", default=[], help="names of kernels or families")
    parser.add_argument("--rounds", type=int, default=3, help="layouts and values for each small size")
    parser.add_argument("--repeats", type=int, default=25, help="timed calls of each function")
    parser.add_argument("--budget", type=float, default=450.0, help="seconds after which no further item starts")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("items", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


# The parent
def _supervise(names: list[str], options: argparse.Namespace, deadline: float) -> dict[str, Record]:
    """The records of all items, with those that died, hung or came too late said to have."""
    records: dict[str, Record] = {}
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        while pending := [name for name in names if name not in records]:
            journal.write_text("")
            reason = _run_child(pending, options, journal, deadline)
            records |= dict(json.loads(line) for line in journal.read_text().splitlines())
            left = [name for name in pending if name not in records]
            if reason == "out of time":
                records |= {name: {"ok": False, "text": reason} for name in left}
            elif left and reason:
                records.setdefault(left[0], {"ok": False, "text": reason})
    return records


def _run_child(pending: list[str], options: argparse.Namespace, journal: Path, deadline: float) -> str:
    """Run a child over the pending items; why it died before the last of them, or nothing if it ended by itself."""
    command = [sys.executable, "-m", "benchmarks.device", "--worker", str(journal)]
    for name in ("artifacts", "rounds", "repeats"):
        command += [f"--{name}", str(getattr(options, name))]
    child = subprocess.Popen([*command, "--", *pending])
    size, moved = 0, time.monotonic()
    while child.poll() is None:
        time.sleep(0.1)
        now = time.monotonic()
        if journal.stat().st_size > size:
            size, moved = journal.stat().st_size, now
        if now > deadline or now > moved + HANG:
            child.kill()
            child.wait()
            return "out of time" if now > deadline else f"no result for {HANG:.0f} s"
    return "" if child.returncode in (0, GPU_LOST) else f"the process ended with status {child.returncode}"


# The child
def _worker(names: list[str], settings: Settings, journal: Path) -> int:
    with journal.open("a") as log:
        for name in names:
            started = time.perf_counter()
            try:
                record = perform(name, settings)
            except Exception as problem:
                traceback.print_exc()
                record = {"ok": False, "text": f"{type(problem).__name__}: {problem}"}
            record["seconds"] = round(time.perf_counter() - started, 2)
            log.write(json.dumps([name, record], default=str) + "\n")
            log.flush()
            if not record["ok"] and not _gpu_works():
                return GPU_LOST
    return 0


def _gpu_works() -> bool:
    """Whether this process can still launch: after a fault inside a kernel it cannot."""
    try:
        import cupy

        return int(cupy.arange(4).sum()) == 6
    except Exception:
        return False


# What is printed
def _tables(records: dict[str, Record]) -> str:
    """Markdown: checks by kernel, then the scorecard."""
    lines = []
    checks = {name: r for name, r in records.items() if name.startswith("check:")}
    if checks:
        lines += _table(
            ("kernel", "calls", "max error", "of its bound", ""),
            [
                (name.partition(":")[2], r.get("calls", ""), _short(r, "max_error"), _short(r, "max_ratio"), _said(r))
                for name, r in checks.items()
            ],
        )
    rows = []
    for index, row in enumerate(SCORECARD):
        large, timed = records.get(f"large:{index}", {}), records.get(f"time:{index}", {})
        if not large and not timed:
            continue
        ms = timed.get("ms", {})
        others = ", ".join(f"{name} {value:.3f}" for name, value in ms.items() if name not in ("ours", "torch"))
        rows.append(
            (
                row.title,
                _short(ms, "ours"),
                _short(ms, "torch"),
                f"{timed['ratio']:.2f}" if "ratio" in timed else "",
                others,
                f"{timed['tb_per_s']:.2f}" if "ms" in timed else "",
                f"{timed['tflop_per_s']:.0f}" if "ms" in timed else "",
                _short(large, "max_error"),
                _short(large, "max_ratio"),
                _said(large) or _said(timed),
            )
        )
    if rows:
        head = ("workload", "ours ms", "torch ms", "ours/torch", "others ms", "TB/s", "TFLOP/s", "max error")
        lines += ["", *_table((*head, "of its bound", ""), rows)]
    if "overhead" in records:
        r = records["overhead"]
        told = f"direct {r['direct_us']:.1f} us, prepared {r['prepared_us']:.1f} us" if r["ok"] else _said(r)
        lines += ["", f"host time of a warm call: {told}"]
    return "\n".join(lines)


def _short(record: Record, key: str) -> str:
    return f"{float(record[key]):.3g}" if key in record else ""


def _said(record: Record) -> str:
    """What went wrong, or why nothing was done."""
    return str(record.get("text", "")).partition("\n")[0][:160]


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    texts = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in texts
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


if __name__ == "__main__":
    sys.exit(main())
