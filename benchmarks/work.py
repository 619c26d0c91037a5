"""One piece of the device run, done on the GPU: checking a kernel, small or large, and host overhead.

An item is named `check:CASE`, `large:NUMBER` (in `LARGE`) or `overhead`; `perform` does it and gives what to record.
Arrays cross between torch, CuPy and NumPy without being copied on the device.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kernels
from intent_np.runtime.workspaces import Workspaces
from intent_np.testing import LAYOUTS, Case, check, compare
from intent_np.testing.views import memory

from .built import artifact, launcher, tensors
from .supervise import Record

SECTIONS = ("check", "large", "overhead")
POISON = 0x7F  # the bytes of a NaN in most formats, and of no plausible index
OVERHEAD_CASE = "bias_relu"  # three arrays and nothing else


class Large(NamedTuple):
    """A case of the corpus at one of its large sizes."""

    case: str
    extents: tuple[tuple[str, int], ...]

    @property
    def size(self) -> str:
        return "x".join(str(n) for _, n in self.extents)


LARGE = tuple(Large(case.name, tuple(size.items())) for case in kernels.cases() for size in case.large)


@dataclass(frozen=True)
class Settings:
    """artifacts: the folder of built kernels; rounds: how many layouts and values each small size is tried with."""

    artifacts: Path
    rounds: int = 3


def items(sections: list[str], only: list[str]) -> list[str]:
    """The names of all items of these sections, for the cases in `only` (names or families; all if empty)."""
    names = [case.name for case in kernels.cases(*only)]
    found: dict[str, list[str]] = {
        "check": [f"check:{name}" for name in names],
        "large": [f"large:{index}" for index, one in enumerate(LARGE) if one.case in names],
        "overhead": ["overhead"],
    }
    return [item for section in sections for item in found[section]]


def perform(item: str, settings: Settings) -> Record:
    """Do one item.  Its record has `ok` and what was measured; what goes wrong is raised."""
    section, _, argument = item.partition(":")
    Workspaces.filled = None if section == "overhead" else POISON
    match section:
        case "check":
            return _check(kernels.cases(argument)[0], settings)
        case "large":
            return _large(LARGE[int(argument)], settings)
    return _overhead(settings)


def why_not(case: Case, settings: Settings) -> str:
    """Why there is no artifact, where the build says that only the reference executes the case."""
    manifest = settings.artifacts / "manifest.json"
    entries = json.loads(manifest.read_text())["kernels"] if manifest.exists() else []
    return next((e["text"] for e in entries if e["kernel"] == case.name and e["status"] == "reference only"), "")


# Small sizes: every layout, every kind of value, guarded memory, and workspaces full of NaN
def _check(case: Case, settings: Settings) -> Record:
    if why := why_not(case, settings):
        return {"ok": True, "text": f"reference only: {why}"}
    launch = _on_device(launcher(case, settings.artifacts))
    count, error, ratio, wrong = 0, 0.0, 0.0, []
    for index, extents in enumerate(case.small):
        for turn in range(settings.rounds):
            layout = LAYOUTS[(index + turn) % len(LAYOUTS)]
            kind = case.values[(index + 2 * turn) % len(case.values)]
            report = check(case, launch, extents, seed=turn, layout=layout, values=kind)
            count, error, ratio = count + 1, max(error, report.max_error), max(ratio, report.max_ratio)
            if not report:
                wrong.append(f"{dict(extents)} {layout} {kind}: {report}")
    text = f"{len(wrong)} of {count} calls wrong; {wrong[0]}" if wrong else ""
    return {"ok": not wrong, "calls": count, "max_error": error, "max_ratio": ratio, "text": text}


def _on_device(artifact: Any) -> Callable[..., None]:
    """A launch over guarded NumPy views: their whole buffers go to the device and come back, guards included."""
    import cupy

    def launch(*given: Any) -> None:
        views = [a for a in given if isinstance(a, np.ndarray)]
        buffers = {id(view): cupy.asarray(memory(view)) for view in views}
        artifact(*(_twin(a, buffers[id(a)]) if isinstance(a, np.ndarray) else a for a in given))
        for view in views:
            memory(view)[...] = cupy.asnumpy(buffers[id(view)])

    return launch


def _twin(view: np.ndarray[Any, Any], buffer: Any) -> Any:
    """The view over `buffer` that `view` is over its own memory."""
    import cupy

    at = view.ctypes.data - memory(view).ctypes.data
    return cupy.ndarray(view.shape, view.dtype, memptr=buffer.data + at, strides=view.strides)


# Large sizes: the oracle itself runs on the GPU, in f64
def _large(one: Large, settings: Settings) -> Record:
    import cupy
    import torch

    case = next(case for case in kernels.cases() if case.name == one.case)
    launch = artifact(case.name, settings.artifacts)
    record: Record = {"ok": True, "max_error": 0.0, "max_ratio": 0.0, "text": ""}
    for kind in ("normal", "integers"):
        given = tensors(case, dict(one.extents), kind)
        launch(*given.values())
        torch.cuda.synchronize()
        part = {p.name: _part(p, given[p.name]) for p in case.parameters}
        expected = case.expected({name: _wide(t) if hasattr(t, "dtype") else t for name, t in part.items()})
        for name in case.outputs:
            outcome = compare(_wide(part[name]), expected[name])
            record["max_error"] = max(record["max_error"], outcome.max_error)
            record["max_ratio"] = max(record["max_ratio"], outcome.max_ratio)
            if not outcome:
                record |= {"ok": False, "text": f"{kind}, {name}: {outcome.message}"}
        del given, part, expected
        cupy.get_default_memory_pool().free_all_blocks()
        torch.cuda.empty_cache()
    return record


def _part(parameter: Any, argument: Any) -> Any:
    """What the oracle looks at: of batches and heads, which are independent and alike, one and two."""
    if parameter.kind == "scalar":
        return argument
    few = {"B": 1, "H": 2}
    return argument[tuple(slice(few.get(str(entry))) for entry in parameter.shape)]


def _wide(tensor: Any) -> Any:
    """The tensor's values as a CuPy array in f64, i64 or bool."""
    import cupy
    import torch

    if tensor.dtype == torch.bool:
        return cupy.from_dlpack(tensor.to(torch.uint8)).astype(bool)
    return cupy.from_dlpack((tensor.double() if tensor.is_floating_point() else tensor.long()).contiguous())


def _overhead(settings: Settings) -> Record:
    """Host microseconds of a warm call with three small contiguous CuPy arrays: direct, and prepared."""
    import cupy

    launch = artifact(OVERHEAD_CASE, settings.artifacts)
    x, bias, y = cupy.zeros((64, 64), "f2"), cupy.zeros(64, "f2"), cupy.zeros((64, 64), "f2")
    prepared = launch.prepare(x, bias, y)
    direct_us = statistics.median(_host_time(lambda: launch(x, bias, y)))
    prepared_us = statistics.median(_host_time(prepared))
    return {"ok": True, "direct_us": direct_us, "prepared_us": prepared_us}


def _host_time(call: Callable[[], Any], batches: int = 30, calls: int = 100) -> Iterator[float]:
    """Microseconds a call takes to return, by batch; few enough a batch that the launch queue never fills."""
    import cupy

    for _ in range(200):
        call()
    for _ in range(batches):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        yield (time.perf_counter() - begin) / calls * 1e6
    cupy.cuda.Device().synchronize()
