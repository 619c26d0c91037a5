"""What rules about scalars compute and ask, by name: element types, constants, and sums of index terms."""

from __future__ import annotations

import math
from typing import Any

from ..terms.dtypes import DType, bool_
from ..terms.index import Const, Value, add, apply, const
from .affine import expanded, from_affine

# ---- element types


PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
"""Bits of a significand: integers up to 2 to this power are exact."""
WIDER = {
    "f16": ("f32", "f64"), "bf16": ("f32", "f64"), "f32": ("f64",),
    "f8e4m3fn": ("f16", "bf16", "f32", "f64"), "f8e5m2": ("f16", "bf16", "f32", "f64"),
}  # fmt: skip
"""The types that have every value of a float type, infinities and signed zeros included."""


def has_all(d: DType, middle: DType) -> bool:
    """Whether `middle` has every value of `d`, so that a conversion to it loses nothing."""
    if d is middle:
        return True
    if middle is bool_:
        return False
    if d is bool_ or d.is_integer:
        low, high = (0, 1) if d is bool_ else d.range
        if middle.is_integer:
            return middle.range[0] <= low and high <= middle.range[1]
        return max(-low, high) <= 2 ** PRECISION.get(middle.name, 0)
    return middle.name in WIDER.get(d.name, ())


def exact(x: Value, d: DType) -> bool:
    """Whether `d` has every value that the type of `x` has."""
    return has_all(x.type, d)  # type: ignore[arg-type]


def grows(x: Value, d: DType) -> bool:
    """Whether `d` has every integer of the type of `x`, and more."""
    return integral(x) and d.is_integer and d is not x.type and exact(x, d)


def truncates(x: Value, d: DType, e: DType) -> bool:
    """Whether integers become fewer bits of themselves, through `d` and then `e`."""
    own: DType = x.type  # type: ignore[assignment]
    return own.is_integer and d.is_integer and e.is_integer and e.bits <= d.bits


def alike(x: Value, y: Value) -> bool:
    """Whether two values are of one type."""
    return x.type is y.type


def is_of(x: Value, d: DType) -> bool:
    """Whether `d` is the type of `x`."""
    return x.type is d


def integral(x: Value) -> bool:
    """Whether a value is an integer."""
    return x.type.is_integer  # type: ignore[union-attr]


def truth(x: Value) -> bool:
    """Whether a value is true or false."""
    return x.type is bool_


def fits_whole(x: Value, d: DType) -> bool:
    """Whether every value of the type of `x` is one of `d`, and none is infinite."""
    own: DType = x.type  # type: ignore[assignment]
    return exact(x, d) and not (own.is_float and d.is_float)


def unsigned(x: Value) -> bool:
    """Whether a value is of an unsigned type."""
    return x.type.kind == "uint"  # type: ignore[union-attr]


def whole(d: DType) -> bool:
    """Whether `d` is a type of integers."""
    return d.is_integer


# ---- constants


def is_power(c: Const) -> bool:
    """Whether dividing by a float constant is multiplying by another: a power of two whose reciprocal is one."""
    value = float(c.value)
    if not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return False
    from ..numerics.literals import FORMATS

    form = FORMATS[c.dtype.name]
    return 2.0 ** (form.least + form.precision - 1) <= abs(1 / value) <= form.largest


def reciprocal(c: Const) -> Const:
    """1 / c."""
    return const(1 / float(c.value), c.dtype)


# ---- sums of index terms


def quotient(x: Value, c: Const) -> Value | None:
    """x // c where some terms of the sum `x` are multiples of `c`: those divided, and the quotient of the rest."""
    parts = _split(x, c)
    return None if parts is None else _plus(parts[0], None if not parts[1] else apply("floordiv", _sum(parts[1]), c))


def rounded_up(x: Value, c: Const) -> Value | None:
    """ceil_div(x, c) where some terms of the sum `x` are multiples of `c`."""
    parts = _split(x, c)
    return None if parts is None else _plus(parts[0], None if not parts[1] else apply("ceil_div", _sum(parts[1]), c))


def remainder(x: Value, c: Const) -> Value | None:
    """x % c where some terms of the sum `x` are multiples of `c`: the remainder of the rest."""
    parts = _split(x, c)
    return None if parts is None else _node(apply("mod", _sum(parts[1]), c))


def _split(x: Value, c: Const) -> tuple[dict[Any, int], dict[Any, int]] | None:
    """The terms of a sum whose coefficients `c` divides, over c, and the others; None where there are none."""
    by = int(c.value)
    if by <= 1:
        return None
    form, complete = expanded(x)
    whole = {k: n // by for k, n in form.items() if n % by == 0}
    rest = {k: n for k, n in form.items() if n % by}
    if None in rest and abs(rest[None]) > by and whole:  # of a constant only the remainder stays
        whole[None], rest[None] = rest[None] // by, rest[None] % by
    if not complete or not whole:
        return None
    return whole, rest


def _sum(form: dict[Any, int]) -> Value:
    return from_affine(form)


def _plus(form: dict[Any, int], rest: Value | None) -> Value:
    total = _sum(form)
    return _node(total if rest is None else add(total, _node(rest)) if form else rest)


def _node(t: Value) -> Value:
    from .simplify import node

    return node(t)  # type: ignore[no-any-return]


FUNCTIONS = {name: f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__}
"""By name, for the matchers."""
