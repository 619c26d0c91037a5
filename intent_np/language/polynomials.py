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


def instead(p: Polynomial, m: Monomial, rest: Monomial, x: Polynomial) -> Polynomial:
    """p with `x` in the place of the atom that the term `m` has beside `rest`."""
    total = dict(p)
    c = total.pop(m)
    for n, d in x.items():
        key = tuple(sorted((*rest, *n), key=lambda t: t.digest)) if rest and n else rest or n
        total[key] = total.get(key, 0) + c * d
        if not total[key]:
            del total[key]
    return total


def divided(p: Polynomial, divisor: Monomial, scale: int, up: bool) -> Polynomial | None:
    """q + r // d where p is d * q + r and r a constant; a symbolic d is only known to be 1 or more, and what is given
    is at least (`up`) or at most that."""
    quotient: dict[Monomial, int] = {}
    for m, c in p.items():
        if m:
            left = list(m)
            for a in divisor:
                if a not in left:
                    return None
                left.remove(a)
            if c % scale:
                return None
            quotient[tuple(left)] = c // scale
    rest = p.get((), 0)
    if not divisor:
        return plus(quotient, {(): rest // scale})
    return plus(quotient, {(): (-1 if rest < 0 else rest) if up else min(rest, 0)})


def is_exact(d: object) -> bool:
    """Whether a value of this dtype is an index of the same value."""
    return isinstance(d, DType) and d.is_integer and (d.is_signed or d.bits < 64)
