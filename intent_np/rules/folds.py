"""Memory and folds: accesses whose validity is decided, and folds of nothing but identities.

Each rule keeps the value, or what an effect does; its term has fewer parts, by the measure below.
"""

from __future__ import annotations

from typing import Any

from ..terms.combines import Combine
from ..terms.core import walk
from ..terms.dtypes import DType
from ..terms.index import Const, Value, const, is_const
from ..terms.normal import View
from .facts import is_finite
from .pattern import attributes, computed, rule, structure, tensors

x, y = tensors("x y")
v, i, f, a, c, d, n, xs, acc = attributes("v i f a c d n xs acc")
op, rs, over, by, order, inside, turn = attributes("op rs over by order inside turn")
TRUE, FALSE = structure("Const", True, d), structure("Const", False, d)


def _load(valid: Any, fill: Any) -> Any:
    return structure("Load", v, i, valid, fill, a)


def _store(valid: Any) -> Any:
    return structure("Store", v, i, x, valid, n)


def _update(valid: Any) -> Any:
    return structure("Update", v, i, op, rs, over, by, order, valid, inside, n, turn)


RULES = (
    rule("load-always", _load(TRUE, f), _load(None, 0), why="no lane is invalid"),
    rule("load-never", _load(FALSE, f), computed("filled", v, f), why="every lane is invalid"),
    rule("store-always", _store(TRUE), _store(None), why="no lane is invalid"),
    rule("update-always", _update(TRUE), _update(None), why="no lane is invalid"),
    rule(
        "reduce-identities", structure("Reduce", a, c, xs, xs), computed("first", xs),
        when=[computed("is_one", xs)], why="the identity combined with itself is itself",
    ),
    rule(
        "contract-zero", structure("Contract", a, x, y, acc), computed("nothing", acc),
        when=[computed("vanishes", x, y)], why="0 times what is finite is 0",
    ),
)  # fmt: skip


def filled(view: View, fill: Any) -> Const:
    """What an invalid lane of a load holds."""
    return const(fill, view.dtype)


def is_one(values: tuple[Value, ...]) -> bool:
    """Whether a fold has one component."""
    return len(values) == 1


def first(values: tuple[Value, ...]) -> Value:
    """The one component."""
    return values[0]


def vanishes(left: Value, right: Value) -> bool:
    """Whether one factor is zero, without a sign, and the other finite in every lane."""
    zero = [is_const(t, 0) and str(t.value) in ("0", "0.0") for t in (left, right)]  # type: ignore[attr-defined]
    return zero[0] and is_finite(right) or zero[1] and is_finite(left)


def nothing(acc: DType) -> Const:
    """The sum of no products."""
    return const(0, acc)


FUNCTIONS = {one.__name__: one for one in (filled, is_one, first, vanishes, nothing)}
"""By name, for the matchers."""


def measure(root: Any) -> int:
    """What every rule makes smaller: terms, and validities."""
    size = 0
    for t in walk(root):
        if not isinstance(t, (Const, Combine)):
            size += 1 + 2 * (getattr(t, "valid", None) is not None)
    return size + (not isinstance(root, Const))
