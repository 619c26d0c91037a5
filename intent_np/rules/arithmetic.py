"""Arithmetic that is exact: integers modulo 2^w, floats bit for bit (NaN payloads are not observable)."""

from .pattern import call, floats, integers, literal, rule, values

x, y = integers("x y")
f, g = floats("f g")
v = values("v")
c, d = literal("c d")

RULES = (
    rule("add-zero", x + 0, x),
    rule("sub-zero", x - 0, x),
    rule("sub-self", x - x, 0),
    rule("mul-one", x * 1, x),
    rule("mul-zero", x * 0, 0),
    rule("neg-neg", call("neg", call("neg", v)), v, why="wrap and sign flips are involutions"),
    rule("add-constants", (x + c) + d, x + (c + d), why="addition associates mod 2^w"),
    rule("sub-of-sum", (x + y) - y, x, why="exact mod 2^w"),
    rule("sum-of-difference", (x - y) + y, x, why="exact mod 2^w"),
    rule("float-add-negative-zero", f + (-0.0), f, why="-0 is the identity of float addition"),
    rule("float-sub-zero", f - 0.0, f, why="x - (+0) = x for every x, -0 included"),
    rule("float-mul-one", f * 1.0, f),
    rule("float-div-one", f / 1.0, f),
    rule(
        "max-of-nothing",
        call("maximum", f, float("-inf")),
        f,
        why="-inf is the identity; NaN propagates through either",
    ),
    rule(
        "min-of-nothing", call("minimum", f, float("inf")), f, why="inf is the identity; NaN propagates through either"
    ),
    rule("float-max-same", call("maximum", f, f), f),
    rule("float-min-same", call("minimum", f, f), f),
    rule("float-max-nested", call("maximum", call("maximum", f, g), g), call("maximum", f, g), why="idempotent"),
    rule("float-min-nested", call("minimum", call("minimum", f, g), g), call("minimum", f, g), why="idempotent"),
    rule("abs-of-neg", call("abs", call("neg", f)), call("abs", f)),
    rule("abs-abs", call("abs", call("abs", v)), call("abs", v)),
    rule("fma-to-mul", call("fma", f, g, -0.0), f * g, why="adding -0 keeps every product, its sign included"),
)

TEMPTING = (
    rule("float-add-zero", f + 0.0, f, why="-0 + 0 is +0"),
    rule("float-sub-self", f - f, 0.0, why="NaN and the infinities give NaN"),
    rule("float-mul-zero", f * 0.0, 0.0, why="NaN and the infinities give NaN, negative numbers -0"),
    rule("float-sub-of-sum", (f + g) - g, f, why="the sum rounds"),
    rule("float-div-self", f / f, 1.0, why="0/0 and inf/inf are NaN"),
    rule("float-div-to-mul", f / 3.0, f * (1.0 / 3.0), why="rounds twice"),
    rule("float-distribute", (f + f) * g, f * g + f * g, why="f + f may overflow where f*g does not"),
    rule("float-associate", (f + g) + f, (f + f) + g, why="sums round in their order"),
    rule("fma-of-positive-zero", call("fma", f, g, 0.0), f * g, why="-0 + 0 is +0"),
    rule("max-with-num", call("maximum", f, g), call("maximum_num", f, g), why="NaN propagates through one of them"),
    rule("max-of-zero", call("maximum", call("abs", f), 0.0), f, why="negative numbers"),
    rule("sqrt-of-square", call("sqrt", f * f), call("abs", f), why="the square overflows, underflows and rounds"),
    rule("abs-of-integer", call("abs", x), x, why="negative numbers"),
    rule("halves", (x + x) // 2, x, why="the sum wraps"),
    rule("increment-is-above", x < x + 1, True, why="the largest value wraps"),
    rule("neg-of-difference", call("neg", f - g), g - f, why="f = g gives -0 and +0"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
