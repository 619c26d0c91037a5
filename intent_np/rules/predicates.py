"""Predicates and selection."""

from .pattern import call, floats, hi, indices, integers, literal, lo, predicates, rule, values

p, q = predicates("p q")
a, b, e = values("a b e")
x, y = indices("x y")
m, n = integers("m n")
f, g = floats("f g")
c = literal("c")

RULES = (
    rule("not-not", call("not", call("not", p)), p),
    rule("not-lt", call("not", m < n), n <= m, why="integers are totally ordered; floats are not (NaN)"),
    rule("not-le", call("not", m <= n), n < m, why="integers are totally ordered; floats are not (NaN)"),
    rule("not-eq", call("not", call("eq", a, b)), call("ne", a, b), why="by definition, NaN included"),
    rule("not-ne", call("not", call("ne", a, b)), call("eq", a, b), why="by definition, NaN included"),
    rule("lt-irreflexive", m < m, False),
    rule("le-reflexive", m <= m, True),
    rule("eq-reflexive", m.equals(m), True, why="integers equal themselves; floats may be NaN"),
    rule("lt-bounded", x < c, True, when=[hi(x) < c]),
    rule("lt-impossible", x < c, False, when=[lo(x) >= c]),
    rule("le-bounded", x <= c, True, when=[hi(x) <= c]),
    rule("le-impossible", x <= c, False, when=[lo(x) > c]),
    rule("above-bounded", call("le", c, x), True, when=[lo(x) >= c]),
    rule("select-true", call("select", True, a, b), a),
    rule("select-false", call("select", False, a, b), b),
    rule("select-same", call("select", p, a, a), a),
    rule("select-not", call("select", call("not", p), a, b), call("select", p, b, a)),
    rule("select-bool", call("select", p, True, False), p),
    rule("select-nested", call("select", p, call("select", q, a, b), b), call("select", call("and", p, q), a, b)),
    rule("select-twice", call("select", p, call("select", p, a, b), e), call("select", p, a, e)),
    rule("above-impossible", call("le", c, x), False, when=[hi(x) < c]),
    rule("over-bounded", call("lt", c, x), True, when=[lo(x) > c]),
    rule("over-impossible", call("lt", c, x), False, when=[hi(x) <= c]),
    rule("eq-below", x.equals(c), False, when=[hi(x) < c]),
    rule("eq-above", x.equals(c), False, when=[lo(x) > c]),
    rule("ne-below", x.differs(c), True, when=[hi(x) < c]),
    rule("ne-above", x.differs(c), True, when=[lo(x) > c]),
    rule("select-bool-not", call("select", p, False, True), call("not", p)),
    rule("select-otherwise", call("select", p, a, call("select", p, b, e)), call("select", p, a, e)),
)

TEMPTING = (
    rule("not-lt-of-floats", call("not", f < g), g <= f, why="NaN is not below and not above"),
    rule("not-le-of-floats", call("not", f <= g), g < f, why="NaN is not below and not above"),
    rule("eq-reflexive-of-floats", f.equals(f), True, why="NaN is not equal to itself"),
    rule("select-equal", call("select", f.equals(g), f, g), g, why="zeros of either sign are equal"),
    rule("select-of-select", call("select", p, call("select", q, a, b), b), call("select", q, a, b), why="p may fail"),
    rule("lt-bounded-loosely", x < c, True, when=[hi(x) <= c], why="x may be c"),
    rule("le-impossible-loosely", x <= c, False, when=[lo(x) >= c], why="x may be c"),
    rule("eq-of-bounds", x.equals(c), True, when=[lo(x) <= c, hi(x) >= c], why="x may be anything between"),
    rule("select-maximum", call("select", f < g, g, f), call("maximum", f, g), why="NaN, and zeros of either sign"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
