"""Work that is done item by item in a child process, so that a fault or a hang costs one item.

`supervise` runs a module as child after child: `python -m MODULE … --worker JOURNAL -- ITEM…`; `serve` is the child's
side.  The journal has a line of JSON for each item: its name and its record, which has `ok`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

GPU_LOST = 3  # the status of a child that has recorded a fault and cannot go on


def supervise(command: Sequence[str], names: Sequence[str], deadline: float, hang: float) -> dict[str, Record]:
    """The records of all items, with those that died, hung or came too late said to have.

    command:   module and options of the child
    deadline:  by `time.monotonic`, when the rest is given up
    hang:      seconds without a finished item before the child is given up
    """
    records: dict[str, Record] = {}
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        while pending := [name for name in names if name not in records]:
            journal.write_text("")
            reason = _run_child([*command, "--worker", str(journal), "--", *pending], journal, deadline, hang)
            records |= dict(json.loads(line) for line in journal.read_text().splitlines())
            left = [name for name in pending if name not in records]
            if reason == "out of time":
                records |= {name: {"ok": False, "text": reason} for name in left}
            elif left and reason:
                records.setdefault(left[0], {"ok": False, "text": reason})
    return records


def publish(out: str, name: str, records: dict[str, Record], text: str) -> int:
    """Print the text, write it and the records to `name.txt` and `name.json` of the folder; the exit status."""
    print(text)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(records, indent=1))
    (folder / f"{name}.txt").write_text(text + "\n")
    return 0 if all(record["ok"] for record in records.values()) else 1


def _run_child(command: Sequence[str], journal: Path, deadline: float, hang: float) -> str:
    """Run a child; why it died before the last of its items, or nothing if it ended by itself."""
    child = subprocess.Popen([sys.executable, "-m", *command])
    size, moved = 0, time.monotonic()
    while child.poll() is None:
        time.sleep(0.1)
        now = time.monotonic()
        if journal.stat().st_size > size:
            size, moved = journal.stat().st_size, now
        if now > deadline or now > moved + hang:
            child.kill()
            child.wait()
            return "out of time" if now > deadline else f"no result for {hang:.0f} s"
    return "" if child.returncode in (0, GPU_LOST) else f"the process ended with status {child.returncode}"


def serve(names: Sequence[str], journal: Path, perform: Callable[[str], Record]) -> int:
    """Perform the items and note each in the journal; the status that the process ends with."""
    with journal.open("a") as log:
        for name in names:
            started = time.perf_counter()
            try:
                record = perform(name)
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
