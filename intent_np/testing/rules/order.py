"""That rewriting ends: every rule makes its term smaller in one order.

Scalar rules are compared by a Knuth-Bendix order on their patterns, all weights 1, operators ranked by the table of
operators: a proof for all terms.  Rules over the terms of a language are compared by the table's measure on every
firing that is tried.
"""

from __future__ import annotations

from collections import Counter

from ...rules.pattern import Expr, Rule
from ...terms.operators import OPERATORS
from .instances import literal_only

_RANK = {name: i for i, name in enumerate(("cast wrap", "cast saturate", "cast bits", "computed", *OPERATORS))}


def ends(r: Rule) -> bool:
    """Whether the left side is above the right side, whatever stands for the metavariables."""
    return _above(r.left, _folded(r.right))


def _folded(e: Expr) -> Expr:
    """The right side as it is built: what is computed from literals is one constant."""
    if literal_only(e):
        return Expr("const", (repr(e),))
    return e if not _operands(e) else Expr(e.head, tuple(_folded(a) if isinstance(a, Expr) else a for a in e.args))


def _head(e: Expr) -> str:
    return f"cast {e.args[2]}" if e.head == "cast" else e.head


def _operands(e: Expr) -> list[Expr]:
    """What a term is computed from; a type is no operand."""
    return [a for a in e.args if isinstance(a, Expr) and a.head != "element"]


def _above(a: Expr, b: Expr) -> bool:
    ours, theirs = _variables(a), _variables(b)
    if any(theirs[name] > ours[name] for name in theirs):
        return False
    weight, other = _weight(a), _weight(b)
    if weight != other:
        return weight > other
    if _is_leaf(a) or _is_leaf(b):
        return not _is_leaf(a) and _is_leaf(b)
    if _head(a) != _head(b):
        return _RANK[_head(a)] > _RANK[_head(b)]
    for x, y in zip(_operands(a), _operands(b), strict=False):
        if repr(x) != repr(y):
            return _above(x, y)
    return False


def _is_leaf(e: Expr) -> bool:
    return not _operands(e)


def _weight(e: Expr) -> int:
    return 1 + sum(map(_weight, _operands(e)))


def _variables(e: Expr) -> Counter[str]:
    if e.head == "var":
        return Counter([e.args[0]])
    return sum(map(_variables, _operands(e)), Counter())
