"""Every built kernel under compute-sanitizer: accesses outside arrays, hazards in shared memory, reads of nothing.

    intent-np build kernels --target sm_90 --out out
    python -m benchmarks.memcheck --artifacts out --tools memcheck racecheck

Calls are the smallest that have elements, and one without, in two layouts.  Each array is an allocation of its own and
exactly as long as its view, so that the first byte outside of it is an error; CuPy's memory pool is off.  Needs CUDA's
`compute-sanitizer`, a GPU that it can attach to, NumPy and CuPy.  Exits with 1 where a tool reports an error.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kernels
from intent_np.testing import Case, check
from intent_np.testing.views import memory

from .built import launcher
from .work import Settings, why_not

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
LAYOUTS = ("contiguous", "strided")
FOUND = re.compile(r"^========= +at (?:[\w:]+ in )?(\w+)[(+]", re.MULTILINE)
SUMMARY = re.compile(r"^========= (?:ERROR|RACECHECK) SUMMARY: .*", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.memcheck", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--artifacts", default="out", help="folder of `intent-np build`")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where the tools' reports go")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=["memcheck"])
    parser.add_argument("--only", nargs="*", default=[], help="names of kernels or families")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    settings = Settings(Path(options.artifacts))
    if options.worker:
        return _worker(options.only, settings)
    names = [case.name for case in kernels.cases(*options.only) if not why_not(case, settings)]
    shards = [names[n :: options.jobs] for n in range(min(options.jobs, len(names)))]
    Path(options.out).mkdir(parents=True, exist_ok=True)
    failed = False
    print("| tool | kernels | errors | in |\n|---|---|---|---|")
    for tool in options.tools:
        with ThreadPoolExecutor(len(shards)) as pool:
            reports = list(pool.map(lambda s, tool=tool: _examined(tool, s, options), enumerate(shards)))
        counts = sum((Counter(FOUND.findall(text)) for text, _ in reports), Counter())
        ended = [why for _, why in reports if why]
        told = "; ".join([f"{name} ({n})" for name, n in sorted(counts.items())] + ended)
        failed |= bool(told)
        print(f"| {tool} | {len(names)} | {sum(counts.values())} | {told} |", flush=True)
    return int(failed)


def _examined(tool: str, shard: tuple[int, list[str]], options: argparse.Namespace) -> tuple[str, str]:
    """What a tool reports of a few kernels, and how the process ended if not well."""
    number, names = shard
    log = Path(options.out) / f"{tool}-{number}.txt"
    command = ["compute-sanitizer", "--tool", tool, "--log-file", str(log), "--error-exitcode", "9", sys.executable]
    command += ["-m", "benchmarks.memcheck", "--worker", "--artifacts", options.artifacts, "--only", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, check=False)
    except FileNotFoundError:
        return "", "compute-sanitizer is not installed"
    except subprocess.TimeoutExpired:
        return log.read_text() if log.exists() else "", f"{names[0]} …: not done in {options.limit:.0f} s"
    text = log.read_text() if log.exists() else ""
    if not SUMMARY.search(text):
        return text, f"{names[0]} …: {(done.stderr or done.stdout or text).strip().splitlines()[-1]}"
    return text, "" if done.returncode in (0, 9) else f"{names[0]} …: {done.stderr.strip().splitlines()[-1]}"


def _worker(names: list[str], settings: Settings) -> int:
    import cupy

    cupy.cuda.set_allocator(None)
    wrong = 0
    for case in kernels.cases(*names):
        launch = _exactly(launcher(case, settings.artifacts))
        for extents in _smallest(case):
            for layout in LAYOUTS:
                report = check(case, launch, extents, seed=0, layout=layout, values=case.values[0])
                if not report:
                    wrong += 1
                    print(f"{case.name} {dict(extents)} {layout}: {report}", file=sys.stderr)
    return int(wrong > 0)


def _smallest(case: Case) -> list[Mapping[str, int]]:
    """The smallest sizes that have elements, and the first without."""
    by_size = sorted(case.small, key=lambda extents: math.prod(extents.values()))
    some = [e for e in by_size if math.prod(e.values()) > 1][:2]
    return some + [e for e in by_size if not math.prod(e.values())][:1]


def _exactly(artifact: Callable[..., Any]) -> Callable[..., None]:
    """A launch over NumPy views: of each, the bytes between its first and last element become an allocation."""
    import cupy

    def launch(*given: Any) -> None:
        there: list[Any] = []
        back: list[tuple[Any, Any]] = []
        for a in given:
            if not isinstance(a, np.ndarray) or not a.size:
                nothing = partial(cupy.ndarray, memptr=cupy.empty(1, np.uint8).data)  # CuPy may lack the type
                there.append(nothing(a.shape, a.dtype) if isinstance(a, np.ndarray) else a)
                continue
            low, high = np.lib.array_utils.byte_bounds(a)
            first = memory(a).ctypes.data
            own = memory(a).reshape(-1).view(np.uint8)[low - first : high - first]
            buffer = cupy.asarray(own)
            start = buffer.data + (a.ctypes.data - low)
            there.append(cupy.ndarray(a.shape, a.dtype, memptr=start, strides=a.strides))
            back.append((own, buffer))
        artifact(*there)
        for own, buffer in back:
            own[...] = cupy.asnumpy(buffer)

    return launch


if __name__ == "__main__":
    sys.exit(main())
