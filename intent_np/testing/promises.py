"""What a kernel is promised of its arguments, and arguments that keep it.

    I.require_equal(M, N)                  equal extents
    I.constraints(strides=(1,))            memory laid out so
    I.constraints(finite=True)             no NaN and no infinity
    I.assume_in_bounds(at[i], x)           coordinates that x has
    I.assume_unique(at[i])                 each of them once
    values[offsets[g] : offsets[g + 1]]    ascending offsets

A promise of what the kernel computes is none of its arguments: whether it holds is for checking mode to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from intent_np.runtime.expressions import expression
from intent_np.terms.core import Term, find, walk
from intent_np.terms.index import Cast, Extent, Param, Value
from intent_np.terms.logical import Between, Convert, InBounds, LogicalProgram, Read, Subscript, Unique, inlined

from .arguments import Arguments, extent
from .captured import captured, required
from .host import HostProgram


@dataclass
class Places:
    """What the elements of a view, or a scalar, are used for: `below` is a limit as an expression over extents, where
    there is one; `unique` says that each is there once, `ascending` that they do not descend."""

    below: list[str] = field(default_factory=list)
    unique: bool = False
    ascending: bool = False

    def limit(self, sizes: Mapping[str, int]) -> int:
        """How many coordinates there are; small ones exist along every axis where nothing more is known."""
        known = [expression(text)(sizes) for text in self.below]
        return min(known) if known else max(1, min(sizes.values(), default=1))


class Promises:
    """The promises of a kernel for a choice of its constexprs."""

    def __init__(self, kernel: Any, constexprs: Mapping[str, Any]) -> None:
        self.views = {p.name: p for p in kernel.parameters if p.kind == "view"}
        self.constants = dict(constexprs)
        self.equal: dict[str, str] = {}
        self.places: dict[str, Places] = {}
        if isinstance(kernel, HostProgram):
            return
        space, program = captured(kernel, constexprs)
        with space:
            self.equal = {e.name: _text(v) for e, v in required(kernel, constexprs).items()}  # type: ignore[attr-defined]
            self._gather(inlined(program))

    def _gather(self, program: LogicalProgram) -> None:
        for t in walk(program):
            if isinstance(t, Subscript) or "Domain" in type(t).__name__:
                for read in find(t, Read):
                    self.of(read)
            elif isinstance(t, InBounds) and (source := _source(t.value)) is not None:
                if not any(True for _ in find(t.extent, (Read, Param))):
                    self.of(source).below.append(_text(t.extent))
            elif isinstance(t, Unique) and (source := _source(t.value)) is not None:
                self.of(source).unique |= len(t.values) == 1
            elif isinstance(t, Between) and (source := _source(t.value)) is not None:
                self.of(source).ascending = True
                if all(isinstance(x, Extent) for x in find(t.high, (Read, Param, Extent))):
                    self.of(source).below.append(f"{_text(t.high)} + 1")

    def of(self, source: Read | Param) -> Places:
        """What is known of the argument that a term reads."""
        name = source.view.name if isinstance(source, Read) else source.name  # type: ignore[attr-defined]
        return self.places.setdefault(name, Places())

    def sizes(self, extents: Mapping[str, int]) -> dict[str, int]:
        """The extents, with those in the place of others that were required to be equal to something."""
        made = dict(extents)
        for name, text in self.equal.items():
            if all(n in extents for n in expression(text).names):
                made[name] = expression(text)(extents)
        return made

    def possible(self, sizes: Mapping[str, int]) -> bool:
        """Whether arguments of these extents can keep the promises."""
        for name, places in self.places.items():
            shape = self.views[name].shape if name in self.views else ()
            count = prod(extent(e, {**self.constants, **sizes}) for e in shape)
            if count and places.limit(sizes) < (count if places.unique else 1):
                return False
        return True

    def kept(self, given: Arguments, sizes: Mapping[str, int], rng: np.random.Generator) -> Arguments:
        """The arguments, changed so that they keep the promises where arguments of these extents can."""
        made = dict(given)
        for name, value in given.items():
            view = self.views.get(name)
            if view is not None:
                value = made[name] = _laid(value, view.constraints.strides or (), {**self.constants, **sizes})
                if view.constraints.finite and value.dtype.kind not in "biu":
                    wild = ~np.isfinite(value.astype(np.float64))
                    value[...] = np.where(wild, value.dtype.type(1), value)
            places = self.places.get(name)
            if (
                places is None
                or not isinstance(value, int)
                and getattr(value, "dtype", np.dtype("f4")).kind not in "iu"
            ):
                continue
            numbers = _drawn(places, places.limit(sizes), np.shape(value), rng)
            if not isinstance(value, np.ndarray):
                made[name] = int(numbers)
                continue
            if places.unique and 0 in value.strides:  # the layout repeats elements
                value = made[name] = np.empty(value.shape, value.dtype)
            value[...] = np.minimum(numbers, min(np.iinfo(value.dtype).max, np.iinfo(np.int64).max))
        return made


_known: WeakKeyDictionary[Any, dict[Any, Promises]] = WeakKeyDictionary()


def promises_of(kernel: Any, constexprs: Mapping[str, Any]) -> Promises:
    """The promises of a kernel, which are looked for once."""
    key = tuple((n, type(v), repr(v)) for n, v in constexprs.items())
    known = _known.setdefault(kernel, {})
    if key not in known:
        known[key] = Promises(kernel, constexprs)
    return known[key]


def _drawn(places: Places, limit: int, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Coordinates below a limit."""
    count = prod(shape)
    if places.unique and count <= limit:
        numbers = rng.permutation(limit)[:count].reshape(shape)
    else:
        numbers = rng.integers(0, max(limit, 1), shape)
    return np.sort(numbers, axis=None).reshape(shape) if places.ascending else numbers


def _text(v: Value) -> str:
    from intent_np.plans import expression as text

    return text(v)


def _source(v: Term) -> Read | Param | None:
    """The argument whose elements these are, if nothing is done to them."""
    while isinstance(v, Convert | Cast | Unique | InBounds):
        v = v.value  # type: ignore[attr-defined]
    return v if isinstance(v, Read | Param) else None


def _laid(
    view: np.ndarray[Any, Any], strides: tuple[int | str | None, ...], sizes: Mapping[str, int]
) -> np.ndarray[Any, Any]:
    """The elements in memory of the strides that were promised, in elements; free ones as in a contiguous array."""
    if all(s is None for s in strides):
        return view
    steps: list[int] = []
    step = 1
    for s, size in zip(reversed(strides), reversed(view.shape), strict=True):
        steps.insert(0, step if s is None else int(sizes.get(s, step)) if isinstance(s, str) else s)
        step = max(step, abs(steps[0]) * max(size, 1))
    ends = [(n - 1) * s for n, s in zip(view.shape, steps, strict=True) if n]
    low, high = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    memory = np.zeros(high - low + 1, view.dtype)
    made = np.lib.stride_tricks.as_strided(memory[-low:], view.shape, [s * view.itemsize for s in steps])
    made[...] = view
    return made
