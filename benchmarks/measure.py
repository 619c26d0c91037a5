"""One line of the scorecard, on the GPU: its kernel and its peers take turns."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .built import prepared, tensors
from .cases import case_of
from .rows import Row
from .supervise import Record
from .timing import alternating, fastest

Function = Callable[[], Any]

DIFFERENT = 1e-3  # the share of a peer's results that may be far from ours: padding, ties, ends of ranges


def measure(row: Row, artifacts: Path, repeats: int) -> Record:
    """Milliseconds of ours and of each peer, by name, and why a peer is missing or what its results differ by."""
    import torch

    case = case_of(row.case)
    given = tensors(case, row.extents)
    functions: dict[str, Function] = {"ours": prepared(case, artifacts, given)}
    functions["ours"]()
    expected = [given[name] for name in case.outputs]
    absent, notes = {}, []
    for name, make in peers(row, given).items():
        try:
            function = make()
            result = function()
            if row.alike and (share := _far(result, expected)) > DIFFERENT:
                notes.append(f"{name} differs in {share:.1%}")
            del result
            functions[name] = function
        except Exception as problem:  # a peer that can't do it here is left out, and said
            absent[name] = f"{type(problem).__name__}: {problem}".partition("\n")[0]
    spread = alternating(functions, repeats)
    times = {name: statistics.median(values) for name, values in spread.items()}
    del given, functions, expected
    torch.cuda.empty_cache()
    return {
        "ok": not notes,  # what is fast and wrong is no result
        "title": row.title,
        "case": row.case,
        "extents": dict(row.extents),
        "ms": times,
        "spread": {name: [min(values), max(values)] for name, values in spread.items()},
        "absent": absent,
        "text": "; ".join(notes),
        "tb_per_s": case.bytes(row.extents) / times["ours"] * 1e-9,
        "tflop_per_s": case.flops(row.extents) / times["ours"] * 1e-9,
    }


def warm(row: Row) -> None:
    """Compile what the row's peers compile, so that it lies in the caches of Triton and inductor."""
    import torch

    given = tensors(case_of(row.case), row.extents)
    for name, make in peers(row, given, tune=False).items():
        if name in ("compile", "triton"):
            try:
                make()()
            except Exception as problem:
                print(f"{row.title}: {name}: {type(problem).__name__}: {problem}", flush=True)
    torch.cuda.synchronize()


def peers(row: Row, given: dict[str, Any], tune: bool = True) -> dict[str, Callable[[], Function]]:
    """What makes each peer's function; with `tune`, the fastest configuration of what is written by hand."""
    import torch

    from . import peers_torch

    arguments = peers_torch.prepared(given)
    made: dict[str, Callable[[], Function]] = {}
    if row.torch:
        work = getattr(peers_torch, row.torch)
        made["torch"] = lambda: partial(work, arguments)
        if row.torch not in peers_torch.EAGER_ONLY:
            made["compile"] = lambda: partial(torch.compile(work, dynamic=False), arguments)
    for name, other in row.others.items():
        made[name] = partial(partial, getattr(peers_torch, other), arguments)
    if row.triton:
        made["triton"] = lambda: _by_hand(row.triton, arguments, tune)
    return made


def _by_hand(name: str, arguments: Mapping[str, Any], tune: bool) -> Function:
    module, _, function = name.partition(".")
    candidates = getattr(importlib.import_module(f"{__package__}.peers_triton.{module}"), function)(arguments)
    if tune:
        return fastest(candidates)

    def each() -> None:
        for candidate in candidates:
            try:
                candidate()
            except Exception as problem:
                print(f"{name}: {type(problem).__name__}: {problem}", flush=True)

    return each


def _far(result: Any, expected: list[Any]) -> float:
    """The share of elements that are further from ours than two roundings to 8 bits, and a little of the largest."""
    import torch

    results = result if isinstance(result, tuple) else (result,)
    worst = 0.0
    for found, wanted in zip(results, expected, strict=True):
        size, far = wanted.numel(), 0
        step = 1 << 26  # parts, so that differences of what is large fit
        for a, b in zip(found.reshape(-1).split(step), wanted.reshape(-1).split(step), strict=True):
            a, b = a.float(), b.float()
            bound = 2.0**-6 * b.abs() + 2.0**-10 * b.abs().nan_to_num(0.0).max()
            far += int(torch.count_nonzero(~((a - b).abs() <= bound) & ~(a == b) & ~(a.isnan() & b.isnan())))
        worst = max(worst, far / max(size, 1))
    return worst
