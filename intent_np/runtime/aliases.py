"""Arrays of one call that overlap: by byte span, which is exact for dense arrays and safe for the others.

A kernel may replay and hoist its loads, since inputs keep their values: where an input overlaps an output the
host copies the input first, unless both are the same array and the compiler proved that to be safe.  Outputs of
one alias group are the author's affair, and views promised not to alias are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from intent_np.errors import error
from intent_np.runtime.arrays import ArrayInfo
from intent_np.runtime.binding import Call
from intent_np.runtime.plan import KernelPlan


class Rule(NamedTuple):
    """What an overlap of a written view and another view means.

    identical:  whether the same array is fine although an overlap is not
    otherwise:  `copied` before the launch, or `refused`
    """

    written: str
    other: str
    identical: bool
    otherwise: Literal["copied", "refused"]


class Check(NamedTuple):
    """A rule for the shapes and strides of a call: spans in bytes from the pointers.

    written, other:  positions among the kernel's parameters
    """

    written: int
    begin: int
    end: int
    other: int
    other_begin: int
    other_end: int
    identical: bool


def rules(kernel: KernelPlan) -> tuple[Rule, ...]:
    """The pairs of views that matter: each written one with each other one, once."""
    found = []
    for index, first in enumerate(kernel.views):
        for second in kernel.views[index + 1 :]:
            together = first.alias and first.alias == second.alias and first.written and second.written
            if not (first.written or second.written) or together:
                continue
            written, other = (first, second) if first.written else (second, first)
            refused = other.written or first.noalias or second.noalias
            safe = (other.name, written.name) in kernel.identical_safe
            found.append(Rule(written.name, other.name, safe and not refused, "refused" if refused else "copied"))
    return tuple(found)


def span(info: ArrayInfo, itemsize: int) -> tuple[int, int]:
    """First byte and end of the array's elements, from its pointer; empty for an array without elements."""
    if 0 in info.shape:
        return 0, 0
    reach = [(extent - 1) * step for extent, step in zip(info.shape, info.strides, strict=True)]
    return sum(step for step in reach if step < 0), sum(step for step in reach if step > 0) + itemsize


def checks(call: Call, positions: dict[str, int], pairs: Iterable[Rule]) -> tuple[Check, ...]:
    """The rules with the spans of one call pattern; pairs that cannot overlap are left out."""
    made = []
    for rule in pairs:
        first, second = call.arrays[rule.written], call.arrays[rule.other]
        begin, end = span(first, call.kernel.view(rule.written).itemsize)
        other_begin, other_end = span(second, call.kernel.view(rule.other).itemsize)
        if begin == end or other_begin == other_end:
            continue
        alike = (first.shape, first.strides) == (second.shape, second.strides)
        made.append(
            Check(
                positions[rule.written], begin, end,
                positions[rule.other], other_begin, other_end,
                rule.identical and alike,
            )
        )  # fmt: skip
    return tuple(made)


def violated(made: Sequence[Check], pointers: Sequence[int]) -> bool:
    """Whether some pair overlaps in a way that is not allowed; `pointers` by parameter position.

    This runs at every launch.
    """
    for written, begin, end, other, other_begin, other_end, identical in made:
        first, second = pointers[written], pointers[other]
        if first + begin < second + other_end and second + other_begin < first + end:
            if not (identical and first == second):
                return True
    return False


def conflicts(call: Call, pairs: Iterable[Rule]) -> tuple[str, ...]:
    """The inputs to copy before the launch, in order; raises `CallError` E408 or E415 for a refused overlap."""
    copied: dict[str, None] = {}
    for rule in pairs:
        positions = {rule.written: 0, rule.other: 1}
        pointers = [call.arrays[name].pointer for name in positions]
        if not violated(checks(call, positions, (rule,)), pointers):
            continue
        if rule.otherwise == "refused":
            both = call.kernel.view(rule.other).written
            promised = any(call.kernel.view(name).noalias for name in positions)
            code = "E408" if promised or not both else "E415"
            raise error(code, parameter=rule.written, other=rule.other, found=_places(call, positions))
        copied[rule.other] = None
    return tuple(copied)


def _places(call: Call, names: Iterable[str]) -> str:
    texts = []
    for name in names:
        info = call.arrays[name]
        begin, end = span(info, call.kernel.view(name).itemsize)
        texts.append(f"{name} at {info.pointer + begin:#x} to {info.pointer + end:#x}")
    return ", ".join(texts)
