"""The value of region operations: an axis in slices, their summaries combined in order.

By the laws of the operation any cut will do; `cuts` is the number of slices.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array, storage
from ...terms.dtypes import index
from ...terms.index import Value
from ...terms.logical import Function, RegionFold, RegionScan, element, shape_of
from .scope import Result, Scope
from .structured import Arrays, Structured


class Regions(Structured):
    """Evaluates region operations."""

    cuts = 1

    def structured(self, v: Value, s: Scope) -> Result:
        if isinstance(v, RegionFold):
            summary = self._joined(v, [self._summary(v, x, s) for x in self.slices(v, s)], s)
            return summary[0] if len(summary) == 1 else summary
        if isinstance(v, RegionScan):
            return self._region_scan(v, s)
        return super().structured(v, s)

    def slices(self, v: RegionFold | RegionScan, s: Scope) -> Iterator[Arrays]:
        """For each slice its extent and what the sources have there, in order."""
        n = self.value(v.sources[0], s).shape[s.depth + v.dimensions[0]]
        parts = min(self.cuts, n)
        for k in range(parts):
            yield self.slice(v, s, n * k // parts, n * (k + 1) // parts)

    def slice(self, v: RegionFold | RegionScan, s: Scope, low: int, high: int) -> Arrays:
        """The extent of a slice, and what the sources have there."""
        extent = np.full((1,) * s.depth, high - low, storage(index))
        sources = [(self.value(x, s), s.depth + d) for x, d in zip(v.sources, v.dimensions, strict=True)]
        return extent, *(x[(slice(None),) * axis + (slice(low, high),)] for x, axis in sources)

    def called(self, f: Function, arguments: Arrays, s: Scope) -> Arrays:
        """What a closed function gives, one array a component."""
        inner = Scope(s, f.formals)
        for formal, a in zip(f.formals, arguments, strict=True):
            inner.bind(formal, a)
        return tuple(self.value(r, inner) for r in f.results)

    def _summary(self, v: RegionFold | RegionScan, part: Arrays, s: Scope) -> Arrays:
        return self.called(v.summarize, (*part, *(self.value(o, s) for o in v.operands)), s)

    def _joined(self, v: RegionFold | RegionScan, summaries: list[Arrays], s: Scope) -> Arrays:
        """Neighbours combined until one summary is left; of none, the identity."""
        while len(summaries) > 1:
            pairs = [self.called(v.combine, (*a, *b), s) for a, b in zip(summaries[::2], summaries[1::2], strict=False)]
            summaries = pairs + summaries[len(pairs) * 2 :]
        return summaries[0] if summaries else tuple(self.value(i, s) for i in v.identities)

    def _region_scan(self, v: RegionScan, s: Scope) -> Arrays:
        parts = list(self.slices(v, s))
        initial = tuple(self.value(x, s) for x in v.initial)
        operands = tuple(self.value(o, s) for o in v.operands)
        summaries = [self._summary(v, x, s) for x in parts]
        pieces = []
        for k, part in enumerate(parts):
            state = self.called(v.apply, (*self._joined(v, summaries[:k], s), *initial), s) if k else initial
            pieces.append(self.called(v.emit, (*part, *state, *operands), s))
        final = self.called(v.apply, (*self._joined(v, summaries, s), *initial), s)
        extent = v.emit.formals[0]
        outputs = [self._output(r, extent, [p[i] for p in pieces], s) for i, r in enumerate(v.emit.results)]
        return (*outputs, *final)

    def _output(self, r: Value, extent: Value, pieces: list[Array], s: Scope) -> Array:
        """What the slices emit, along the axis that was cut."""
        axis = s.depth + shape_of(r).index(extent)
        if not pieces:
            shape = (0 if e is extent else self.size(e, s) for e in shape_of(r))
            return np.zeros((*(1,) * s.depth, *shape), storage(element(r.type)))
        batch = np.broadcast_shapes(*(p.shape[: s.depth] for p in pieces))
        return np.concatenate([np.broadcast_to(p, (*batch, *p.shape[s.depth :])) for p in pieces], axis)
