"""Integers as polynomials over atoms: extents, loop members, quotients, whatever has no sum or product at its root.

Integers are exact here: `index` arithmetic of a legal program does not wrap.
"""

from __future__ import annotations

from collections.abc import Mapping

from intent_np.terms.core import once
from intent_np.terms.dtypes import DType, i64, index
from intent_np.terms.index import Apply, Cast, Const, Value, add, const, mul

Monomial = tuple[Value, ...]
Polynomial = Mapping[Monomial, int]


@once
def polynomial(v: Value) -> Polynomial:
    """`v` over its atoms."""
    if isinstance(v, Const):
        return {(): v.value} if v.value else {}  # type: ignore[dict-item]
    v = _widened(v)
    if isinstance(v, Apply):
        match v.op.name, v.args:
            case "add", (a, b):
                return plus(polynomial(a), polynomial(b))
            case "sub", (a, b):
                return minus(polynomial(a), polynomial(b))
            case "neg", (a,):
                return minus({}, polynomial(a))
            case "mul", (a, b):
                return times(polynomial(a), polynomial(b))
            case (("floordiv" | "ceil_div"), (a, Const(by))) if isinstance(by, int) and by > 0:
                p = polynomial(a)
                if all(c % by == 0 for c in p.values()):  # nothing is rounded
                    return {m: c // by for m, c in p.items()}
    return {(v,): 1}


def from_polynomial(p: Polynomial) -> Value:
    """The sum of products that a polynomial stands for."""
    total: Value = const(0)
    for m, c in p.items():
        product: Value = const(c)
        for atom in m:
            product = mul(product, atom)
        total = add(total, product)
    return total


def _widened(v: Value) -> Value:
    """An integer that is cast to an index: operations that never leave their dtype are those of the index."""
    if isinstance(v, Cast) and v.dtype is index and v.mode == "wrap" and is_exact(v.value.type):
        inner = v.value
        if isinstance(inner, Const):
            return const(int(inner.value))
        if isinstance(inner, Cast) and inner.value.type is index and inner.dtype is i64:
            return _widened(inner.value)
        if isinstance(inner, Apply) and inner.op.name in ("minimum", "maximum", "select", "mod", "floordiv", "bit_and"):
            kept = inner.args[:-2]
            return Apply(inner.op, (*kept, *(_widened(Cast(x, index)) for x in inner.args[-2:])))
    return v


def plus(a: Polynomial, b: Polynomial, factor: int = 1) -> Polynomial:
    """a + factor * b."""
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, 0) + factor * c
    return {m: c for m, c in total.items() if c}


def minus(a: Polynomial, b: Polynomial) -> Polynomial:
    """a - b."""
    return plus(a, b, -1)


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """a * b."""
    total: dict[Monomial, int] = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(sorted((*m, *n), key=lambda t: t.digest))
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c}


def is_exact(d: object) -> bool:
    """Whether a value of this dtype is an index of the same value."""
    return isinstance(d, DType) and d.is_integer and (d.is_signed or d.bits < 64)
