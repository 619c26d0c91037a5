"""What a checked run meets on its way to memory: accesses with their poison, promises, and where poison must not come.

`checking_values` evaluates everything else; nothing here asks what a value is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import CheckError
from ...numerics import Array
from ...terms.core import Term, children
from ...terms.index import Value
from ...terms.logical import Between, Domain, InBounds, Ordered, Read, Subscript, Take, Unique, shape_of
from ..arrays.arguments import Arguments
from .checking_poison import Mask, Poison
from .checking_report import Findings
from .checking_shadow import Shadow
from .scope import Scope, lift
from .tensors import Tensors


class CheckedAccess(Tensors):
    """Follows accesses in the shadow, and reports what reaches an address or a condition."""

    def __init__(
        self, arguments: Arguments, loop: Callable[[Ordered, Scope], None], shadow: Shadow, findings: Findings
    ) -> None:
        super().__init__(arguments, loop)
        self.shadow, self.findings = shadow, findings
        self.poison: Poison = findings.poison
        self.speculating = False  # what a value holds that may never be asked for is no finding yet
        self._gathered_mask: Mask = None

    def mask(self, v: Value, s: Scope) -> Any:
        """The mask of a value in a scope, or those of a tuple."""
        return self.poison.of(self.value(v, s))

    def aligned_mask(self, v: Value, rank: int, s: Scope) -> Mask:
        mask: Mask = self.mask(v, s)
        if mask is None:
            return None
        return mask.reshape(mask.shape[: s.depth] + (1,) * (rank - len(shape_of(v))) + mask.shape[s.depth :])

    # ---- memory

    def _read(self, v: Read | Take, name: str, source: Array, first: int, s: Scope) -> Array:
        result = super()._read(v, name, source, first, s)
        if v.valid is not None and v.fill is not None:  # what was gathered is a new array where lanes are filled
            rank = result.ndim - s.depth
            sides = (self._gathered_mask, self.aligned_mask(v.fill, rank, s))
            if any(m is not None for m in sides):
                zero = np.zeros((1,) * result.ndim, np.int64)
                of, fill = (zero if m is None else m for m in sides)
                self.poison.mark(result, np.where(self.aligned(v.valid, rank, s), of, fill))
        return result

    def _gathered(
        self, name: str, source: Array, where: list[Array], rank: int, s: Scope, first: int,
        valid: Array | None = None, *, at: Term,
    ) -> Array:  # fmt: skip
        result = super()._gathered(name, source, where, rank, s, first, valid, at=at)
        self._gathered_mask = None
        if 0 in source.shape or 0 in result.shape:
            return result
        inside = [np.clip(i, 0, n - 1) for i, n in zip(where, source.shape, strict=True)]
        if (mask := self.poison.of(source)) is not None:
            whole = np.broadcast_to(mask, source.shape)
            self._gathered_mask = super()._gathered(name, whole, inside, rank, s, first, valid, at=at)
            self.poison.mark(result, self._gathered_mask)
        if not self.speculating:
            self.shadow.loaded(name, source, inside, s, rank, valid)
        return result

    def coordinates(self, subscripts: Sequence[Subscript], s: Scope) -> tuple[list[Array], int]:
        made, rank = super().coordinates(subscripts, s)
        for p in subscripts:
            for c in children(p):
                if isinstance(c, Value):
                    self.reaches(c, s, "an address")
        return made, rank

    def members(self, d: Domain, scope: Scope) -> Array:
        for bound in (d.lo, d.hi, d.step):
            if bound is not None:
                self.reaches(bound, scope, "the bounds of a domain")
        return super().members(d, scope)

    def outside(self, name: str, axis: int, extent: int, index: Array, bad: Array, s: Scope, at: Term) -> None:
        if self.speculating:
            super().outside(name, axis, extent, index, bad, s, at)
        values = np.broadcast_to(index, bad.shape)
        k = int(np.argmax(bad))
        self.findings.add(
            "E502", self.findings.place, s, k, bad.shape, key=(name, axis), name=name,
            expected=f"0 <= index < {extent} on axis {axis}", found=f"index {values.reshape(-1)[k]} on axis {axis}",
        )  # fmt: skip

    # ---- promises

    def broken(
        self, v: Between, s: Scope, lane: int, shape: tuple[int, ...], name: str, expected: str, found: str
    ) -> None:
        fields = {"name": name, "promise": "in order and inside", "expected": expected, "found": found}
        self.findings.add("E510", v, s, lane, shape, **fields)

    def _bounded(self, v: InBounds, index: Array, extent: int, s: Scope) -> None:
        wrong = self._live((index < 0) | (index >= extent), s)
        if wrong.any() and not self.speculating:
            k = int(np.argmax(wrong))
            found = f"index {np.broadcast_to(index, wrong.shape).reshape(-1)[k]}"
            said = {"name": "an index", "promise": "in bounds", "expected": f"0 <= index < {extent}", "found": found}
            self.findings.add("E510", v, s, k, wrong.shape, **said)

    def _different(self, v: Unique, index: list[Array], s: Scope) -> None:
        """Together different in all lanes and points of the batch; others that meet are found as a race."""
        index = list(np.broadcast_arrays(*index))
        live = np.flatnonzero(self._live(np.ones(index[0].shape, np.bool_), s))
        rows = np.stack([x.reshape(-1)[live] for x in index], axis=1)
        order = np.lexsort(rows.T[::-1])
        same = np.flatnonzero((rows[order][1:] == rows[order][:-1]).all(axis=1))
        if same.size and not self.speculating:
            k = int(np.min(np.maximum(order[same], order[same + 1])))
            found = f"{[int(x) for x in rows[k]]} a second time"
            said = {"name": "an index", "promise": "unique", "expected": "each index once", "found": found}
            self.findings.add("E510", v, s, int(live[k]), index[0].shape, **said)

    def _live(self, lanes: Array, s: Scope) -> Array:
        return lanes if s.active is None else lanes & lift(s.active, s.depth, lanes.ndim)

    # ---- what poison must not reach

    def decided(self, condition: Value, scope: Scope) -> Array:
        chosen = super().decided(condition, scope)
        self.reaches(condition, scope, "a condition")
        return chosen

    def merged(self, where: Array, new: Array, old: Array, s: Scope) -> Array:
        result = super().merged(where, new, old, s)
        masks = [self.poison.of(x) for x in (new, old)]
        if any(m is not None for m in masks):
            sides = [np.zeros((1,) * result.ndim, np.int64) if m is None else m for m in masks]
            self.poison.mark(result, np.where(lift(where, s.depth, result.ndim), *sides))
        return result

    def reaches(self, v: Value, s: Scope, what: str) -> None:
        """Report poison of `v` in the lanes in hand."""
        mask = self.mask(v, s)
        if mask is None or not mask.any():
            return
        if self.speculating:
            raise CheckError("poison reaches what may not be asked for")
        self.findings.reached(mask, s, what)
