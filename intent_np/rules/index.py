"""Index algebra: exact over the integers; index arithmetic is proved not to wrap before it is lowered to 32 bits."""

from .pattern import call, hi, indices, literal, lo, rule

x, y, z = indices("x y z")
c, d = literal("c d")

RULES = (
    rule("floordiv-one", x // 1, x, why="every integer is a multiple of 1"),
    rule("ceil-div-one", call("ceil_div", x, 1), x, why="every integer is a multiple of 1"),
    rule("mod-one", x % 1, 0, why="every integer is a multiple of 1"),
    rule("zero-floordiv", call("floordiv", 0, c), 0, when=[c.differs(0)], why="0 = 0*c + 0"),
    rule("zero-ceil-div", call("ceil_div", 0, c), 0, when=[c.differs(0)], why="0 = 0*c - 0"),
    rule("mod-small", x % c, x, when=[lo(x) >= 0, hi(x) < c], why="0 <= x < c"),
    rule("floordiv-small", x // c, 0, when=[lo(x) >= 0, hi(x) < c], why="0 <= x < c"),
    rule("floordiv-multiple", (x * c) // c, x, when=[c.differs(0)], why="c divides x*c"),
    rule("ceil-div-multiple", call("ceil_div", x * c, c), x, when=[c.differs(0)], why="c divides x*c"),
    rule("mod-multiple", (x * c) % c, 0, when=[c.differs(0)], why="c divides x*c"),
    rule("floordiv-part", (x * d) // c, x * (d // c), when=[(d % c).equals(0)], why="c divides d"),
    rule("ceil-div-part", call("ceil_div", x * d, c), x * (d // c), when=[(d % c).equals(0)], why="c divides d"),
    rule(
        "ceil-div-of-sum",
        call("ceil_div", x * d + y, c),
        x * (d // c) + call("ceil_div", y, c),
        when=[c > 0, (d % c).equals(0)],
        why="ceil((x*d + y)/c) = x*(d/c) + ceil(y/c)",
    ),
    rule("floordiv-of-sum", (x * c + y) // c, x + y // c, when=[c > 0], why="floor((x*c + y)/c) = x + floor(y/c)"),
    rule("mod-of-sum", (x * c + y) % c, y % c, when=[c.differs(0)], why="x*c vanishes mod c"),
    rule("floordiv-nest", (x // c) // d, x // (c * d), when=[c.differs(0), d > 0], why="floors compose"),
    rule("mod-nest", (x % (c)) % d, x % d, when=[c.differs(0), (c % d).equals(0)], why="d divides c"),
    rule("div-mod-join", (x // c) * c + x % c, x, when=[c.differs(0)], why="x = (x div c)*c + x mod c"),
    rule("min-same", call("minimum", x, x), x),
    rule("max-same", call("maximum", x, x), x),
    rule("min-nested", call("minimum", call("minimum", x, y), y), call("minimum", x, y)),
    rule("max-nested", call("maximum", call("maximum", x, y), y), call("maximum", x, y)),
    rule("max-small", call("maximum", x, c), x, when=[lo(x) >= c], why="c <= x"),
    rule("min-large", call("minimum", x, c), x, when=[hi(x) <= c], why="x <= c"),
    rule("max-large", call("maximum", x, c), c, when=[hi(x) <= c], why="x <= c"),
    rule("min-small", call("minimum", x, c), c, when=[lo(x) >= c], why="c <= x"),
    rule("max-absorbs", call("maximum", call("minimum", x, y), y), y, why="min(x, y) <= y"),
    rule("min-absorbs", call("minimum", call("maximum", x, y), y), y, why="y <= max(x, y)"),
)

TEMPTING = (
    rule("ceil-div-by-sum", call("ceil_div", x, c), (x + (c - 1)) // c, when=[c > 0], why="the sum leaves 64 bits"),
    rule("mod-without-range", x % c, x, when=[lo(x) >= 0], why="x may be c or more"),
    rule("floordiv-without-range", x // c, 0, when=[hi(x) < c], why="x may be negative"),
    rule("floordiv-truncates", x // c, call("neg", call("neg", x) // c), when=[c > 0], why="floors are no ceilings"),
    rule("mod-nest-any", (x % c) % d, x % d, when=[c > 0, d > 0], why="d need not divide c"),
    rule("floordiv-nest-any", (x // c) // d, x // (c * d), when=[c > 0], why="floors of negative quotients"),
    rule("floordiv-of-difference", (x * c - y) // c, x - y // c, when=[c > 0], why="floor(-y/c) is not -floor(y/c)"),
    rule("mod-of-vector", (x * c + y) % d, y % d, when=[c > 0, d > 0], why="d need not divide c"),
    rule("div-mod-swapped", (x % c) * c + x // c, x, when=[c > 0], why="the quotient is what counts in units of c"),
    rule("max-strict", call("maximum", x, c), x, when=[hi(x) >= c], why="x may be below c"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
