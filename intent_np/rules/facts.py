"""Facts about index terms that guards may ask for: proved bounds, divisibility, order.  None means unknown.

Every fact holds in every lane, padded ones included, and for every launch of the term's class.
"""

from __future__ import annotations

import math
from typing import Any

from ..terms import blocked, gpu, normal
from ..terms.core import arena
from ..terms.dtypes import DType, index
from ..terms.index import Apply, Cast, Const, Extent, Physical, Stride, Value
from .affine import affine, difference

LARGEST = 2**62  # extents and coordinates stay below this, so that affine reasoning does not wrap


def lower(t: Any) -> int | None:
    """A proved lower bound of an integer value."""
    return interval(t)[0]


def upper(t: Any) -> int | None:
    """A proved upper bound of an integer value."""
    return interval(t)[1]


Interval = tuple[int | None, int | None]


def interval(t: Any) -> Interval:
    """Proved lower and upper bound of an integer value; each term's is computed once in an arena."""
    known = arena().facts
    stack = [t]
    while stack:
        u = stack[-1]
        waiting = [] if u in known else [c for c in _bounded_by(u) if c not in known]
        stack.extend(waiting)
        if not waiting:
            if u not in known:
                known[u] = _interval(u, known)
            stack.pop()
    return known[t]  # type: ignore[no-any-return]


def _bounded_by(t: Any) -> tuple[Any, ...]:
    """What the bounds of a term follow from."""
    if isinstance(t, Apply) and t.type is index:
        return t.args
    if isinstance(t, (normal.Coord, blocked.Base)) and isinstance(axis := getattr(t.axis, "axis", t.axis), normal.Axis):
        return axis.lo, axis.hi
    return ()


def _interval(t: Any, known: dict[Any, Interval]) -> Interval:
    if isinstance(t, Const):
        return (int(t.value), int(t.value)) if not t.dtype.is_float else (None, None)  # type: ignore[call-overload]
    if isinstance(t, Extent):
        return 0, t.bound
    if isinstance(t, Physical):
        return t.value, t.value
    if isinstance(t, gpu.Range):
        return 0, t.size.value - 1
    if isinstance(t, (normal.Coord, blocked.Base)):
        return _coordinate(t.axis, known)
    if isinstance(t, Apply) and t.type is index:
        return _applied(t, [known[a] for a in t.args])
    return None, None


def _coordinate(axis: Any, known: dict[Any, Interval]) -> Interval:
    logical = getattr(axis, "axis", axis)
    if not isinstance(logical, normal.Axis):
        return None, None
    lo, hi = known[logical.lo][0], known[logical.hi][1]
    if isinstance(axis, (normal.Axis, normal.Part, normal.Turn, blocked.Point)) and hi is not None:
        return lo, hi - 1
    return lo, None  # padded lanes pass the end


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _applied(t: Apply, sides: list[Interval]) -> Interval:
    name = t.op.name
    if name == "select":
        (a, b), (c, d) = sides[1], sides[2]
        return (None if a is None or c is None else min(a, c)), (None if b is None or d is None else max(b, d))
    (a, b), (c, d) = (*sides, (None, None))[:2]
    if name == "add":
        return _plus(a, c), _plus(b, d)
    if name == "sub":
        return _plus(a, None if d is None else -d), _plus(b, None if c is None else -c)
    if name == "mul":
        if None not in (a, b, c, d):
            products = [x * y for x in (a, b) for y in (c, d)]  # type: ignore[operator]
            return min(products), max(products)
        return (0 if None not in (a, c) and a >= 0 and c >= 0 else None), None  # type: ignore[operator]
    if name == "minimum":
        least = None if a is None or c is None else min(a, c)
        return least, min((x for x in (b, d) if x is not None), default=None)
    if name == "maximum":
        most = None if b is None or d is None else max(b, d)
        return max((x for x in (a, c) if x is not None), default=None), most
    if name in ("floordiv", "ceil_div") and c is not None and c > 0:
        up = name == "ceil_div"
        low = None if a is None else 0 if a >= 0 else a // c
        high = None if b is None else max(0, -(-b // c) if up else b // c)
        return low, high
    if name == "mod" and c is not None and c > 0:
        return 0, (None if d is None else d - 1)
    return None, None


def nonnegative(t: Any) -> bool:
    """Whether `t` is certainly not negative."""
    low = lower(t)
    return low is not None and low >= 0


def multiple_of(t: Any, n: int, levels: int = 8) -> bool:
    """Whether `t` is certainly a multiple of `n`; looks into so many levels of products and minima."""
    return n == 1 or all(c * _factor(k, n, levels) % n == 0 for k, c in affine(t).items())


def _factor(t: Any, n: int, levels: int) -> int:
    """A divisor of `t`, as good as is known."""
    if t is None:
        return 1
    if isinstance(t, (Extent, Stride)):
        return t.multiple
    if isinstance(t, Physical):
        return t.value
    if isinstance(t, blocked.Base) and hasattr(t.axis, "size") and multiple_of(t.axis.axis.lo, t.axis.size.value):  # type: ignore[attr-defined]
        return int(t.axis.size.value)  # type: ignore[attr-defined]
    if isinstance(t, Apply) and levels and t.op.name == "mul":
        return _factor(t.args[0], n, levels - 1) * _factor(t.args[1], n, levels - 1)
    if isinstance(t, Apply) and levels and t.op.name in ("minimum", "maximum"):
        return n if all(multiple_of(a, n, levels - 1) for a in t.args) else 1
    return 1


def at_most(a: Value, b: Value, gap: int = 0, levels: int = 4) -> bool:
    """Proof of a + gap <= b by affine reasoning and bounds, with x - c < x // c * c <= x, min(x, y) <= x and
    x <= max(x, y); looks into so many levels of minima and maxima."""
    if a is b:
        return gap <= 0
    for side, other, op, need in (
        (a, b, "minimum", any),
        (b, a, "maximum", any),
        (b, a, "minimum", all),
        (a, b, "maximum", all),
    ):
        if levels and isinstance(side, Apply) and side.op.name == op:
            ordered = ((x, other) if side is a else (other, x) for x in side.args)
            if need(at_most(x, y, gap, levels - 1) for x, y in ordered):
                return True
    form = difference(b, a)
    lower_bounds = (_without_quotients(form, added) for added in (False, True))
    return any((least := sum_of_least(f)) is not None and least >= gap for f in lower_bounds)


def _without_quotients(form: Any, added: bool) -> Any:
    """A lower bound of an affine form: what is divided stands for subtracted quotients that are multiplied again, and
    less the greatest remainder for those that are `added`."""
    bound = dict(form)
    for k in form:
        if isinstance(k, Apply) and k.op.name == "floordiv" and isinstance(k.args[1], (Const, Physical)):
            c, by = bound.get(k, 0), int(k.args[1].value)  # type: ignore[call-overload]
            if by > 0 == c % by and (c < 0 or added):
                del bound[k]
                for inner, m in affine(k.args[0]).items():
                    bound[inner] = bound.get(inner, 0) + c // by * m
                if c > 0:
                    bound[None] = bound.get(None, 0) - c // by * (by - 1)
    return bound


def sum_of_least(form: Any) -> int | None:
    """A proved lower bound of an affine form; None where one of its terms is unbounded on that side."""
    total = 0
    for k, c in form.items():
        end: int | None = 1 if k is None or not c else lower(k) if c > 0 else upper(k)
        if end is None:
            return None
        total += c * end
    return total


def less(a: Value, b: Value) -> bool:
    """Proof of a < b."""
    return at_most(a, b, 1)


def is_finite(t: Any) -> bool:
    """`t` is neither NaN nor infinite in any lane, invalid ones included."""
    seen: set[Any] = set()
    stack = [t]
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            below = _finite_with(t)
            if below is None:
                return False
            stack.extend(below)
    return True


def _finite_with(t: Any) -> tuple[Any, ...] | None:
    """The operands whose finiteness makes `t` finite; None where nothing does."""
    if not (isinstance(t.type, DType) and t.type.is_float):
        return ()
    if isinstance(t, Const):
        return () if math.isfinite(t.value) else None
    if isinstance(t, normal.Load):
        return () if t.view.finite and math.isfinite(t.fill) else None  # type: ignore[arg-type]
    if isinstance(t, Cast):
        source: Any = t.value.type
        wide = t.dtype.bits >= 32 and source.is_float and source.bits <= t.dtype.bits
        return (t.value,) if t.mode == "wrap" and wide else None
    if isinstance(t, Apply) and t.op.name == "select":
        return t.args[1:]
    if isinstance(t, Apply) and t.op.name in ("neg", "abs", "maximum", "minimum"):
        return t.args
    return None
