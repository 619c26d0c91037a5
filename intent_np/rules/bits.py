"""Bits of integers, and truth values under the operators of bits."""

from typing import Any

from .pattern import Expr, call, integers, literal, predicates, rule

x, y = integers("x y")
p, q = predicates("p q")
c, d = literal("c d")


def _and(a: Any, b: Any) -> Expr:
    return call("bit_and", a, b)


def _or(a: Any, b: Any) -> Expr:
    return call("bit_or", a, b)


def _xor(a: Any, b: Any) -> Expr:
    return call("bit_xor", a, b)


RULES = (
    rule("bit-and-same", _and(x, x), x),
    rule("bit-or-same", _or(x, x), x),
    rule("bit-xor-same", _xor(x, x), 0),
    rule("bit-and-zero", _and(x, 0), 0),
    rule("bit-or-zero", _or(x, 0), x),
    rule("bit-xor-zero", _xor(x, 0), x),
    rule("bit-not-not", call("bit_not", call("bit_not", x)), x, why="an involution"),
    rule("bit-and-constants", _and(_and(x, c), d), _and(x, _and(c, d))),
    rule("bit-or-constants", _or(_or(x, c), d), _or(x, _or(c, d))),
    rule("bit-xor-constants", _xor(_xor(x, c), d), _xor(x, _xor(c, d))),
    rule("bit-and-absorbs", _and(_or(x, y), y), y),
    rule("bit-or-absorbs", _or(_and(x, y), y), y),
    rule("shl-zero", call("shl", x, 0), x),
    rule("shr-zero", call("shr", x, 0), x),
    rule("truth-xor", _xor(p, q), call("ne", p, q)),
    rule("truth-is-true", p.equals(True), p),
    rule("truth-is-false", p.equals(False), call("not", p)),
    rule("truth-is-not-true", p.differs(True), call("not", p)),
    rule("truth-is-not-false", p.differs(False), p),
)

TEMPTING = (
    rule("xor-is-or", _xor(x, y), _or(x, y), why="bits that both have"),
    rule("shift-back", call("shr", call("shl", x, c), c), x, why="bits are shifted out"),
    rule("shift-is-half", call("shr", x, 1), x // 2 + 1, why="shifts round down"),
    rule("not-is-neg", call("bit_not", x), call("neg", x), why="they differ by 1"),
    rule("sum-is-or", x + y, _or(x, y), why="carries"),
    rule("even-by-sign", _and(x, 1), x % 2 + x % 2, why="twice"),
)
"""Tempting, and wrong: kept so that nobody has to find out again."""
