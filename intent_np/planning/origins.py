"""Which of the author's values those of a plan are, so that they keep their names and source lines."""

from __future__ import annotations

from typing import Any

from ..terms.core import inherit, walk
from ..terms.grouped import Group
from ..terms.index import Apply, Cast
from ..terms.normal import Contract, Load, Proj, Reduce, Scan


class Origins:
    """Which of the author's values a new one is: that of the same operator on the same operands.  It passes names and
    source lines on; `invented` tells that some values are none of the author's."""

    def __init__(self, group: Group) -> None:
        self.known: dict[Any, Any] = {}
        self.of: dict[Any, Any] = {}
        self.invented = False
        for t in walk(*group.effects):
            match t:
                case Apply():
                    self.known[t.op.name, t.args] = t
                    if t.op.commutative:
                        self.known[t.op.name, t.args[::-1]] = t
                case Cast():
                    self.known[f"cast {t.dtype} {t.mode}", (t.value,)] = t
                case Proj():
                    self.known[f"proj {t.position}", (t.value,)] = t
                case Load():
                    self.known[kind(t), (*t.index, *(() if t.valid is None else (t.valid,)))] = t
                case Reduce() | Scan():
                    self.known[kind(t), t.values] = t
                case Contract():
                    self.known[kind(t), (t.left, t.right)] = t

    def leaf(self, old: Any, new: Any) -> Any:
        self.of[new] = old
        return new

    def same(self, known: Any, new: Any) -> Any:
        """`new` stands for what `known` stood for."""
        return self.leaf(self.of[known], inherit(known, new)) if known in self.of else new

    def made(self, way: Any, operands: tuple[Any, ...], new: Any) -> Any:
        """`new`, which is made of operands in this way."""
        old = self.known.get((way, tuple(self.of.get(x) for x in operands)))
        if old is None:
            self.invented = True
            return new
        return self.leaf(old, inherit(old, new))


def kind(by: Any) -> Any:
    """What a load, a reduction, a scan or a contraction is, whatever its operands are."""
    if isinstance(by, Load):
        return by.view, by.fill, by.after
    if isinstance(by, Contract):
        return by.axis, by.acc
    return type(by), by.axis, by.combine, by.identities, getattr(by, "reverse", False)
