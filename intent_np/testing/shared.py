"""Calls whose arrays share memory, where the language allows it.

An input keeps its values while the kernel runs, whatever is written: a call gives what separate arrays give.  Outputs
of one `alias` group may be one array, which holds what the last of them would.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from ..backends.reference.one_array import one_array
from .arguments import Arguments
from .captured import captured
from .compare import Expected
from .views import twin

SHARED: Final = "shared"
"""The layout of contiguous arrays of which an input is the array of an output, or overlaps it, and the outputs of each
group are one."""


def share(kernel: Any, given: Arguments, kept: Mapping[str, Any], rng: np.random.Generator) -> Arguments:
    """The arguments in memory that they share: one pair of an input and an output, and outputs of a group.

    kept:  arrays whose contents were promised something, by name: they stay as they are
    """
    views = [p for p in kernel.parameters if p.kind == "view"]
    made = dict(given)
    if any(p.constraints.alias for p in views):
        for one, other in one_array(captured(kernel)[1]):
            if one < other and _alike(made[one], made[other]):
                made[other] = made[one]
    bound = ("noalias", "alias", "strides", "finite")
    free = [p for p in views if not any(getattr(p.constraints, promise) for promise in bound)]
    pairs = [
        (p.name, q.name)
        for p in free if p.mode == "in"
        for q in free if q.mode != "in" and q.name not in kept and _alike(made[p.name], made[q.name])
    ]  # fmt: skip
    if not pairs:
        return made
    one, other = pairs[int(rng.integers(len(pairs)))]
    x, shift = made[one], int(rng.integers(2))
    memory = np.empty(x.size + shift, x.dtype)
    made[other] = memory[: x.size].reshape(x.shape)
    made[other][...] = given[other]
    made[one] = memory[shift:].reshape(x.shape)
    made[one][...] = x
    return made


def _alike(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape and a.dtype == b.dtype and a.size)


def twins(arguments: Mapping[str, Any]) -> Arguments:
    """The arguments with copies of all arrays, in memory of the same layouts that is shared in the same way."""
    made = {n: twin(v) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
    joint = {n: v for n, v in arguments.items() if isinstance(v, np.ndarray) and _overlapping(n, v, arguments)}
    while joint:
        cluster = [next(iter(joint))]
        for n in cluster:
            cluster += [m for m, _ in _overlapping(n, joint[n], joint) if m not in cluster]
        bounds = [np.lib.array_utils.byte_bounds(joint[n]) for n in cluster]
        low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
        memory = np.empty(high - low + 16, np.uint8)
        first = (low - memory.ctypes.data) % 16
        memory[first : first + high - low] = np.frombuffer(ctypes.string_at(low, high - low), np.uint8)
        for n in cluster:
            v = joint.pop(n)
            made[n] = np.ndarray(v.shape, v.dtype, memory, first + v.ctypes.data - low, v.strides)
    return made


def _overlapping(name: str, array: Any, others: Mapping[str, Any]) -> list[tuple[str, Any]]:
    arrays = [(n, v) for n, v in others.items() if n != name and isinstance(v, np.ndarray)]
    return [(n, v) for n, v in arrays if np.may_share_memory(array, v)]


def separated(
    safe: Iterable[tuple[str, str]], arrays: Mapping[str, Any], modes: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """What a launch gets for the arrays of a call, and the outputs that are to be copied to theirs behind it.

    safe:   pairs of names that may be one array
    modes:  `in`, `out` or `inout` by name
    """
    made, own, known = dict(arrays), list[str](), set(safe)
    for one, other in _pairs(arrays, modes):
        if (one, other) in known and _identical(arrays[one], arrays[other]):
            continue
        made[one] = made[one].copy()
        if modes[one] != "in":
            own.append(one)
    return made, own


def _pairs(arrays: Mapping[str, Any], modes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Arrays that share memory, of which the second is written; of two outputs the later one comes first."""
    names = list(arrays)
    for i, n in enumerate(names):
        for m in names[:i]:
            if modes[n] == modes[m] == "in" or not np.may_share_memory(arrays[n], arrays[m]):
                continue
            yield (m, n) if modes[m] == "in" else (n, m)


def _identical(a: Any, b: Any) -> bool:
    return bool(a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides)


def joined(given: Mapping[str, Any], wanted: Mapping[str, Expected]) -> dict[str, Expected]:
    """What outputs hold that are one array: what the last of them would."""
    made = dict(wanted)
    for n in wanted:
        for m in wanted:
            if _identical(given[n], given[m]):
                made[n] = wanted[m]
    return made
