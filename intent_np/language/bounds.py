"""A small prover for index inequalities: enough to see that an access stays inside its resource.

A value is read as a polynomial over atoms (extents, loop members, quotients, …).  To show p >= 0, replace one atom at
a time by a bound of it, always in the direction that makes p smaller, until every coefficient is non-negative and
every atom is known to be.  Integers are exact here: `index` arithmetic of a legal program does not wrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent_np.terms.dtypes import DType, bool_
from intent_np.terms.index import Apply, Cast, Const, Extent, Value, is_const
from intent_np.terms.logical import LoopVar

Monomial = tuple[Value, ...]
Polynomial = dict[Monomial, int]
FUEL, SHORT = 12, 4  # replacements along one path, and in a side question; real kernels need two or three


def nonnegative(v: Value, facts: Sequence[Value] = ()) -> bool:
    """Whether v >= 0 is provable."""
    return provable(polynomial(v), facts)


def at_most(a: Value, b: Value, facts: Sequence[Value] = ()) -> bool:
    """Whether a <= b is provable."""
    return provable(minus(polynomial(b), polynomial(a)), facts)


def below(a: Value, b: Value, facts: Sequence[Value] = ()) -> bool:
    """Whether a < b is provable."""
    return provable(plus(minus(polynomial(b), polynomial(a)), {(): -1}), facts)


def provable(p: Polynomial, facts: Sequence[Value] = ()) -> bool:
    """Whether the polynomial is provably not negative."""
    known = [q for f in facts for q in _fact(f)]
    return _search(p, known, FUEL, set())


# ---- polynomials


def polynomial(v: Value) -> Polynomial:
    """`v` over its atoms."""
    if isinstance(v, Const):
        return {(): v.value} if v.value else {}  # type: ignore[dict-item]
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
    return {(v,): 1}


def plus(a: Polynomial, b: Polynomial, factor: int = 1) -> Polynomial:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, 0) + factor * c
    return {m: c for m, c in total.items() if c}


def minus(a: Polynomial, b: Polynomial) -> Polynomial:
    return plus(a, b, -1)


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(sorted((*m, *n), key=lambda t: t.digest))
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c}


# ---- the search


def _search(p: Polynomial, known: list[Polynomial], fuel: int, tried: set[frozenset[tuple[Monomial, int]]]) -> bool:
    if all(c >= 0 and all(_is_nonnegative(a, known) for a in m) for m, c in p.items()):
        return True
    key = frozenset(p.items())
    if not fuel or key in tried:
        return False
    tried.add(key)
    if (cases := _cases(p)) is not None:
        return all(_search(q, known, fuel - 1, tried) for q in cases)
    return any(_search(q, known, fuel - 1, tried) for q in _smaller(p, known))


def _cases(p: Polynomial) -> list[Polynomial] | None:
    """p with a minimum (of positive sign), a maximum (of negative sign) or a selection as each of what it may be."""
    for m, c in p.items():
        for i, atom in enumerate(m):
            if isinstance(atom, Apply) and atom.op.name in ("select", "minimum" if c > 0 else "maximum"):
                rest = {m[:i] + m[i + 1 :]: c}
                return [plus(plus(p, {m: -c}), times(rest, polynomial(x))) for x in atom.args[-2:]]
    return None


def _smaller(p: Polynomial, known: list[Polynomial]) -> Iterator[Polynomial]:
    """Polynomials that are at most p: an atom replaced by a bound, or a known non-negative taken away."""
    for m, c in p.items():
        for i, atom in enumerate(m):
            rest = m[:i] + m[i + 1 :]
            if all(_is_nonnegative(a, known) for a in rest):
                for bound in _lower(atom, known) if c > 0 else _upper(atom, known):
                    yield plus(plus(p, {m: -c}), times({rest: c}, bound))
    for q in known:
        if any(c * p.get(m, 0) > 0 for m, c in q.items() if m or c < 0):
            yield minus(p, q)


def _is_nonnegative(a: Value, known: list[Polynomial]) -> bool:
    if isinstance(a, Extent):
        return True
    if isinstance(a, LoopVar):
        return is_const(a.domain.lo, 0) or _search(polynomial(a.domain.lo), known, SHORT, set())
    if isinstance(a, Cast):
        d = a.value.type
        return isinstance(d, DType) and (d is bool_ or d.kind == "uint" and d.bits < 64)
    return any(_search(b, known, SHORT, set()) for b in _lower(a, known))


def _lower(a: Value, known: list[Polynomial]) -> Iterator[Polynomial]:
    """Polynomials that are at most the atom `a`."""
    if isinstance(a, Extent):
        yield {}
    elif isinstance(a, LoopVar):
        yield polynomial(a.domain.lo)
    elif isinstance(a, Apply):
        match a.op.name, a.args:
            case "maximum", (x, y):
                yield polynomial(x)
                yield polynomial(y)
            case (("floordiv" | "ceil_div"), (x, y)):
                if _search(polynomial(x), known, SHORT, set()) and _search(polynomial(y), known, SHORT, set()):
                    yield {}
            case "mod", (_, y):
                if _search(polynomial(y), known, SHORT, set()):
                    yield {}


def _upper(a: Value, known: list[Polynomial]) -> Iterator[Polynomial]:
    """Polynomials that are at least the atom `a`."""
    if isinstance(a, Extent) and a.bound is not None:
        yield {(): a.bound}
    elif isinstance(a, LoopVar):
        yield plus(polynomial(a.domain.hi), {(): -1})
    elif isinstance(a, Apply):
        match a.op.name, a.args:
            case "minimum", (x, y):
                yield polynomial(x)
                yield polynomial(y)
            case "mod", (_, y):
                if _search(polynomial(y), known, SHORT, set()):
                    yield plus(polynomial(y), {(): -1})
            case "floordiv", (x, y):
                if (divided := _quotient(x, y, known)) is not None:
                    yield divided
                if all(_search(polynomial(z), known, SHORT, set()) for z in (x, y)):
                    yield polynomial(x)


def _quotient(x: Value, y: Value, known: list[Polynomial]) -> Polynomial | None:
    """A bound of x // y: with x <= d * q + r and y = d >= 1, it is at most q + r // d (r a constant)."""
    d = polynomial(y)
    if len(d) != 1:
        return None
    ((divisor, scale),) = d.items()
    if scale < 1 or any(not isinstance(a, Extent) for a in divisor):
        return None
    tops = [polynomial(x), *_tops(polynomial(x), known)]
    for top in tops:
        rest = top.get((), 0)
        quotient: Polynomial | None = {}
        for m, c in top.items():
            if not m:
                continue
            left = list(m)
            for a in divisor:
                if a not in left:
                    break
                left.remove(a)
            else:
                if c % scale == 0:
                    assert quotient is not None
                    quotient[tuple(left)] = c // scale
                    continue
            quotient = None
            break
        if quotient is not None:
            # by a symbolic divisor >= 1, r // d is -1 where r < 0, and r at most where r >= 0
            return plus(quotient, {(): rest // scale if not divisor else -1 if rest < 0 else rest})
    return None


def _tops(p: Polynomial, known: list[Polynomial]) -> Iterator[Polynomial]:
    """Upper bounds of p: each atom of a positive term replaced by an upper bound."""
    for m, c in p.items():
        for i, atom in enumerate(m):
            rest = m[:i] + m[i + 1 :]
            if c > 0 and all(_is_nonnegative(a, known) for a in rest):
                for bound in _upper(atom, known):
                    yield plus(plus(p, {m: -c}), times({rest: c}, bound))


def _fact(f: Value) -> Iterator[Polynomial]:
    """What a predicate that holds says, as polynomials that are non-negative."""
    if not isinstance(f, Apply):
        return
    match f.op.name, f.args:
        case "and", parts:
            for part in parts:
                yield from _fact(part)
        case "lt", (a, b):
            yield plus(minus(polynomial(b), polynomial(a)), {(): -1})
        case "le", (a, b):
            yield minus(polynomial(b), polynomial(a))
        case "eq", (a, b):
            yield minus(polynomial(b), polynomial(a))
            yield minus(polynomial(a), polynomial(b))
        case "not", (g,):
            if isinstance(g, Apply) and g.op.name == "lt":
                yield minus(polynomial(g.args[0]), polynomial(g.args[1]))
            elif isinstance(g, Apply) and g.op.name == "le":
                yield plus(minus(polynomial(g.args[0]), polynomial(g.args[1])), {(): -1})
