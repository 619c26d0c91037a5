"""Conversions: round trips that lose nothing, chains that are one conversion, and what needs none.

`exact(x, d)`: the type `d` has every value that the type of `x` has.
"""

from typing import Any

from .pattern import Expr, call, cast, computed, elements, literal, rule, values

x, y = values("x y")
d, e, result = elements("d e result")
c = literal("c")


def _exact(v: Any, to: Any) -> Expr:
    return computed("exact", v, to)


RULES = (
    rule("cast-same", cast(x, d), x, when=[computed("is_of", x, d)], why="the type is this one"),
    rule("cast-through", cast(cast(x, d), e), cast(x, e), when=[_exact(x, d)], why="nothing is lost on the way"),
    rule(
        "cast-truncates", cast(cast(x, d), e), cast(x, e), when=[computed("truncates", x, d, e)],
        why="low bits of low bits",
    ),
    rule("bitcast-same", cast(x, d, "bits"), x, when=[computed("is_of", x, d)], why="bits are bits"),
    rule("bitcast-through", cast(cast(x, d, "bits"), e, "bits"), cast(x, e, "bits"), why="bits are bits"),
    rule(
        "saturate-exact", cast(x, d, "saturate"), cast(x, d), when=[computed("fits_whole", x, d)],
        why="nothing is out of range",
    ),
    rule("truth-of-cast", cast(x, d).differs(0), x, when=[computed("truth", x)], why="true is 1, false 0"),
    rule(
        "falsehood-of-cast", cast(x, d).equals(0), call("not", x), when=[computed("truth", x)],
        why="true is 1, false 0",
    ),
    rule("one-of-cast", cast(x, d).equals(1), x, when=[computed("truth", x)], why="true is 1, false 0"),
    rule(
        "not-one-of-cast", cast(x, d).differs(1), call("not", x), when=[computed("truth", x)], why="true is 1, false 0"
    ),
    rule(
        "lt-of-casts", call("lt", cast(x, d), cast(y, d)), call("lt", x, y),
        when=[computed("alike", x, y), computed("grows", x, d)], why="the order is kept",
    ),
    rule(
        "le-of-casts", call("le", cast(x, d), cast(y, d)), call("le", x, y),
        when=[computed("alike", x, y), computed("grows", x, d)], why="the order is kept",
    ),
    rule(
        "eq-of-casts", call("eq", cast(x, d), cast(y, d)), call("eq", x, y),
        when=[computed("alike", x, y), computed("grows", x, d)], why="nothing comes to be equal",
    ),
    rule(
        "ne-of-casts", call("ne", cast(x, d), cast(y, d)), call("ne", x, y),
        when=[computed("alike", x, y), computed("grows", x, d)], why="nothing comes to be equal",
    ),
    rule("floor-of-integer", call("floor", cast(x, d)), cast(x, d), when=[computed("integral", x)], why="it is whole"),
    rule("ceil-of-integer", call("ceil", cast(x, d)), cast(x, d), when=[computed("integral", x)], why="it is whole"),
    rule("round-of-integer", call("round", cast(x, d)), cast(x, d), when=[computed("integral", x)], why="it is whole"),
    rule("abs-of-unsigned", call("abs", x), x, when=[computed("unsigned", x)], why="nothing is negative"),
)  # fmt: skip

TEMPTING = (
    rule("cast-chain", cast(cast(x, d), e), cast(x, e), why="the type in between may lose bits"),
    rule("cast-back", cast(cast(x, d), e), x, when=[computed("is_of", x, e)], why="the type in between may lose bits"),
    rule("saturate-always", cast(x, d, "saturate"), cast(x, d), why="values out of range"),
    rule("lt-of-any-casts", call("lt", cast(x, d), cast(y, d)), call("lt", x, y),
         when=[computed("alike", x, y), computed("integral", x)], why="casts wrap and round"),
    rule("isinf-of-integer", call("isinf", cast(x, d)), False, when=[computed("integral", x)], why="f16 ends at 65504"),
    rule("truncate-sum", cast(x + y, d), cast(x, d) + cast(y, d),
         when=[computed("integral", x), computed("whole", d)], why="a wider sum has one more bit"),
    rule("bitcast-is-cast", cast(x, d, "bits"), cast(x, d), why="bits are no numbers"),
    rule("abs-of-any", call("abs", x), x, why="negative numbers"),
)  # fmt: skip
"""Tempting, and wrong: kept so that nobody has to find out again."""
