"""The evaluator of checking mode: values as the reference computes them, and beside them their poison.

By default a construct is poisoned, in a lane of the batch, wherever an operand that it evaluated is.  `poison` sharpens
this for one construct after the other; what binds values to names (helpers, loops) needs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numerics
from ...numerics import Array
from ...numerics.invalidity import NO_INFINITY, about, about_cast
from ...terms.core import children
from ...terms.dtypes import DType, bool_, f64, i64
from ...terms.index import Apply, Cast, Const, Value
from ...terms.logical import (
    After,
    Call,
    Convert,
    Filled,
    Formal,
    InBounds,
    Indices,
    LoopVar,
    Old,
    Ordered,
    Pointwise,
    Read,
    RegionFold,
    RegionScan,
    Reshape,
    Returned,
    State,
    Succeeded,
    Take,
    TensorContract,
    TensorReduce,
    TensorScan,
    TensorSort,
    Transpose,
    Unique,
    element,
    shape_of,
)
from ...terms.normal import Arg, Combine, Proj
from ...terms.operators import OPERATORS, Op
from ..arrays.arguments import Arguments
from .checking_access import CheckedAccess
from .checking_laws import check_combine
from .checking_masks import removed_lanes
from .checking_poison import Mask, along, anywhere, union
from .checking_regions import check_region
from .checking_report import Findings
from .checking_shadow import Shadow
from .scope import Result, Scope, lift
from .structured import Arrays, Used, builtin, in_lines, sided

HANDED_ON = (Proj, Call, Returned, After, State, Formal, Arg, LoopVar, Const, Indices)
"""Constructs whose result is clean, or the very array of another value, which has its mask already."""


MASKED = "a member that a mask removes meets a NaN or an infinity, which a product with 0 does not remove"


class CheckedTensors(CheckedAccess):
    """Evaluates values with their poison."""

    def __init__(
        self, arguments: Arguments, loop: Callable[[Ordered, Scope], None], shadow: Shadow, findings: Findings
    ) -> None:
        super().__init__(arguments, loop, shadow, findings)
        self._inside: list[int] = []  # poison that arose in combines, which hold no lanes of the batch
        self._branch_mask: Mask = None  # that of the select which read memory last

    def lifted(self, value: Result, depth: int, to: int) -> Result:
        result = super().lifted(value, depth, to)
        self.poison.lift(value, result, depth, to)
        return result

    def _compute(self, v: Value, s: Scope) -> Result:
        outer = self.findings.place
        if isinstance(v, (Read, Take)):
            self.findings.place = v
        result = super()._compute(v, s)
        self.findings.place = outer
        if not isinstance(v, HANDED_ON):
            self.poison.mark(result, self._poisoned(v, s, result))
        return result

    def _poisoned(self, v: Value, s: Scope, result: Result) -> Any:
        match v:
            case Apply(op, args) | Pointwise(op, args):
                return self._pointwise_mask(v, op, args, s)
            case Cast(value, d, mode) | Convert(value, d, mode):
                return union([self._invalid_cast(v, value, d, mode, s), self.mask(value, s)])
            case Read() | Take() | RegionFold() | RegionScan():
                return self.poison.of(result)  # gathered with the elements; computed with the components
            case Filled(value):
                mask = self.mask(value, s)
                return None if mask is None else lift(mask, s.depth, s.depth + len(shape_of(v)))
            case Transpose(value, permutation):
                mask = self.mask(value, s)
                return None if mask is None else mask.transpose(*range(s.depth), *(s.depth + p for p in permutation))
            case Reshape(value):
                mask, whole = self.mask(value, s), self.value(value, s)
                return None if mask is None else np.broadcast_to(mask, whole.shape).reshape(result.shape)
            case TensorReduce():
                return self._reduce_mask(v, s)
            case InBounds(value, extent):
                self._bounded(v, self.value(value, s), self.size(extent, s), s)
                return self.poison.of(result)
            case Unique(values):
                self._different(v, [self.aligned(x, v.rank, s) for x in values], s)
                return self.poison.of(result)
            case Old() | Succeeded():
                return None  # of a statement that no lane in hand performs
            case TensorScan():
                return self._scan_mask(v, s)
            case TensorSort(value, dimension):
                line = along(self.mask(value, s), s.depth + dimension, keepdims=True)
                return line if line is None else (line, line)
            case TensorContract():
                return self._contract_mask(v, s)
        return self._default(v, s, result)

    def _default(self, v: Value, s: Scope, result: Result) -> Any:
        """Poison anywhere in what was evaluated for `v` is poison everywhere in it."""
        first = result[0] if isinstance(result, tuple) else result
        found: list[Mask] = []
        for c in children(v):
            x = self._known(c, s)
            for a in x if isinstance(x, tuple) else (x,):
                if a is not None and (mask := self.poison.of(a)) is not None:
                    found.append(anywhere(mask, s.depth, first.ndim - s.depth))
        return union(found)

    def _known(self, v: Any, s: Scope | None) -> Result | None:
        """The value of `v`, if it was evaluated, as scope `s` sees it."""
        depth = s.depth if s is not None else 0
        while s is not None:
            if v in s.known:
                return self.lifted(s.known[v], s.depth, depth)
            s = s.parent
        return None

    # ---- pointwise

    def _pointwise_mask(self, v: Value, op: Op, args: tuple[Value, ...], s: Scope) -> Mask:
        if self._is_branch(op, args):
            return self._branch_mask
        rank = max(len(shape_of(a)) for a in args)
        masks = [self.aligned_mask(a, rank, s) for a in args]
        if op.name == "select":
            if masks[1] is None and masks[2] is None:
                return masks[0]
            chosen = self.aligned(args[0], rank, s)
            zero = np.zeros((1,) * chosen.ndim, np.int64)
            sides = [zero if m is None else m for m in masks[1:]]
            return union([masks[0], np.where(chosen, sides[0], sides[1])])
        d = _dtype(args[-1])
        if rule := about(op, d):
            arrays = [self.aligned(a, rank, s) for a in args]
            wrong = numerics.invalid(op, *arrays, dtype=d)
            if wrong.any():
                masks.append(self._arisen("E507", v, wrong, arrays, op.written, _spelled(op), rule))
        return union(masks)

    def _arisen(
        self, code: str, v: Value, wrong: Array, arrays: Sequence[Array], name: str, spelled: str, rule: str
    ) -> Array:
        lanes = [np.broadcast_to(a, wrong.shape)[wrong] for a in arrays]

        def found(k: int) -> str:
            return f"{spelled.format(*(x[k] for x in lanes))}: {rule}"

        return self.poison.arises(code, v, wrong, name, found)

    def _invalid_cast(self, v: Value, value: Value, d: DType, mode: str, s: Scope) -> Mask:
        source = _dtype(value)
        if mode != "wrap" or not (rule := about_cast(d, source)):
            return None
        x = self.value(value, s)
        wrong = numerics.invalid_cast(x, d, source)
        if not wrong.any():
            return None
        return self._arisen("E508", v, wrong, [x], str(d), f"{source} {{}} to {d}", rule)

    def _branches(self, v: Value, args: tuple[Value, ...], s: Scope) -> Array:
        """As the reference does, with the masks of the sides, which only their guarded scopes know."""
        chosen = self.value(args[0], s)
        rank = len(shape_of(v))
        shape = (1,) * s.depth + self.sizes(v, s)
        result, mask = np.zeros((1,) * len(shape), numerics.storage(_dtype(v))), np.zeros((1,) * len(shape), np.int64)
        for side, where in ((args[2], ~chosen), (args[1], chosen)):
            if where.any() or not where.size:
                inner = s if where.all() else s.guarded(where)
                wide = lift(where, s.depth, s.depth + rank)
                x = self.aligned(side, rank, inner)
                result = numerics.apply(OPERATORS["select"], wide, x, result, dtype=_dtype(v))
                m = self.aligned_mask(side, rank, inner)
                mask = np.where(wide, 0 if m is None else m, mask)
        condition = self.mask(args[0], s)
        self._branch_mask = union([None if condition is None else lift(condition, s.depth, s.depth + rank), mask])
        return np.broadcast_to(result, np.broadcast_shapes(result.shape, shape))

    # ---- structured

    def _reduce_mask(self, v: TensorReduce, s: Scope) -> Mask:
        rank, axis = max(len(shape_of(x)) for x in v.values), s.depth + v.dimension
        found = [along(self.aligned_mask(x, rank, s), axis, v.keepdims) for x in v.values]
        if op := builtin(v):
            x, d = self.aligned(v.values[0], rank, s), v.combine.dtypes[0]
            found.append(self._passed(v.spelled, v, numerics.invalid_reduction(op, x, axis, d, v.keepdims)))
        return union([*found, self.arisen_inside(s.depth + rank - (not v.keepdims))])

    def _passed(self, name: str, v: Value, wrong: Array) -> Mask:
        """The poison of members that are combined by an operator, where `wrong`: they may pass the range."""
        if not wrong.any():
            return None
        return self.poison.arises("E507", v, wrong, name, lambda k: f"in some order of the members, {NO_INFINITY}")

    def _scan_mask(self, v: TensorScan, s: Scope) -> Mask:
        """Poisoned from the first poisoned member on."""
        rank, axis = max(len(shape_of(x)) for x in v.values), s.depth + v.dimension
        inside = self.arisen_inside(s.depth + rank)
        masks = [self.aligned_mask(x, rank, s) for x in v.values]
        if op := builtin(v):
            x = self.aligned(v.values[0], rank, s)
            wrong = numerics.invalid_scan(op, np.flip(x, axis) if v.reverse else x, axis, v.combine.dtypes[0])
            masks.append(self._passed(v.spelled, v, np.flip(wrong, axis) if v.reverse and wrong.ndim else wrong))
        mask = union(masks)
        if mask is None:
            return inside
        whole = np.broadcast_shapes(mask.shape, *(self.aligned(x, rank, s).shape for x in v.values))
        lines = np.moveaxis(np.broadcast_to(mask, whole), axis, 0)
        lines = np.maximum.accumulate(lines[::-1] if v.reverse else lines, axis=0)
        if v.exclusive:
            lines = np.concatenate((np.zeros_like(lines[:1]), lines[:-1]))
        return union([np.moveaxis(lines[::-1] if v.reverse else lines, 0, axis), inside])

    def arisen_inside(self, ndim: int) -> Mask:
        """Poison that arose in the combine that was evaluated last: it may be anywhere in the result."""
        found = np.full((1,) * ndim, self._inside[0], np.int64) if self._inside else None
        self._inside.clear()
        return found

    def structured(self, v: Value, s: Scope) -> Result:
        if isinstance(v, RegionFold | RegionScan):
            check_region(self, v, s, self.findings)
        if isinstance(v, TensorReduce | TensorScan) and builtin(v) is None:
            rank = max(len(shape_of(x)) for x in v.values)
            used = self.operands(v, s, rank)
            lines = in_lines([self.aligned(x, rank, s) for x in v.values], used, s.depth + v.dimension)
            check_combine(self, v, lines, used, self.findings)
        return super().structured(v, s)

    def slice(self, v: RegionFold | RegionScan, s: Scope, low: int, high: int) -> Arrays:
        extent, *parts = super().slice(v, s, low, high)
        for part, x, d in zip(parts, v.sources, v.dimensions, strict=True):
            whole = self.value(x, s)
            if (mask := self.poison.of(whole)) is not None:
                at = (slice(None),) * (s.depth + d) + (slice(low, high),)
                self.poison.mark(part, np.broadcast_to(mask, whole.shape)[at])
        return extent, *parts

    def _output(self, r: Value, extent: Value, pieces: list[Array], s: Scope) -> Array:
        result = super()._output(r, extent, pieces, s)
        masks = [self.poison.of(p) for p in pieces]
        if any(m is not None for m in masks):
            whole = [np.broadcast_to(0 if m is None else m, p.shape) for m, p in zip(masks, pieces, strict=True)]
            self.poison.mark(result, super()._output(r, extent, whole, s))
        return result

    def combined(self, combine: Combine, left: Arrays, right: Arrays, used: Used) -> Arrays:
        scope = sided(combine, left, right, used)
        for b in combine.bodies:
            if (mask := self.mask(b, scope)) is not None and mask.any():
                self._inside.append(int(mask.max()))
        return tuple(np.broadcast_to(self.value(b, scope), left[0].shape) for b in combine.bodies)

    def _contract_mask(self, v: TensorContract, s: Scope) -> Mask:
        """Poisoned where any product is, or is that of a masked member and a non-finite one."""
        l, r = self.value(v.left, s), self.value(v.right, s)
        found: list[Mask] = []
        if numerics.may_be_invalid(OPERATORS["add"], v.acc):
            left, right = l.astype(np.float64), r.astype(np.float64)
            total = self.contracted(v, left, right, s, f64)
            magnitude = self.contracted(v, np.abs(left), np.abs(right), s, f64)
            found.append(self._passed("the contraction", v, numerics.invalid_contraction(total, magnitude, v.acc)))
        for k, (side, x, other) in enumerate(((v.left, l, r), (v.right, r, l))):
            if (mask := self.poison.of(x)) is not None:
                met = self._met(v, k, np.broadcast_to(mask != 0, x.shape), np.ones(other.shape, np.bool_), s)
                found.append(np.where(met, anywhere(mask, s.depth, met.ndim - s.depth), 0))  # type: ignore[arg-type]
            if not v.acc.is_float or (finite := np.isfinite(other.astype(np.float32))).all():
                continue
            if (removed := removed_lanes(self, side, s)) is not None:
                met = self._met(v, k, np.broadcast_to(removed & (x == 0), x.shape), ~finite, s)
                if met.any():
                    found.append(self.poison.arises("E509", v, met, "the contraction", lambda k: MASKED))
        return union(found)

    def _met(self, v: TensorContract, side: int, one: Array, other: Array, s: Scope) -> Array:
        """Where the contraction multiplies a member of `one`, operand number `side`, by one of `other`."""
        pair = (one.astype(np.int64), other.astype(np.int64))
        return self.contracted(v, *(pair if side == 0 else pair[::-1]), s, i64) > 0


def _spelled(op: Op) -> str:
    return f"{{}} {op.infix} {{}}" if op.infix else f"{op.written}({', '.join(['{}'] * op.arity)})"


def _dtype(v: Value) -> DType:
    d = element(v.type)
    return d if isinstance(d, DType) else bool_
