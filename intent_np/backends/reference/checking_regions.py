"""The laws of region operations, tried on the call's own slices: at the ends, in the middle, and at random.

Summaries of an axis in one piece and in several must agree, whatever the grouping; a state must go through two slices
as through both at once; and what is emitted must not show where the axis was cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...numerics import Array
from ...terms.logical import RegionFold, RegionScan, element, shape_of
from .checking_laws import plain
from .checking_report import Findings
from .scope import Scope, lift

if TYPE_CHECKING:
    from .checking_values import CheckedTensors

Arrays = tuple[Array, ...]
CALLS = 6  # calls of one operation that are tried
CLOSE = {"f64": 2.0**-30, "f32": 2.0**-12}
"""Differences, relative to the largest magnitude of a component, that rounding alone explains; of others 1/32."""


class Trial(NamedTuple):
    """An equation, what it was tried on, and both sides."""

    law: str
    on: str
    left: Arrays
    right: Arrays
    types: Sequence[Any]


def check_region(t: CheckedTensors, v: RegionFold | RegionScan, s: Scope, findings: Findings) -> None:
    """Try the laws of a region operation on the values that its sources have in scope `s`."""
    if findings.tried(v) > CALLS:
        return
    sources = [t.value(x, s) for x in v.sources]
    n = sources[0].shape[s.depth + v.dimensions[0]]
    sound = all(np.isfinite(x.astype(np.float64)).all() for x in sources if plain(x).dtype.kind == "f")
    if n < 1 or 0 in np.broadcast_shapes(s.sizes):
        return
    with np.errstate(all="ignore"):
        for trial in _trials(t, v, s, n):
            for k, (left, right, d) in enumerate(zip(trial.left, trial.right, trial.types, strict=True)):
                wrong = _apart(left, right, element(d), sound)
                if s.active is not None:
                    wrong = wrong & lift(s.active, s.depth, wrong.ndim)
                if wrong.any():
                    lane = int(np.argmax(wrong))
                    sides = [plain(np.broadcast_to(x, wrong.shape)).reshape(-1)[lane] for x in (left, right)]
                    part = f"component {k}: " if len(trial.left) > 1 else ""
                    found = f"{part}{sides[0]} and {sides[1]} for {trial.on}"
                    findings.add(
                        "E503", v, s, lane, wrong.shape, trial.law, name=v.spelled, expected=trial.law, found=found
                    )
                    break


def _apart(left: Array, right: Array, d: Any, sound: bool) -> Array:
    """Where two arrays differ by more than rounding; where numbers were not finite to begin with, only finite ones."""
    left, right = np.broadcast_arrays(left, right)
    if not d.is_float:
        return np.asarray(left != right)
    left, right = left.astype(np.float64), right.astype(np.float64)
    both = np.isfinite(left) & np.isfinite(right)
    scale = max((float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in (left, right)), default=0.0)
    far = both & (np.abs(left - right) > CLOSE.get(d.name, 2.0**-5) * scale)
    if not sound:
        return far
    return far | ~both & (left != right) & ~(np.isnan(left) & np.isnan(right))


def _cuts(n: int) -> list[int]:
    """Where an axis of n members is cut in two."""
    if n < 2:
        return []
    drawn = np.random.default_rng(n).integers(1, n, 2).tolist()
    return list(dict.fromkeys([1, n - 1, n // 2, *drawn]))


def _trials(t: CheckedTensors, v: RegionFold | RegionScan, s: Scope, n: int) -> Iterator[Trial]:
    operands = tuple(t.value(o, s) for o in v.operands)
    identity = tuple(t.value(i, s) for i in v.identities)
    types = [i.type for i in v.identities]

    def summary(low: int, high: int) -> Arrays:
        return t.called(v.summarize, (*t.slice(v, s, low, high), *operands), s)

    def combine(a: Arrays, b: Arrays) -> Arrays:
        return t.called(v.combine, (*a, *b), s)

    whole = summary(0, n)
    yield Trial("combine(identity, x) == x", f"x = summarize(0..{n})", combine(identity, whole), whole, types)
    yield Trial("combine(x, identity) == x", f"x = summarize(0..{n})", combine(whole, identity), whole, types)
    for cut in _cuts(n):
        a, b = summary(0, cut), summary(cut, n)
        on = f"A = 0..{cut}, B = {cut}..{n}"
        yield Trial("summarize(A ++ B) == combine(summarize(A), summarize(B))", on, whole, combine(a, b), types)
        if n > cut + 1:
            second = (cut + n) // 2
            middle, last = summary(cut, second), summary(second, n)
            on = f"a, b, c = summarize of 0..{cut}, {cut}..{second}, {second}..{n}"
            sides = combine(combine(a, middle), last), combine(a, combine(middle, last))
            yield Trial("combine(combine(a, b), c) == combine(a, combine(b, c))", on, *sides, types)
    if isinstance(v, RegionScan):
        yield from _action(t, v, s, n, operands, identity, summary, combine)


def _action(
    t: CheckedTensors, v: RegionScan, s: Scope, n: int, operands: Arrays, identity: Arrays, summary: Any, combine: Any
) -> Iterator[Trial]:
    """The laws of states, and of what is emitted."""
    initial = tuple(t.value(x, s) for x in v.initial)
    types = [x.type for x in v.initial]

    def applied(a: Arrays, state: Arrays) -> Arrays:
        return t.called(v.apply, (*a, *state), s)

    def emitted(low: int, high: int, state: Arrays) -> Arrays:
        return t.called(v.emit, (*t.slice(v, s, low, high), *state, *operands), s)

    yield Trial("apply(identity, state) == state", "the initial state", applied(identity, initial), initial, types)
    outputs = v.emit.results
    axes = [s.depth + shape_of(r).index(v.emit.formals[0]) for r in outputs]
    for cut in _cuts(n):
        a, b = summary(0, cut), summary(cut, n)
        on = f"A = 0..{cut}, B = {cut}..{n}, the initial state"
        sides = applied(combine(a, b), initial), applied(b, applied(a, initial))
        yield Trial("apply(combine(a, b), state) == apply(b, apply(a, state))", on, *sides, types)
        pieces = emitted(0, cut, initial), emitted(cut, n, applied(a, initial))
        joined = tuple(_joined(x, y, axis) for x, y, axis in zip(*pieces, axes, strict=True))
        law = "emit(A ++ B, state) == concat(emit(A, state), emit(B, apply(summarize(A), state)))"
        yield Trial(law, on, emitted(0, n, initial), joined, [r.type for r in outputs])


def _joined(x: Array, y: Array, axis: int) -> Array:
    """Two pieces, one behind the other."""
    batch = (
        np.broadcast_shapes(x.shape[:axis], y.shape[:axis]),
        np.broadcast_shapes(x.shape[axis + 1 :], y.shape[axis + 1 :]),
    )
    wide = [np.broadcast_to(p, (*batch[0], p.shape[axis], *batch[1])) for p in (x, y)]
    return np.concatenate(wide, axis)
