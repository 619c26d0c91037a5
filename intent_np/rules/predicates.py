"""Predicates: comparisons that bounds decide, and conjunctions and disjunctions that say something twice.

A rule about a part of a conjunction or disjunction leaves its other parts as they are.
"""

from typing import Any

from .pattern import Expr, call, floats, hi, indices, integers, literal, lo, predicates, proved, rule, values

p, q = predicates("p q")
a, b = values("a b")
x, y, z = indices("x y z")
m, n = integers("m n")
f, g = floats("f g")
c, d = literal("c d")


def _not(e: Any) -> Expr:
    return call("not", e)


def _and(*parts: Any) -> Expr:
    return call("and", *parts)


def _or(*parts: Any) -> Expr:
    return call("or", *parts)


RULES = (
    rule("not-not", _not(_not(p)), p),
    rule("not-lt", _not(m < n), n <= m, why="integers are totally ordered; floats are not (NaN)"),
    rule("not-le", _not(m <= n), n < m, why="integers are totally ordered; floats are not (NaN)"),
    rule("not-eq", _not(call("eq", a, b)), call("ne", a, b), why="by definition, NaN included"),
    rule("not-ne", _not(call("ne", a, b)), call("eq", a, b), why="by definition, NaN included"),
    rule("lt-irreflexive", m < m, False),
    rule("le-reflexive", m <= m, True),
    rule("eq-reflexive", m.equals(m), True, why="integers equal themselves; floats may be NaN"),
    rule("ne-irreflexive", m.differs(m), False, why="integers equal themselves; floats may be NaN"),
    rule("lt-holds", x < y, True, when=[proved(x < y)]),
    rule("lt-fails", x < y, False, when=[proved(y <= x)]),
    rule("le-holds", x <= y, True, when=[proved(x <= y)]),
    rule("le-fails", x <= y, False, when=[proved(y < x)]),
    rule("eq-fails", x.equals(y), False, when=[proved(x < y)]),
    rule("ne-holds", x.differs(y), True, when=[proved(x < y)]),
    rule("and-contradicts", _and(p, _not(p)), False),
    rule("or-excludes", _or(p, _not(p)), True),
    rule("and-absorbs", _and(p, _or(p, q)), p),
    rule("or-absorbs", _or(p, _and(p, q)), p),
    rule("and-of-nots", _and(_not(p), _not(q)), _not(_or(p, q)), why="De Morgan"),
    rule("or-of-nots", _or(_not(p), _not(q)), _not(_and(p, q)), why="De Morgan"),
    rule("below-both", _and(x < y, x < z), x < y, when=[proved(y <= z)], why="the lower bound implies the other"),
    rule("above-both", _and(y < x, z < x), y < x, when=[proved(z <= y)], why="the higher bound implies the other"),
    rule("at-most-both", _and(x <= y, x <= z), x <= y, when=[proved(y <= z)], why="the lower bound implies the other"),
    rule(
        "at-least-both", _and(y <= x, z <= x), y <= x, when=[proved(z <= y)], why="the higher bound implies the other"
    ),
    rule("below-and-at-most", _and(x < y, x <= z), x < y, when=[proved(y <= z)], why="x < y <= z"),
    rule("below-either", _or(x < y, x < z), x < z, when=[proved(y <= z)], why="the lower bound implies the other"),
    rule("nothing-between", _and(x < y, z <= x), False, when=[proved(y <= z)], why="y <= z <= x"),
    rule("everything-between", _or(x < y, z <= x), True, when=[proved(z <= y)], why="x is below y, or not below z"),
    rule("equal-to-two", _and(m.equals(c), m.equals(d)), False, when=[c.differs(d)], why="c and d differ"),
)

TEMPTING = (
    rule("not-lt-of-floats", _not(f < g), g <= f, why="NaN is not below and not above"),
    rule("not-le-of-floats", _not(f <= g), g < f, why="NaN is not below and not above"),
    rule("eq-reflexive-of-floats", f.equals(f), True, why="NaN is not equal to itself"),
    rule("lt-bounded-loosely", x < c, True, when=[hi(x) <= c], why="x may be c"),
    rule("le-impossible-loosely", x <= c, False, when=[lo(x) >= c], why="x may be c"),
    rule("eq-of-bounds", x.equals(c), True, when=[lo(x) <= c, hi(x) >= c], why="x may be anything between"),
    rule("below-the-other", _and(x < y, x < z), x < z, when=[proved(y <= z)], why="x may be y"),
    rule("everything-between-floats", _or(f < g, g <= f), True, why="NaN is not below and not above"),
    rule("nothing-between-loosely", _and(x <= y, z <= x), False, when=[proved(y <= z)], why="x = y = z"),
    rule("de-morgan-of-one", _not(_and(p, q)), _and(_not(p), _not(q)), why="one of them may hold"),
    rule("lt-through-wrap", m + n < m, n < 0, why="the sum wraps"),
    rule("lt-shifted-integers", m + c < n + c, m < n, why="the sums wrap"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
