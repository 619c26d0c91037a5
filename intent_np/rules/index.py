"""Index algebra: exact over the integers; index arithmetic is proved not to wrap before it is lowered to 32 bits."""

from typing import Any

from .pattern import Expr, call, computed, hi, indices, literal, lo, multiple, proved, rule

x, y, z = indices("x y z")
c, d = literal("c d")


def _up(a: Any, b: Any) -> Expr:
    return call("ceil_div", a, b)


def _least(a: Any, b: Any) -> Expr:
    return call("minimum", a, b)


def _most(a: Any, b: Any) -> Expr:
    return call("maximum", a, b)


RULES = (
    rule("floordiv-one", x // 1, x, why="every integer is a multiple of 1"),
    rule("ceil-div-one", _up(x, 1), x, why="every integer is a multiple of 1"),
    rule("zero-floordiv", call("floordiv", 0, x), 0, why="0 = 0*x + 0; of nothing divided by 0 is nothing said"),
    rule("zero-ceil-div", _up(0, x), 0, why="0 = 0*x - 0"),
    rule("zero-mod", call("mod", 0, x), 0, why="0 = 0*x + 0"),
    rule("mod-small", x % y, x, when=[lo(x) >= 0, proved(x < y)], why="0 <= x < y"),
    rule("floordiv-small", x // y, 0, when=[lo(x) >= 0, proved(x < y)], why="0 <= x < y"),
    rule("ceil-div-small", _up(x, y), 1, when=[lo(x) >= 1, proved(x <= y)], why="0 < x <= y"),
    rule("floordiv-multiple", (x * y) // y, x, why="y divides x*y"),
    rule("ceil-div-multiple", _up(x * y, y), x, why="y divides x*y"),
    rule("mod-multiple", (x * y) % y, 0, why="y divides x*y"),
    rule("mod-of-multiple", x % c, 0, when=[multiple(x, c)], why="c divides x"),
    rule("floordiv-of-sum", (x * y + z) // y, x + z // y, when=[lo(y) >= 0], why="x*y moves out whole"),
    rule("ceil-div-of-sum", _up(x * y + z, y), x + _up(z, y), when=[lo(y) >= 0], why="x*y moves out whole"),
    rule("mod-of-sum", (x * y + z) % y, z % y, why="x*y vanishes mod y"),
    rule("floordiv-of-terms", x // c, computed("quotient", x, c), why="multiples of c in a sum move out"),
    rule("ceil-div-of-terms", _up(x, c), computed("rounded_up", x, c), why="multiples of c in a sum move out"),
    rule("mod-of-terms", x % c, computed("remainder", x, c), why="multiples of c in a sum vanish"),
    rule("floordiv-nest", (x // c) // d, x // (c * d), when=[c.differs(0), d > 0], why="floors compose"),
    rule("ceil-div-nest", _up(_up(x, c), d), _up(x, c * d), when=[c.differs(0), d > 0], why="ceilings compose"),
    rule("mod-nest", (x % (c)) % d, x % d, when=[c.differs(0), (c % d).equals(0)], why="d divides c"),
    rule("mod-twice", (x % y) % y, x % y, why="a remainder is its own"),
    rule("floordiv-of-mod", (x % y) // y, 0, why="a remainder is smaller than what left it"),
    rule("div-mod-join", (x // y) * y + x % y, x, why="x = (x div y)*y + x mod y"),
    rule("difference-to-floor", x - (x // y) * y, x % y, why="x - (x div y)*y = x mod y"),
    rule("floor-of-multiple", (x // c) * c, x, when=[multiple(x, c)], why="c divides x"),
    rule("ceiling-of-multiple", _up(x, c) * c, x, when=[multiple(x, c)], why="c divides x"),
    rule("min-ordered", _least(x, y), x, when=[proved(x <= y)], why="x <= y"),
    rule("max-ordered", _most(x, y), y, when=[proved(x <= y)], why="x <= y"),
    rule("min-tightened", _least(_least(x, y), z), _least(x, z), when=[proved(z <= y)], why="z <= y"),
    rule("max-tightened", _most(_most(x, y), z), _most(x, z), when=[proved(y <= z)], why="y <= z"),
    rule("min-shifted", _least(x + z, y + z), _least(x, y) + z, why="addition is monotone"),
    rule("max-shifted", _most(x + z, y + z), _most(x, y) + z, why="addition is monotone"),
    rule("lt-shifted", x + z < y + z, x < y, why="addition is strictly monotone"),
    rule("le-shifted", x + z <= y + z, x <= y, why="addition is monotone"),
    rule("eq-shifted", (x + z).equals(y + z), x.equals(y), why="addition is injective"),
    rule("ne-shifted", (x + z).differs(y + z), x.differs(y), why="addition is injective"),
    rule("lt-successor", x < y + 1, x <= y, why="nothing is between y and y + 1"),
    rule("le-successor", x + 1 <= y, x < y, why="nothing is between x and x + 1"),
    rule("lt-scaled", x * c < y * c, x < y, when=[c > 0], why="c > 0"),
    rule("le-scaled", x * c <= y * c, x <= y, when=[c > 0], why="c > 0"),
    rule("quotient-below", x // c < d, x < d * c, when=[c > 0], why="floor(x/c) < d exactly if x < d*c"),
)

TEMPTING = (
    rule("ceil-div-by-sum", _up(x, c), (x + (c - 1)) // c, when=[c > 0], why="the sum leaves 64 bits"),
    rule("ceil-div-by-sum-in-kernels", _up(x, y), (x + y - 1) // y, when=[lo(y) > 0], why="the sum leaves 64 bits"),
    rule("mod-without-range", x % c, x, when=[lo(x) >= 0], why="x may be c or more"),
    rule("mod-of-negative", x % y, x, when=[proved(x < y)], why="x may be negative"),
    rule("floordiv-without-range", x // c, 0, when=[hi(x) < c], why="x may be negative"),
    rule("floordiv-truncates", x // c, call("neg", call("neg", x) // c), when=[c > 0], why="floors are no ceilings"),
    rule("mod-nest-any", (x % c) % d, x % d, when=[c > 0, d > 0], why="d need not divide c"),
    rule("floordiv-nest-any", (x // c) // d, x // (c * d), when=[c > 0], why="floors of negative quotients"),
    rule("floordiv-nest-symbols", (x // y) // z, x // (y * z), when=[lo(y) > 0, lo(z) > 0], why="y*z leaves 64 bits"),
    rule("floordiv-of-difference", (x * c - y) // c, x - y // c, when=[c > 0], why="floor(-y/c) is not -floor(y/c)"),
    rule("floordiv-distributes", (x + y) // c, x // c + y // c, when=[c > 0], why="remainders add up to c"),
    rule("mod-distributes", (x + y) % c, x % c + y % c, when=[c > 0], why="remainders add up to c"),
    rule("mod-moves-in", (x % 3 + y) % 3, (x + y) % 3, why="x + y leaves 64 bits"),
    rule("mod-of-vector", (x * c + y) % d, y % d, when=[c > 0, d > 0], why="d need not divide c"),
    rule("div-mod-swapped", (x % c) * c + x // c, x, when=[c > 0], why="the quotient is what counts in units of c"),
    rule("floor-to-itself", (x // c) * c, x, when=[c > 0], why="c need not divide x"),
    rule("max-strict", _most(x, c), x, when=[hi(x) >= c], why="x may be below c"),
    rule("min-scaled", _least(x * c, y * c), _least(x, y) * c, why="c may be negative"),
    rule("lt-scaled-any", x * c < y * c, x < y, when=[c.differs(0)], why="c may be negative"),
    rule("abs-of-index", call("abs", x), x, why="negative numbers"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
