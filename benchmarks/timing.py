"""Milliseconds on the GPU: functions take turns, each with a cold L2 cache."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

FLUSHED = 256 << 20  # bytes overwritten between timed calls: several times the L2 cache
TRIED = 5  # calls by which one of several candidates is chosen
LONGEST = 400.0  # milliseconds that all calls of one function may take; a slow one is called less often


def alternating(functions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Milliseconds of every call: `repeats` rounds in which each function has its turn."""
    import torch

    scratch = torch.empty(FLUSHED, dtype=torch.int8, device="cuda")
    turns = {}
    for name, function in functions.items():
        function()
        turns[name] = max(3, min(repeats, int(LONGEST / max(timed(function), 1e-3))))
        function()
    marks: dict[str, list[tuple[Any, Any]]] = {name: [] for name in functions}
    for turn in range(repeats):
        for name, function in functions.items():
            if turn < turns[name]:
                scratch.zero_()
                marks[name].append(_marked(function))
    torch.cuda.synchronize()
    return {name: [begin.elapsed_time(end) for begin, end in pairs] for name, pairs in marks.items()}


def timed(function: Callable[[], Any]) -> float:
    """Milliseconds of one call."""
    import torch

    begin, end = _marked(function)
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end))


def fastest(candidates: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
    """The candidate with the lowest median of a few calls; one that can't be launched is passed over.

    Raises what the last one raised if none can.
    """
    found: dict[str, Callable[[], Any]] = {}
    problem: Exception = ValueError("there are no candidates")
    for number, candidate in enumerate(candidates):
        try:
            candidate()
            found[str(number)] = candidate
        except Exception as raised:
            problem = raised
    if not found:
        raise problem
    if len(found) == 1:
        return next(iter(found.values()))
    times = alternating(found, TRIED)
    return found[min(times, key=lambda name: statistics.median(times[name]))]


def _marked(function: Callable[[], Any]) -> tuple[Any, Any]:
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    function()
    end.record()
    return begin, end
