"""Arithmetic that is exact: integers modulo 2^w, floats bit for bit (NaN payloads are not observable)."""

from typing import Any

from .pattern import Expr, call, computed, constants, floats, integers, literal, rule, values

x, y = integers("x y")
f, g, h = floats("f g h")
v, w = values("v w")
c, d = literal("c d")
k = constants("k")


def _neg(a: Any) -> Expr:
    return call("neg", a)


def _abs(a: Any) -> Expr:
    return call("abs", a)


RULES = (
    rule("add-zero", x + 0, x),
    rule("float-add-negative-zero", f + (-0.0), f, why="-0 is the identity of float addition"),
    rule("sub-zero", v - 0, v, why="x - (+0) = x for every x, -0 included"),
    rule("sub-self", x - x, 0),
    rule("mul-one", v * 1, v),
    rule("mul-minus-one", v * -1, _neg(v), why="a product by -1 has the other sign, and no rounding"),
    rule("mul-zero", x * 0, 0),
    rule("neg-neg", _neg(_neg(v)), v, why="wrap and sign flips are involutions"),
    rule("neg-of-difference", _neg(x - y), y - x, why="exact mod 2^w"),
    rule("add-of-neg", v + _neg(w), v - w, why="by the definition of subtraction"),
    rule("sub-of-neg", v - _neg(w), v + w, why="by the definition of subtraction"),
    rule("mul-of-negs", _neg(v) * _neg(w), v * w, why="signs multiply, and rounding is symmetric"),
    rule("add-constants", (x + c) + d, x + (c + d), why="addition associates mod 2^w"),
    rule("sub-constants", (x - c) - d, x - (c + d), why="addition associates mod 2^w"),
    rule("add-sub-constants", (x + c) - d, x + (c - d), why="addition associates mod 2^w"),
    rule("mul-constants", (x * c) * d, x * (c * d), why="multiplication associates mod 2^w"),
    rule("sub-of-sum", (x + y) - y, x, why="exact mod 2^w"),
    rule("sum-of-difference", (x - y) + y, x, why="exact mod 2^w"),
    rule("sub-of-difference", x - (x - y), y, why="exact mod 2^w"),
    rule("difference-less-itself", (x - y) - x, _neg(y), why="exact mod 2^w"),
    rule("square-of-abs", _abs(f) * _abs(f), f * f, why="signs multiply"),
    rule("float-div-one", f / 1.0, f),
    rule("div-minus-one", f / -1.0, _neg(f), why="a quotient by -1 has the other sign, and no rounding"),
    rule("div-of-negs", _neg(f) / _neg(g), f / g, why="signs divide, and rounding is symmetric"),
    rule(
        "div-by-power", f / k, f * computed("reciprocal", k), when=[computed("is_power", k)],
        why="both are f shifted by one power of two, rounded once",
    ),
    rule("max-of-nothing", call("maximum", f, float("-inf")), f, why="-inf is the identity; NaN propagates"),
    rule("min-of-nothing", call("minimum", f, float("inf")), f, why="inf is the identity; NaN propagates"),
    rule("max-same", call("maximum", v, v), v),
    rule("min-same", call("minimum", v, v), v),
    rule("max-num-same", call("maximum_num", v, v), v),
    rule("min-num-same", call("minimum_num", v, v), v),
    rule("max-nested", call("maximum", call("maximum", v, w), w), call("maximum", v, w), why="idempotent"),
    rule("min-nested", call("minimum", call("minimum", v, w), w), call("minimum", v, w), why="idempotent"),
    rule("max-absorbs", call("maximum", call("minimum", x, y), y), y, why="min(x, y) <= y; a float x may be NaN"),
    rule("min-absorbs", call("minimum", call("maximum", x, y), y), y, why="y <= max(x, y); a float x may be NaN"),
    rule("max-of-negs", call("maximum", _neg(f), _neg(g)), _neg(call("minimum", f, g)), why="the order turns around"),
    rule("min-of-negs", call("minimum", _neg(f), _neg(g)), _neg(call("maximum", f, g)), why="the order turns around"),
    rule("abs-of-neg", _abs(_neg(f)), _abs(f)),
    rule("abs-abs", _abs(_abs(v)), _abs(v)),
    rule("abs-of-square", _abs(f * f), f * f, why="a square is no negative number"),
    rule("fma-to-mul", call("fma", f, g, -0.0), f * g, why="adding -0 keeps every product, its sign included"),
    rule("fma-to-add", call("fma", f, 1.0, g), f + g, why="f * 1 is f"),
    rule("fma-of-negs", call("fma", _neg(f), _neg(g), h), call("fma", f, g, h), why="signs multiply"),
    rule("floor-floor", call("floor", call("floor", f)), call("floor", f), why="it is whole"),
    rule("ceil-ceil", call("ceil", call("ceil", f)), call("ceil", f), why="it is whole"),
    rule("round-round", call("round", call("round", f)), call("round", f), why="it is whole"),
    rule("sign-sign", call("sign", call("sign", v)), call("sign", v), why="it has its own sign"),
    rule("isnan-of-neg", call("isnan", _neg(f)), call("isnan", f)),
    rule("isnan-of-abs", call("isnan", _abs(f)), call("isnan", f)),
    rule("isinf-of-neg", call("isinf", _neg(f)), call("isinf", f)),
    rule("isinf-of-abs", call("isinf", _abs(f)), call("isinf", f)),
    rule("isnan-by-itself", f.differs(f), call("isnan", f), why="only NaN is not equal to itself"),
)  # fmt: skip

TEMPTING = (
    rule("float-add-zero", f + 0.0, f, why="-0 + 0 is +0"),
    rule("float-sub-self", f - f, 0.0, why="NaN and the infinities give NaN"),
    rule("float-mul-zero", f * 0.0, 0.0, why="NaN and the infinities give NaN, negative numbers -0"),
    rule("float-sub-of-sum", (f + g) - g, f, why="the sum rounds"),
    rule("float-div-self", f / f, 1.0, why="0/0 and inf/inf are NaN"),
    rule("float-div-to-mul", f / 3.0, f * (1.0 / 3.0), why="rounds twice"),
    rule("float-distribute", (f + f) * g, f * g + f * g, why="f + f may overflow where f*g does not"),
    rule("float-associate", (f + g) + f, (f + f) + g, why="sums round in their order"),
    rule("float-product-associates", (f * g) * f, (f * f) * g, why="f*f overflows where f*g does not"),
    rule("fma-of-positive-zero", call("fma", f, g, 0.0), f * g, why="-0 + 0 is +0"),
    rule("fma-apart", call("fma", f, g, h), f * g + h, why="the product rounds"),
    rule("max-with-num", call("maximum", f, g), call("maximum_num", f, g), why="NaN propagates through one of them"),
    rule("max-num-of-nothing", call("maximum_num", f, float("-inf")), f, why="NaN gives -inf"),
    rule("max-of-everything", call("maximum", f, float("inf")), float("inf"), why="NaN propagates"),
    rule("max-of-zero", call("maximum", _abs(f), 0.0), f, why="negative numbers"),
    rule("max-absorbs-floats", call("maximum", call("minimum", f, g), g), g, why="NaN propagates from f"),
    rule("sqrt-of-square", call("sqrt", f * f), _abs(f), why="the square overflows, underflows and rounds"),
    rule("square-of-sqrt", call("sqrt", f) * call("sqrt", f), f, why="roots round, and of negative numbers are NaN"),
    rule("abs-of-sqrt", _abs(call("sqrt", f)), call("sqrt", f), why="the root of -0 is -0"),
    rule("abs-of-integer", _abs(x), x, why="negative numbers"),
    rule("halves", (x + x) // 2, x, why="the sum wraps"),
    rule("increment-is-above", x < x + 1, True, why="the largest value wraps"),
    rule("neg-of-float-difference", _neg(f - g), g - f, why="f = g gives -0 and +0"),
    rule("floor-by-truncation", call("floor", f), _neg(call("floor", _neg(f))), why="floors are no ceilings"),
    rule("round-half-up", call("round", f), call("floor", f + 0.5), why="halves round to even, and the sum rounds"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
