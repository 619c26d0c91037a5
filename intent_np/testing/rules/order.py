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

_RANK = {name: i for i, name in enumerate(OPERATORS)}


def ends(r: Rule) -> bool:
    """Whether the left side is above the right side, whatever stands for the metavariables."""
    return _above(r.left, _folded(r.right))


def _folded(e: Expr) -> Expr:
    """The right side as it is built: what is computed from literals is one constant."""
    if literal_only(e):
        return Expr("const", (repr(e),))
    return e if e.head == "var" else Expr(e.head, tuple(map(_folded, e.args)))


def _above(a: Expr, b: Expr) -> bool:
    ours, theirs = _variables(a), _variables(b)
    if any(theirs[name] > ours[name] for name in theirs):
        return False
    weight, other = _weight(a), _weight(b)
    if weight != other:
        return weight > other
    if _is_leaf(a) or _is_leaf(b):
        return not _is_leaf(a) and _is_leaf(b)
    if a.head != b.head:
        return _RANK[a.head] > _RANK[b.head]
    for x, y in zip(a.args, b.args, strict=False):
        if repr(x) != repr(y):
            return _above(x, y)
    return False


def _is_leaf(e: Expr) -> bool:
    return e.head in ("var", "literal", "const")


def _weight(e: Expr) -> int:
    return 1 if _is_leaf(e) else 1 + sum(map(_weight, e.args))


def _variables(e: Expr) -> Counter[str]:
    if e.head == "var":
        return Counter([e.args[0]])
    return Counter() if _is_leaf(e) else sum(map(_variables, e.args), Counter())
