"""What a combine that an author wrote may leave of the members of an axis, in whatever order they are combined.

A component that is chosen, compared, or computed in integers is the same in every order.  One of sums and products of
floats is one polynomial of the members in every order, by the laws of the combine; each order rounds it elsewhere.  As
long as no product has members of one side twice, a monomial goes through at most n times the roundings of one combine,
so that every order is within (1 + unit)^k - 1 of the same polynomial of magnitudes; what underflows on the way is
multiplied by at most the same of magnitudes that are 1 or more, which no partial result exceeds.  Of other combines of
floats nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import numpy as np

from intent_np import numerics
from intent_np.backends.reference.scope import Scope
from intent_np.backends.reference.structured import in_lines
from intent_np.terms.core import children, walk
from intent_np.terms.index import Apply, Cast, Const
from intent_np.terms.logical import TensorReduce, TensorScan, element, shape_of
from intent_np.terms.normal import Arg, Combine, builtin_name

from .approx import Approx, times
from .formats import FORMATS, Array, element_type, widen

CHOOSING: Final = {
    "neg", "abs", "sign", "maximum", "minimum", "maximum_num", "minimum_num", "select", "floor", "ceil", "round",
}  # fmt: skip
"""Operators whose float result is exact."""


@dataclass(frozen=True)
class Form:
    """What is known of a combine: which components are rounded, how many roundings one combine puts in a row, whether
    it multiplies, and whether it compares floats."""

    rounded: tuple[bool, ...]
    roundings: int
    multiplies: bool
    compares: bool


def form_of(c: Combine) -> Form | None:
    """The form of a combine; None where its results are no polynomials."""
    rounded = (False,) * len(c.dtypes)
    while True:
        found = _kinds(c, rounded)
        if found is None:
            return None
        now = tuple(b in found for b in c.bodies)
        if now == rounded:
            break
        rounded = now
    depth: dict[Any, int] = {}
    sides: dict[Any, frozenset[str]] = {}
    multiplies = compares = False
    for t in walk(*c.bodies):
        below = children(t)
        depth[t] = max((depth[x] for x in below), default=0) + (
            t in found and isinstance(t, Apply) and t.op.name != "select"
        )
        sides[t] = (
            frozenset((t.side,)) if isinstance(t, Arg) and t in found else frozenset().union(*(sides[x] for x in below))
        )
        if isinstance(t, Apply):
            compares |= t.op.result == "bool" and any(getattr(x.type, "is_float", False) for x in t.args)
            if t in found and t.op.name == "mul":
                multiplies = True
                if sides[t.args[0]] & sides[t.args[1]]:
                    return None
    return Form(rounded, max((depth[b] for b in c.bodies), default=0), multiplies, compares)


def _kinds(c: Combine, rounded: Sequence[bool]) -> set[Any] | None:
    """The terms that differ from order to order; None where one is no sum, product or choice."""
    found: set[Any] = set()
    for t in walk(*c.bodies):
        if isinstance(t, Arg):
            if t.side in "ab" and rounded[t.position]:
                found.add(t)
            continue
        unsure = [x in found for x in children(t)]
        match t:
            case Apply(op, _) if op.name in ("add", "mul") and element(t.type).is_float:  # type: ignore[union-attr]
                found.add(t)
            case Apply(op, _) if op.name == "select" and not unsure[0]:
                found |= {t} if any(unsure) else set()
            case Apply(op, _) if not any(unsure) and (
                not element(t.type).is_float or op.name in CHOOSING  # type: ignore[union-attr]
            ):
                pass
            case Const() | Cast() if not any(unsure):
                pass
            case _ if children(t) or not isinstance(t, Const):
                return None
    return found


@dataclass(frozen=True)
class Size:
    """Of a rounded component: the polynomial of magnitudes, of magnitudes with what the members may be off, and of
    magnitudes that are 1 or more; all f64."""

    plain: Array
    wide: Array
    most: Array

    def of(self, f: Any) -> Size:
        return Size(f(self.plain), f(self.wide), f(self.most))


def _size(x: Any) -> Size:
    """That of an exact operand of a sum or a product."""
    if isinstance(x, Size):
        return x
    size = np.abs(widen(x).astype(np.float64))
    return Size(size, size, np.maximum(size, 1.0))


def combined(
    c: Combine, left: Sequence[Any], right: Sequence[Any], used: Mapping[Arg, Array], found: set[Any]
) -> list[Any]:
    """The bodies on two summaries: an array for a component that is exact, a `Size` for one that is not."""
    known: dict[Any, Any] = {}
    for t in walk(*c.bodies):
        below = [known[x] for x in children(t)]
        match t:
            case Arg():
                known[t] = used[t] if t.side == "c" else (left if t.side == "a" else right)[t.position]
            case Const(value, d):
                known[t] = np.full((), value, numerics.storage(d))
            case Apply(op, _) if t in found:
                if op.name == "select":
                    x, y = map(_size, below[1:])
                    where = [np.where(below[0], getattr(x, n), getattr(y, n)) for n in ("plain", "wide", "most")]
                    known[t] = Size(*where)
                else:
                    x, y = map(_size, below)
                    join = np.add if op.name == "add" else np.multiply
                    known[t] = Size(join(x.plain, y.plain), join(x.wide, y.wide), join(x.most, y.most))
            case Apply(op, args):
                known[t] = numerics.apply(op, *below, dtype=element(args[-1].type))  # type: ignore[arg-type]
            case Cast(value, d, mode):
                convert = {"wrap": numerics.cast, "saturate": numerics.saturate_cast, "bits": numerics.bitcast}[mode]
                known[t] = convert(below[0], d, element(value.type))  # type: ignore[arg-type]
    return [known[b] for b in c.bodies]


def prefixes(
    c: Combine, members: Sequence[Approx], own: Sequence[Array], used: Mapping[Arg, Array], last: bool
) -> list[Array] | None:
    """How far each component of the prefixes along the first dimension may be off, in the order of the members; of all
    members alone if that is asked for.  None where nothing is known.

    members:  what the members may be, of one shape
    own:      the members as they are
    used:     what the combine uses besides its sides
    """
    form, n = form_of(c), len(own[0])
    if form is None or not n:
        return None
    found = _kinds(c, form.rounded) or set()
    for rounded, x, a in zip(form.rounded, members, own, strict=True):
        floating = a.dtype.kind not in "biu"
        if not rounded and np.any(x.error) or floating and not rounded and form.compares and np.isnan(widen(a)).any():
            return None
        if np.any(np.isinf(x.error)) or rounded and form.multiplies and not np.isfinite(x.value).all():
            return None
    start: list[Any] = []
    for rounded, x, a in zip(form.rounded, members, own, strict=True):
        size = np.where(np.isfinite(x.value), np.abs(x.value), 0.0)
        start.append(Size(size, size + x.error, np.maximum(size + x.error, 1.0)) if rounded else a)
    lines = _totals(c, start, used, found) if last else _running(c, start, used, found)
    whole = all(bool((np.rint(x.value) == x.value).all()) and not np.any(x.error) for x in members)
    count = np.array(n) if last else np.arange(1, n + 1).reshape(-1, *[1] * (own[0].ndim - 1))
    return [
        _error(line, FORMATS[d.name], count, form, whole) if isinstance(line, Size) else np.zeros(line.shape)
        for line, d in zip(lines, c.dtypes, strict=True)
    ]


def in_any_order(t: Any, v: TensorReduce | TensorScan, s: Scope, result: Any) -> list[tuple[Array, Approx]] | None:
    """The components of a reduction or a scan, each with what it may be in any order of combining; None if nothing is
    known of that, or more by another rule.

    t:  the evaluator of the values, which holds what arrays may be
    """
    name, scan = builtin_name(v.combine), isinstance(v, TensorScan)
    if name in ("sum", "max") and not scan or not any(d.is_float for d in v.combine.dtypes):
        return None
    if any(t.doubtful(t.value(o, s)) for o in v.operands):
        return None
    rank, axis = max(len(shape_of(x)) for x in v.values), s.depth + v.dimension
    arrays = [t.aligned(x, rank, s) for x in v.values]
    known = [_known(t, x, a, s) for x, a in zip(v.values, arrays, strict=True)]
    used = t.operands(v, s, rank)
    own, values, errors = (
        in_lines(a, used, axis) for a in (arrays, [x.value for x in known], [x.error for x in known])
    )
    reverse, exclusive, kept = (getattr(v, n, False) for n in ("reverse", "exclusive", "keepdims"))
    if reverse:
        own, values, errors = (tuple(a[::-1] for a in lines) for lines in (own, values, errors))
    members = [Approx(x, e, k.format) for x, e, k in zip(values, errors, known, strict=True)]
    found: list[Array] | None = None
    if name in ("max", "min"):
        largest = np.maximum.accumulate(members[0].error, axis=0)
        found = None if not len(largest) else [largest if scan else largest[-1]]
    else:
        found = prefixes(v.combine, members, own, used, not scan)
    if found is None:
        return None
    made = []
    for x, error in zip(result if isinstance(result, tuple) else (result,), found, strict=True):
        if exclusive:
            error = np.concatenate((np.zeros_like(error[:1]), error[:-1]))
        if scan:
            error = np.moveaxis(error[::-1] if reverse else error, 0, axis)
        elif kept:
            error = np.expand_dims(error, axis)
        form = FORMATS.get(element_type(x), FORMATS["f64"])
        made.append((x, Approx(np.asarray(widen(x), np.float64), np.broadcast_to(error, x.shape), form)))
    return made


def _known(t: Any, v: Any, array: Array, s: Scope) -> Approx:
    """What a value may be, in as many dimensions as `array`, the same value beside others."""
    own = t.value(v, s)
    x: Approx = t.of(own, element(v.type))
    shape = (*own.shape[: s.depth], *[1] * (array.ndim - own.ndim), *own.shape[s.depth :])
    value, error = (np.broadcast_to(a, own.shape).reshape(shape) for a in (x.value, x.error))
    return Approx(value, error, x.format)


def _error(size: Size, f: Any, count: Array, form: Form, whole: bool) -> Array:
    """From one order to any other: each is so far from what no rounding would give."""
    roundings = np.where(count > 1, (count + 2) * form.roundings, 0)
    growth = np.expm1(roundings * f.unit * (2 if f.precision == 53 else 1))
    with np.errstate(all="ignore"):
        error = 2 * times(growth, size.wide) + (size.wide - size.plain)
        if form.multiplies:
            error = error + 2 * roundings * f.smallest * size.most
        if whole:
            error = np.where(size.most <= 2.0**f.precision, 0.0, error)
        return np.where(size.most * (1 + growth) <= f.largest, error, np.where(count > 1, np.inf, error))


def _each(x: Any, f: Any) -> Any:
    return x.of(f) if isinstance(x, Size) else f(x)


def _totals(c: Combine, lines: list[Any], used: Mapping[Arg, Array], found: set[Any]) -> list[Any]:
    """Neighbours combined until one is left."""
    while (n := _length(lines)) > 1:
        even = n - n % 2
        left, right, rest = (_taken(lines, part) for part in (slice(0, even, 2), slice(1, even, 2), slice(even, n)))
        pairs = _shaped(combined(c, left, right, used, found), lines, even // 2)
        lines = [_joined(p, r) for p, r in zip(pairs, rest, strict=True)]
    return _taken(lines, 0)


def _running(c: Combine, lines: list[Any], used: Mapping[Arg, Array], found: set[Any]) -> list[Any]:
    """Every prefix."""
    made = [_taken(lines, slice(0, 1))]
    for i in range(1, _length(lines)):
        member = _taken(lines, slice(i, i + 1))
        made.append(_shaped(combined(c, made[-1], member, used, found), lines, 1))
    return [_joined(*parts) for parts in zip(*made, strict=True)]


def _taken(lines: list[Any], part: Any) -> list[Any]:
    return [_each(x, itemgetter(part)) for x in lines]


def _length(lines: list[Any]) -> int:
    return len(lines[0].plain if isinstance(lines[0], Size) else lines[0])


def _shaped(parts: list[Any], lines: list[Any], n: int) -> list[Any]:
    """The parts in the shapes of the lines, with so many in front."""
    shapes = [(n, *(x.plain if isinstance(x, Size) else x).shape[1:]) for x in lines]
    return [_each(p, lambda a, s=s: np.broadcast_to(a, s)) for p, s in zip(parts, shapes, strict=True)]


def _joined(*parts: Any) -> Any:
    if isinstance(parts[0], Size):
        names = ("plain", "wide", "most")
        return Size(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))
    return np.concatenate(parts)
