"""What a run is given: arrays for views, numbers for extents, strides and scalars, all checked before it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import error
from ...numerics import Array, apply, cast, literal, storage
from ...rules.affine import affine
from ...terms.core import walk
from ...terms.dtypes import DType
from ...terms.index import Apply, Cast, Const, Extent, Param, Physical, Stride, Value
from ...terms.normal import View

OWN = ("workspace", "counter", "copy", "report")
"""Modes of views that no caller has to give."""


@dataclass(slots=True)
class Arguments:
    """Arrays by the names of their views, extents and scalars by their own."""

    arrays: dict[str, Array] = field(default_factory=dict)
    extents: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, Array] = field(default_factory=dict)

    def leaf(self, t: Value) -> Array:
        """The rank-0 array of an extent, a stride, a scalar parameter or a physical parameter."""
        match t:
            case Extent(name):
                return np.asarray(self.extents[name], np.int64)
            case Stride(view, dim):
                return np.asarray(element_stride(self.arrays[view], dim), np.int64)
            case Param(name):
                return self.scalars[name]
            case Physical(_, size):
                return np.asarray(size, np.int64)
        raise TypeError(f"{t} is no scalar of the launch")

    def scalar(self, t: Value) -> Array:
        """The rank-0 array of an index expression."""
        match t:
            case Const(value, d):
                return np.asarray(value, storage(d))
            case Apply(op, args):
                return apply(op, *(self.scalar(a) for a in args), dtype=element(args[-1]))
            case Cast(value, d, "wrap"):
                return cast(self.scalar(value), d, element(value))
        return self.leaf(t)


def element(v: Value) -> DType:
    """Element type of a value that is no tuple."""
    if isinstance(v.type, tuple):
        raise TypeError(f"{v} is a tuple of {v.type}")
    return v.type


def element_stride(array: Array, dim: int) -> int:
    """Elements between neighbours along `dim`."""
    elements, rest = divmod(array.strides[dim], array.itemsize)
    if rest:
        raise TypeError(f"a stride of {array.strides[dim]} bytes is no multiple of the {array.itemsize} of an element")
    return elements


def bind(program: Any, arrays: Mapping[str, Any], scalars: Mapping[str, Any]) -> Arguments:
    """Arguments for `program`: `arrays` by view name, `scalars` by name of parameter or extent.

    Extents come from the shapes of the arrays, those that stand alone first, then the one that a sum leaves open; or
    from `scalars` where no view shows them.  Workspaces that are not given are allocated, full of NaN or of a number
    that is no plausible index, counters full of zeros; copies are made here.
    """
    leaves = walk(program)
    views: dict[str, View] = {t.name: t for t in leaves if isinstance(t, View)}
    made = Arguments()
    given = {n: v for n, v in views.items() if v.mode not in OWN or n in arrays}
    for name, view in given.items():
        made.arrays[name] = _array(view, arrays.get(name))
        for d, extent in enumerate(view.shape):
            if isinstance(extent, Extent):
                _agree(view, d, made.extents.setdefault(extent.name, made.arrays[name].shape[d]), made.arrays[name])
    for name, view in given.items():
        for extent, found in zip(view.shape, made.arrays[name].shape, strict=True):
            made.extents.update(_left_open(extent, found, made.extents))
    for t in leaves:
        if isinstance(t, Extent):
            if t.name not in made.extents:
                if t.name not in scalars:
                    raise error("E410", name=t.name)
                made.extents[t.name] = int(scalars[t.name])
            _promised(program, t, made.extents[t.name])
        elif isinstance(t, Param):
            made.scalars[t.name] = _scalar(t, scalars)
    for view in views.values():
        _complete(view, made)
    return made


def _array(view: View, array: Any) -> Array:
    if not isinstance(array, np.ndarray):
        raise error("E409", parameter=view.name, found="nothing" if array is None else type(array).__name__)
    if array.dtype != storage(view.dtype):
        raise error("E402", parameter=view.name, expected=str(view.dtype), found=str(array.dtype))
    if array.ndim != len(view.shape):
        raise error("E403", parameter=view.name, expected=str(len(view.shape)), found=str(array.ndim))
    if view.mode != "in" and not array.flags.writeable:
        raise error("E406", parameter=view.name)
    return array


def _agree(view: View, dim: int, extent: int, array: Array) -> None:
    if array.shape[dim] != extent:
        raise error("E404", parameter=view.name, axis=dim, expected=str(extent), found=str(array.shape[dim]))


def _left_open(extent: Value, found: int, known: Mapping[str, int]) -> dict[str, int]:
    """The one extent in a sum that has no value yet, and the value that makes the sum what was found."""
    terms = dict(affine(extent))
    missing = [t for t in terms if t is not None and not (isinstance(t, Extent) and t.name in known)]
    if len(missing) != 1 or not isinstance(missing[0], Extent):
        return {}
    factor = terms.pop(missing[0])
    rest = found - sum(c * (1 if t is None else known[t.name]) for t, c in terms.items())
    return {missing[0].name: rest // factor} if rest % factor == 0 and rest // factor >= 0 else {}


def _promised(program: Any, t: Extent, value: int) -> None:
    """The facts of the launch class that the program was compiled for."""
    if value < 0 or t.bound is not None and value > t.bound or value % t.multiple:
        most = f", at most {t.bound}" if t.bound is not None else ""
        found = f"{t.name} = {value}"
        raise error("E412", kernel=program.name, expected=f"a multiple of {t.multiple}{most}", found=found)


def _scalar(t: Param, scalars: Mapping[str, Any]) -> Array:
    if t.name not in scalars:
        raise error("E411", parameter=t.name, dtype=t.dtype, found="nothing")
    value = scalars[t.name]
    value = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    try:
        return np.asarray(literal(value, t.dtype), storage(t.dtype))
    except (TypeError, OverflowError):
        raise error("E411", parameter=t.name, dtype=t.dtype, found=repr(value)) from None


def _complete(view: View, made: Arguments) -> None:
    """Allocate a workspace, or what is reported in; check the extents and strides that are expressions."""
    if view.mode == "copy":
        made.arrays[view.name] = made.arrays[view.source].copy()
        return  # of the same elements, wherever they lie
    if view.name not in made.arrays:
        shape, strides = (tuple(int(made.scalar(e)) for e in part) for part in (view.shape, view.strides))
        zeroed = view.mode in ("counter", "report")
        made.arrays[view.name] = np.zeros(shape, storage(view.dtype)) if zeroed else _garbage(shape, strides, view)
    array = made.arrays[view.name]
    for d, extent in enumerate(view.shape):
        _agree(view, d, int(made.scalar(extent)), array)
    for d, stride in enumerate(view.strides):
        if array.shape[d] < 2 or 0 in array.shape:
            continue  # a stride that is never taken may be anything
        found, expected = element_stride(array, d), int(made.scalar(stride))
        multiple = stride.multiple if isinstance(stride, Stride) else 1
        if found != expected or found % multiple:
            wanted = f"a multiple of {multiple}" if multiple > 1 else str(expected)
            raise error("E407", parameter=view.name, axis=d, expected=wanted, found=str(found))


def _garbage(shape: tuple[int, ...], strides: tuple[int, ...], view: View) -> Array:
    """Memory without gaps, its dimensions in the order of these strides."""
    kind = view.dtype
    fill: Any = float("nan") if kind.is_float else True if not kind.is_integer else kind.range[1] // 3
    order = sorted(range(len(shape)), key=lambda d: -strides[d])
    made = np.full([shape[d] for d in order], fill, storage(kind))
    return made.transpose([order.index(d) for d in range(len(shape))])


def overlapping(arguments: Arguments) -> Callable[[str, str], bool]:
    """Whether two views may share memory."""
    known: dict[tuple[str, str], bool] = {}

    def overlap(a: str, b: str) -> bool:
        key = (a, b) if a <= b else (b, a)
        if key not in known:
            known[key] = a == b or np.may_share_memory(arguments.arrays[a], arguments.arrays[b])
        return known[key]

    return overlap
