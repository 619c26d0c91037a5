"""Selection: what is chosen among equal things, twice, or by what says it already."""

from typing import Any

from .pattern import Expr, call, elements, floats, integers, literal, predicates, rule, values
from .pattern import cast as _cast

p, q = predicates("p q")
a, b, e = values("a b e")
m, n = integers("m n")
f, g = floats("f g")
c, d = literal("c d")
result = elements("result")


def _select(*parts: Any) -> Expr:
    return call("select", *parts)


RULES = (
    rule("select-true", _select(True, a, b), a),
    rule("select-false", _select(False, a, b), b),
    rule("select-same", _select(p, a, a), a),
    rule("select-not", _select(call("not", p), a, b), _select(p, b, a)),
    rule("select-nested", _select(p, _select(q, a, b), b), _select(call("and", p, q), a, b)),
    rule("select-either", _select(p, a, _select(q, a, b)), _select(call("or", p, q), a, b)),
    rule("select-twice", _select(p, _select(p, a, b), e), _select(p, a, e)),
    rule("select-otherwise", _select(p, a, _select(p, b, e)), _select(p, a, e)),
    rule("select-itself-or", _select(p, p, q), call("or", p, q)),
    rule("select-itself-and", _select(p, q, p), call("and", p, q)),
    rule("select-true-or", _select(p, True, q), call("or", p, q)),
    rule("select-and-false", _select(p, q, False), call("and", p, q)),
    rule("select-false-and", _select(p, False, q), call("and", call("not", p), q)),
    rule("select-or-true", _select(p, q, True), call("or", call("not", p), q)),
    rule("select-equal", _select(m.equals(n), m, n), n, why="equal integers are one"),
    rule("select-unequal", _select(m.differs(n), m, n), m, why="equal integers are one"),
    rule("select-lesser", _select(m < n, m, n), call("minimum", m, n), why="integers are totally ordered"),
    rule("select-greater", _select(m < n, n, m), call("maximum", m, n), why="integers are totally ordered"),
    rule("select-at-most", _select(m <= n, m, n), call("minimum", m, n), why="integers are totally ordered"),
    rule("select-at-least", _select(m <= n, n, m), call("maximum", m, n), why="integers are totally ordered"),
    rule("select-abs", _select(m < 0, call("neg", m), m), call("abs", m), why="the absolute value, wrapped or not"),
    rule("select-is-first", _select(p, c, d).equals(c), p, when=[c.differs(d)], why="c and d differ"),
    rule("select-is-second", _select(p, c, d).equals(d), call("not", p), when=[c.differs(d)], why="c and d differ"),
    rule("select-is-not-first", _select(p, c, d).differs(c), call("not", p), when=[c.differs(d)], why="c and d differ"),
    rule("select-is-not-second", _select(p, c, d).differs(d), p, when=[c.differs(d)], why="c and d differ"),
    rule("select-of-bits", _select(p, 1, 0), _cast(p, result), why="true is 1, false 0"),
)

TEMPTING = (
    rule("select-equal-floats", _select(f.equals(g), f, g), g, why="zeros of either sign are equal"),
    rule("select-of-select", _select(p, _select(q, a, b), b), _select(q, a, b), why="p may fail"),
    rule("select-maximum", _select(f < g, g, f), call("maximum", f, g), why="NaN, and zeros of either sign"),
    rule("select-minimum", _select(f < g, f, g), call("minimum", f, g), why="NaN, and zeros of either sign"),
    rule("select-abs-floats", _select(f < 0.0, call("neg", f), f), call("abs", f), why="-0 is not below 0"),
    rule("select-product", _select(p, f, 0.0), f * _select(p, 1.0, 0.0), why="NaN and the infinities times 0"),
    rule("select-other-side", _select(p, a, _select(p, b, e)), _select(p, a, b), why="there p fails"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
