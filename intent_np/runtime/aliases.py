"""Arrays of one call that share memory: by byte span, which is exact for dense arrays and safe for the others.

Each pair of an input and an output is disjoint, identical or overlapping at a call.  An input keeps its values while
the kernel runs.  So disjoint calls run the device code as it is; identical ones too, where the compiler proved for the
variant that each element is read by the instance that writes it, and before; for all others the host copies the input
first, and the variant says so in its class.  Outputs that share memory are refused, unless they are of one alias
group, identical, and the variant is right for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from intent_np.errors import IntentError, error
from intent_np.runtime.arrays import ArrayInfo
from intent_np.runtime.binding import Call
from intent_np.runtime.plan import KernelPlan

DISJOINT, IDENTICAL, OVERLAPPING = range(3)
"""What two arrays of a call are to each other."""


class Pair(NamedTuple):
    """Two views of which the second is written.

    promised:  whether one of them was promised to share memory with nothing
    joint:     whether both are written
    group:     whether both are written and of one alias group
    """

    view: str
    output: str
    promised: bool
    joint: bool
    group: bool


class Span(NamedTuple):
    """A pair for the shapes and strides of a call: where both begin and end, in bytes from their pointers.

    first, second:  positions of the view and the output among the kernel's parameters
    alike:          whether they are one array if they begin at one address
    """

    first: int
    begin: int
    end: int
    second: int
    second_begin: int
    second_end: int
    alike: bool


Relation = tuple[int, ...]
"""For each span `DISJOINT`, `IDENTICAL` or `OVERLAPPING`."""


def pairs(kernel: KernelPlan) -> tuple[Pair, ...]:
    """The pairs of views that matter: each written one with each other one, once."""
    found = []
    for index, one in enumerate(kernel.views):
        for other in kernel.views[index + 1 :]:
            if not (one.written or other.written):
                continue
            view, output = (one, other) if other.written else (other, one)
            joint = one.written and other.written
            group = joint and bool(one.alias) and one.alias == other.alias
            found.append(Pair(view.name, output.name, one.noalias or other.noalias, joint, group))
    return tuple(found)


def extent(info: ArrayInfo, itemsize: int) -> tuple[int, int]:
    """First byte and end of the array's elements, from its pointer; empty for an array without elements."""
    if 0 in info.shape:
        return 0, 0
    reach = [(extent - 1) * step for extent, step in zip(info.shape, info.strides, strict=True)]
    return sum(step for step in reach if step < 0), sum(step for step in reach if step > 0) + itemsize


def _steps(info: ArrayInfo) -> tuple[int, ...]:
    """The strides, where there is a second element to step to."""
    return tuple(step if extent > 1 else 0 for extent, step in zip(info.shape, info.strides, strict=True))


def spans(call: Call, positions: dict[str, int], wanted: Iterable[Pair]) -> tuple[Span, ...]:
    """The pairs with the spans of one call pattern."""
    made = []
    for pair in wanted:
        first, second = call.arrays[pair.view], call.arrays[pair.output]
        alike = (first.shape, _steps(first), first.dtype) == (second.shape, _steps(second), second.dtype)
        made.append(
            Span(
                positions[pair.view], *extent(first, call.kernel.view(pair.view).itemsize),
                positions[pair.output], *extent(second, call.kernel.view(pair.output).itemsize),
                alike,
            )
        )  # fmt: skip
    return tuple(made)


def relation(made: Iterable[Span], pointers: Sequence[int]) -> Relation:
    """What the arrays of a call are to each other; `pointers` by parameter position."""
    return tuple(
        DISJOINT
        if begin == end or other_begin == other_end
        or pointers[first] + begin >= pointers[second] + other_end
        or pointers[second] + other_begin >= pointers[first] + end
        else IDENTICAL if alike and pointers[first] == pointers[second]
        else OVERLAPPING
        for first, begin, end, second, other_begin, other_end, alike in made
    )  # fmt: skip


def copied(
    call: Call, wanted: Iterable[Pair], found: Relation, identical: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """The inputs to copy before the launch of a variant that is right where the pairs `identical` are.

    Raises `CallError` E408 for arrays that were promised to share no memory, E415 for outputs that may not.
    """
    safe = frozenset(identical)
    copies: dict[str, None] = {}
    for pair, how in zip(wanted, found, strict=True):
        if how == DISJOINT:
            continue
        if pair.promised:
            raise _refused("E408", call, pair)
        fine = how == IDENTICAL and pair[:2] in safe
        if pair.joint and not (pair.group and fine):
            raise _refused("E415", call, pair)
        if not fine:
            copies[pair.view] = None
    return tuple(sorted(copies))


def pointers(call: Call, positions: dict[str, int]) -> list[int]:
    """The addresses of the arrays of a call, by position; 0 for a scalar."""
    return [call.arrays[name].pointer if name in call.arrays else 0 for name in positions]


def _refused(code: str, call: Call, pair: Pair) -> IntentError:
    texts = []
    names = pair[:2] if pair.joint else (pair.output, pair.view)  # one that is written comes first
    for name in names:
        info = call.arrays[name]
        begin, end = extent(info, call.kernel.view(name).itemsize)
        texts.append(f"{name} at {info.pointer + begin:#x} to {info.pointer + end:#x}")
    return error(code, parameter=names[0], other=names[1], found=", ".join(texts))
