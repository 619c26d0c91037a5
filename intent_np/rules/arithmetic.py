"""Arithmetic that is exact: integers modulo 2^w, floats bit for bit (NaN payloads are not observable).

Tempting ones that are no rules: x + 0 -> x (turns -0 into +0), x - x -> 0 and x * 0 -> 0 (NaN, infinities),
x / c -> x * (1/c) (rounds twice), (x + y) - y -> x.
"""

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
