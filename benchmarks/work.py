"""One piece of the device run, done on the GPU: checking a kernel, checking or timing a row, host overhead.

An item is named `check:CASE`, `large:ROW`, `time:ROW` or `overhead`; `perform` does it and gives what to record.
Arrays cross between torch, CuPy and NumPy without being copied on the device.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kernels
from intent_np.testing import LAYOUTS, Case, HostProgram, check, compare, launching
from intent_np.testing.arguments import extent
from intent_np.testing.host import compiled_once
from intent_np.testing.views import memory

from .peers import SCORECARD, Row

Record = dict[str, Any]

FLUSHED = 256 << 20  # bytes overwritten between timed calls: several times the L2 cache
OVERHEAD_CASE = "bias_relu"  # three arrays and nothing else


@dataclass(frozen=True)
class Settings:
    """`artifacts`: the folder of built kernels.  `rounds`: how many layouts and values each small size is tried with.
    `repeats`: timed calls of each function."""

    artifacts: Path
    rounds: int = 3
    repeats: int = 25


def items(sections: list[str], only: list[str], settings: Settings) -> list[str]:
    """The names of all items of these sections, for the cases in `only` (names or families; all if empty)."""
    names = [case.name for case in kernels.cases(*only)]
    rows = [str(index) for index, row in enumerate(SCORECARD) if row.case in names]
    found: dict[str, list[str]] = {
        "check": [f"check:{name}" for name in names],
        "large": [f"large:{row}" for row in rows],
        "time": [f"time:{row}" for row in rows],
        "overhead": ["overhead"],
    }
    return [item for section in sections for item in found[section]]


def perform(item: str, settings: Settings) -> Record:
    """Do one item.  Its record has `ok` and what was measured; what goes wrong is raised."""
    section, _, argument = item.partition(":")
    match section:
        case "check":
            return _check(kernels.cases(argument)[0], settings)
        case "large":
            return _large(SCORECARD[int(argument)], settings)
        case "time":
            return _time(SCORECARD[int(argument)], settings)
    return _overhead(settings)


def _folder(name: str, settings: Settings) -> Path:
    """What was built of a case."""
    folders = sorted(settings.artifacts.glob(f"*.{name}"))
    if not folders:
        raise FileNotFoundError(f"no artifact of {name} in {settings.artifacts}")
    return folders[0]


def _artifact(name: str, settings: Settings) -> Any:
    import intent_np

    return intent_np.load(_folder(name, settings))


def launch_of(case: Case, settings: Settings) -> Callable[..., Any]:
    """A function of all arguments in order: an artifact, or a host program over those of its kernels."""
    if not isinstance(case.kernel, HostProgram):
        return _artifact(case.name, settings)  # type: ignore[no-any-return]
    import intent_np

    built = {(*sorted(c.items()), k): n for n, (k, c) in enumerate(case.launches)}
    folder = _folder(case.name, settings)

    def loaded(kernel: Any, constexprs: Mapping[str, Any]) -> Any:
        number = built[(*sorted(constexprs.items()), kernel)]
        return intent_np.load(folder / f"{number}.{kernel.name}")

    door = compiled_once(loaded)

    def run(*arguments: Any) -> None:
        with launching(door):
            case.kernel(*arguments, **case.constexprs)

    return run


def why_not(case: Case, settings: Settings) -> str:
    """Why there is no artifact, where the build says that only the reference executes the case."""
    manifest = settings.artifacts / "manifest.json"
    entries = json.loads(manifest.read_text())["kernels"] if manifest.exists() else []
    return next((e["text"] for e in entries if e["kernel"] == case.name and e["status"] == "reference only"), "")


# Small sizes: every layout, every kind of value, guarded memory
def _check(case: Case, settings: Settings) -> Record:
    if why := why_not(case, settings):
        return {"ok": True, "text": f"reference only: {why}"}
    launch = _on_device(launch_of(case, settings))
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


# Scorecard sizes: the oracle itself runs on the GPU, in f64
def _large(row: Row, settings: Settings) -> Record:
    import cupy
    import torch

    case = kernels.cases(row.case)[0]
    artifact = _artifact(case.name, settings)
    record: Record = {"ok": True, "max_error": 0.0, "max_ratio": 0.0, "text": ""}
    for kind in ("normal", "integers"):
        tensors = _tensors(case, row.extents, kind)
        artifact(*tensors.values())
        torch.cuda.synchronize()
        part = {p.name: _part(p, tensors[p.name]) for p in case.parameters}
        expected = case.expected({name: _wide(t) if hasattr(t, "dtype") else t for name, t in part.items()})
        for name in case.outputs:
            outcome = compare(_wide(part[name]), expected[name])
            record["max_error"] = max(record["max_error"], outcome.max_error)
            record["max_ratio"] = max(record["max_ratio"], outcome.max_ratio)
            if not outcome:
                record |= {"ok": False, "text": f"{kind}, {name}: {outcome.message}"}
        del tensors, part, expected
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


def _tensors(case: Case, extents: Mapping[str, int], kind: str = "normal") -> dict[str, Any]:
    """Contiguous torch tensors for a call, drawn on the device; outputs are NaN, scalars Python numbers."""
    import torch

    torch.manual_seed(0)
    names = {**case.constexprs, **extents}
    structured = case.structured(extents, np.random.default_rng(0))
    result: dict[str, Any] = {}
    for p in case.parameters:
        if p.kind == "scalar":
            result[p.name] = case.scalars[p.name]
            continue
        dtype, shape = getattr(torch, _TORCH[str(p.dtype)]), [extent(entry, names) for entry in p.shape]
        if p.name in structured:
            result[p.name] = torch.as_tensor(structured[p.name], device="cuda").to(dtype)
        elif p.mode == "out":
            result[p.name] = torch.full(shape, math.nan if dtype.is_floating_point else 0, dtype=dtype, device="cuda")
        elif kind == "integers" or not dtype.is_floating_point:
            result[p.name] = torch.randint(-8, 9, shape, device="cuda").to(dtype)
        else:
            result[p.name] = torch.randn(shape, device="cuda", dtype=dtype)
    return result


_TORCH = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}  # fmt: skip


# Times
def _time(row: Row, settings: Settings) -> Record:
    import torch

    case = kernels.cases(row.case)[0]
    tensors = _tensors(case, row.extents)
    functions: dict[str, Callable[[], Any]] = {"ours": _artifact(case.name, settings).prepare(*tensors.values())}
    absent = {}
    for name, peer in row.peers.items():
        try:
            function = peer(tensors)
            function()
            functions[name] = function
        except Exception as problem:  # a peer that this torch lacks is left out, and said
            absent[name] = f"{type(problem).__name__}: {problem}"
    spread = _alternating(functions, settings.repeats)
    times = {name: statistics.median(values) for name, values in spread.items()}
    del tensors, functions
    torch.cuda.empty_cache()
    torch_time = times.get("torch", math.nan)
    return {
        "ok": True,
        "title": row.title,
        "case": row.case,
        "extents": dict(row.extents),
        "ms": times,
        "spread": {name: [min(values), max(values)] for name, values in spread.items()},
        "absent": absent,
        "ratio": times["ours"] / torch_time,
        "tb_per_s": case.bytes(row.extents) / times["ours"] * 1e-9,
        "tflop_per_s": case.flops(row.extents) / times["ours"] * 1e-9,
    }


def _alternating(functions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Milliseconds of every call, the functions taking turns, with a cold L2 cache."""
    import torch

    scratch = torch.empty(FLUSHED, dtype=torch.int8, device="cuda")
    for function in functions.values():
        for _ in range(3):
            function()
    marks: dict[str, list[tuple[Any, Any]]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            scratch.zero_()
            begin.record()
            function()
            end.record()
            marks[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: [begin.elapsed_time(end) for begin, end in pairs] for name, pairs in marks.items()}


def _overhead(settings: Settings) -> Record:
    """Host microseconds of a warm call with three small contiguous CuPy arrays: direct, and prepared."""
    import cupy

    artifact = _artifact(OVERHEAD_CASE, settings)
    x, bias, y = cupy.zeros((64, 64), "f2"), cupy.zeros(64, "f2"), cupy.zeros((64, 64), "f2")
    prepared = artifact.prepare(x, bias, y)
    direct_us = statistics.median(_host_time(lambda: artifact(x, bias, y)))
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
