"""What debug statements said in a launch: read from the memory that the kernel wrote it into, printed and raised.

A kernel that reports (`CompileOptions(debug=True)`) has two more parameters, which nobody passes: `taken` counts the
numbers that each of its statements had to say, and `notes` has a row of them for each, point behind point:

    1, the coordinates of the point, the extents of each value that is no scalar, the elements of each value, as bits
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from intent_np.errors import IntentError, Span, error, group
from intent_np.runtime.arrays import ArrayInfo, Library, numpy_dtype
from intent_np.runtime.artifact import Artifact
from intent_np.runtime.binding import adopt_arguments, bind, mismatch
from intent_np.runtime.plan import KernelPlan, ViewPlan
from intent_np.runtime.variants import Variant


@dataclass(frozen=True)
class Statement:
    """A debug statement of a kernel.

    kind:    `assert` or `print`
    text:    as the author wrote it
    span:    where
    loops:   of each loop around it, its place among all statements of the kernel and the names of its coordinates
    place:   its own place
    values:  dtype and rank of each value that is printed
    """

    kind: str
    text: str
    span: Span | None
    loops: tuple[tuple[int, tuple[str, ...]], ...] = ()
    place: int = 0
    values: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(names for _, names in self.loops))


def debug_json(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """The statements as JSON values."""
    return [asdict(s) for s in statements]


def debug_from_json(values: Sequence[Mapping[str, Any]]) -> tuple[Statement, ...]:
    """The inverse of `debug_json`."""
    return tuple(Statement(**{n: _frozen(n, v) for n, v in one.items()}) for one in values)


def _frozen(name: str, value: Any) -> Any:
    if name == "span":
        return value and Span(**{n: _frozen(n if n == "caller" else "", v) for n, v in value.items()})
    if name == "caller":
        return _frozen("span", value)
    return tuple(_frozen("", v) for v in value) if isinstance(value, (list, tuple)) else value


class Said(NamedTuple):
    """What a statement said at one point: where that stands in the order of all points and statements, the point, and
    the values."""

    order: tuple[int, ...]
    statement: Statement
    point: tuple[int, ...]
    values: tuple[Any, ...]


def said(statement: Statement, taken: int, notes: Any) -> Iterator[Said]:
    """What is kept of a statement, of a row of `notes` of which it needed the first `taken` numbers."""
    at, names = 0, statement.names
    while at < min(taken, len(notes)) and notes[at] == 1:
        at += 1
        point = tuple(int(i) for i in notes[at : at + len(names)])
        at += len(point)
        shapes = []
        for _, rank in statement.values:
            shapes.append(tuple(int(i) for i in notes[at : at + rank]))
            at += rank
        values = []
        for (dtype, _), shape in zip(statement.values, shapes, strict=True):
            count = math.prod(shape)
            values.append(elements(notes[at : at + count], dtype).reshape(shape)[()])
            at += count
        rest, order = iter(point), list[int]()
        for place, own in statement.loops:
            order += [place, *itertools.islice(rest, len(own))]
        yield Said((*order, statement.place), statement, point, tuple(values))


def elements(numbers: Any, dtype: str) -> Any:
    """Elements of `dtype` from 64-bit integers: floats from their bits."""
    wanted = numpy_dtype(dtype)
    if wanted.kind in "biu":
        return numbers.astype(wanted)
    return numbers.astype(f"i{wanted.itemsize}").view(wanted)


def filled(text: str, values: Sequence[str]) -> str:
    """`text` with a value for each {}, and the values that are left behind it."""
    first, *others = text.split("{}")
    parts = [first]
    for i, other in enumerate(others):
        parts += [values[i] if i < len(values) else "{}", other]
    return " ".join(("".join(parts), *values[len(others) :]))


def tell(statements: Sequence[Statement], taken: Any, notes: Any) -> None:
    """Print what was to be printed, in the order of points and statements, and raise what was asserted: `CheckError`
    E520 with each assertion that did not hold, at the first point where it did not."""
    everything: list[Said] = []
    failed: list[IntentError] = []
    for row, statement in enumerate(statements):
        there = sorted(said(statement, int(taken[row]), notes[row]), key=lambda one: one.order)
        if statement.kind == "print":
            everything += there
        elif taken[row]:
            failed.append(_failure(statement, int(taken[row]), there))
    for one in sorted(everything, key=lambda one: one.order):
        print(filled(one.statement.text, [str(v) for v in one.values]))
    for row, statement in enumerate(statements):
        if statement.kind == "print" and taken[row] > len(notes[row]):
            place = f" of line {statement.span.line}" if statement.span else ""
            print(f"[{taken[row]} numbers{place} to print, of which {len(notes[row])} are kept at most]")
    if failed:
        raise group(failed)


def _failure(statement: Statement, taken: int, there: Sequence[Said]) -> IntentError:
    points = taken // (1 + len(statement.names))
    shown = ", ".join(f"{n} = {i}" for n, i in zip(statement.names, there[0].point, strict=True)) if there else ""
    found = f"at {shown}" if shown else ""
    if points > 1:
        found += f", and at {points - 1} more point{'s'[: points > 2]}"
    return error("E520", statement.span, text=statement.text, found=found)


def reports(kernel: KernelPlan) -> tuple[Any, Any]:
    """What a launch of a kernel that reports begins with in the place of its last two parameters."""
    taken, notes = (
        np.zeros([int(extent) for extent in view.shape], np.int64)
        for view in kernel.parameters[-2:]
        if isinstance(view, ViewPlan)
    )
    return taken, notes


class Reporting(Artifact):
    """A kernel whose debug statements report: an artifact of it with two more parameters, and what to make of them.

    Each call waits for its launch, so that none can become part of a graph.
    """

    def __init__(self, inner: Artifact) -> None:
        """inner: of the kernel with the parameters `taken` and `notes` behind the author's; its facts have the
        statements as `debug`."""
        self.inner = inner
        self.statements = debug_from_json(inner.facts["debug"])
        kernel = dataclasses.replace(inner.kernel, parameters=inner.kernel.parameters[:-2])
        super().__init__(kernel, inner.target, texts=inner.texts, facts=inner.facts)
        self.remarks = inner.remarks  # one list, whoever has something to say

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """As of any artifact; then prints what there is to print, and raises `CheckError` E520."""
        self.prepare(*arguments, **named)()

    def prepare(self, *arguments: Any, **named: Any) -> Callable[[], None]:
        if named:
            raise mismatch(self.kernel, arguments, named)
        adopted, _ = adopt_arguments(self.kernel.parameters, arguments)
        bind(self.kernel, adopted)

        def launch() -> None:
            taken, notes = reports(self.inner.kernel)
            self.inner(*adopted, taken, notes)
            tell(self.statements, taken, notes)

        return launch

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self.inner.variants

    def save(self, path: str | os.PathLike[str]) -> None:
        self.inner.save(path)

    def _allocator(self, first: ArrayInfo | None) -> tuple[Library, int]:
        return self.inner._allocator(first)
