"""Region operations: what an author says about any slice of an axis, and how slices go together.

The functions are closed: slices arrive as formals, and what else they use as `operands`.  The first formal of a
function of a slice is its extent; it shapes tensors and is never a number.
"""

from __future__ import annotations

from typing import Any

from ..core import find, term
from ..dtypes import index
from ..index import Value
from .functions import Formal, Function
from .types import TensorType, shape_of


def resized(t: Any, old: Value, new: Value) -> Any:
    """A type with one extent in the place of another."""
    return TensorType(t.dtype, tuple(new if e is old else e for e in t.shape)) if isinstance(t, TensorType) else t


def _types(values: tuple[Value, ...]) -> list[Any]:
    return [v.type for v in values]


def _expect(what: str, found: list[Any], expected: list[Any]) -> None:
    if found != expected:
        raise TypeError(f"{what}: {found}, not {expected}")


def _of_slices(t: Any, f: Function, *more: Value) -> Formal:
    """Check that `f` takes a slice of the sources of `t`, then `more`, then the operands; the extent of the slice."""
    extent = f.formals[0]
    if extent.type is not index:
        raise TypeError(f"the extent of a slice is {extent.type}")
    whole = [shape_of(v)[d] for v, d in zip(t.sources, t.dimensions, strict=True)]
    if any(e is not whole[0] for e in whole):
        raise TypeError(f"one axis of several extents: {whole}")
    taken = [
        TensorType(v.type.dtype, tuple(extent if i == d else e for i, e in enumerate(shape_of(v))))  # type: ignore[attr-defined]
        for v, d in zip(t.sources, t.dimensions, strict=True)
    ]
    _expect("what a slice is given to", _types(f.formals[1:]), [*taken, *_types((*more, *t.operands))])
    return extent


def _summaries(t: Any) -> None:
    """Check summarize, combine and the identities against each other."""
    extent = _of_slices(t, t.summarize)
    types = _types(t.identities)
    _expect("summaries and identities", _types(t.summarize.results), types)
    _expect("the sides of the combine", _types(t.combine.formals), types * 2)
    _expect("what the combine gives", _types(t.combine.results), types)
    if any(extent in find(shape_of(v), Formal) for v in t.summarize.results):
        raise TypeError("a summary whose shape is that of the slice")


@term
class RegionFold(Value):
    """The summary of a whole axis: of any slices that cover it in order, the summaries combined in order.  The axis is
    dimension `dimensions[i]` of source i."""

    sources: tuple[Value, ...]
    dimensions: tuple[int, ...]
    summarize: Function
    combine: Function
    identities: tuple[Value, ...]
    operands: tuple[Value, ...] = ()
    syntax = (
        "fold {sources} along dimensions [{dimensions}] summarize {summarize} combine {combine} from {identities}"
        "{ with |operands|}"
    )
    spelled = "I.region_fold"

    def infer(self) -> Any:
        _summaries(self)
        types = tuple(v.type for v in self.identities)
        return types[0] if len(types) == 1 else types


@term
class RegionScan(Value):
    """What `emit` gives for every slice and the state that comes into it, put together along the axis; and the state
    behind the whole axis.  A state goes through a slice by `apply`, which takes its summary."""

    sources: tuple[Value, ...]
    dimensions: tuple[int, ...]
    summarize: Function
    combine: Function
    identities: tuple[Value, ...]
    initial: tuple[Value, ...]
    apply: Function
    emit: Function
    operands: tuple[Value, ...] = ()
    syntax = (
        "sweep {sources} along dimensions [{dimensions}] summarize {summarize} combine {combine} from {identities} "
        "carrying {initial} apply {apply} emit {emit}{ with |operands|}"
    )
    spelled = "I.region_scan"

    def infer(self) -> Any:
        _summaries(self)
        states = _types(self.initial)
        _expect("what is applied to a state", _types(self.apply.formals), [*_types(self.identities), *states])
        _expect("states", _types(self.apply.results), states)
        extent = _of_slices(self, self.emit, *self.initial)
        for v in self.emit.results:
            if sum(e is extent for e in shape_of(v)) != 1:
                raise TypeError(f"an output of shape {shape_of(v)} has not the axis of the slice")
        whole = shape_of(self.sources[0])[self.dimensions[0]]
        return (*(resized(v.type, extent, whole) for v in self.emit.results), *states)
