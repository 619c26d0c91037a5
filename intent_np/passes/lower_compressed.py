"""Operands in fewer bits, told by what they stand for: decoded where they are read, then contracted as any others.

    scaled contract a as e2m1 by s, b as e4m3 by t        reduce sum over g of 2**s[m, g] * 2**t[n, g] *
                                                            contract over c of a[m, g, c], b[g, c, n]

Numbers of a microscaling format are exact in f16, which matrix instructions take; what a group amounts to is scaled
behind them.  Of a sparse operand the members that were left out are zeros, where zeros meet nothing that is infinite;
else each kept member chooses what it meets.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..rules.facts import is_finite
from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import named
from ..terms.dtypes import DType, f8e4m3fn, f8e5m2, f16, f32, index, u8, u16, u32
from ..terms.index import Cast, Value, add, apply, const, mul, select
from ..terms.logical.contractions import PACKED
from ..terms.normal import Axis, Contract, Reduce, builtin, identity
from .lower_regions import Positions

Asked = tuple[Any, Positions]
Steps = Generator[Asked, Any, Any]


class CompressedLowering:
    """The part of the lowering that knows operands in fewer bits."""

    axis: Callable[[L.Domain, Any], Any]
    position: Callable[[L.Domain, Any], Any]
    domains: Callable[[Value], tuple[L.Domain, ...]]

    def _along(self, v: Value, dimension: int, taken: frozenset[Any]) -> tuple[Any, Any]:
        """An axis over a dimension of `v`, and the position along it."""
        d = self.domains(v)[dimension]
        axis = self.axis(d, taken)
        return axis, self.position(d, axis)

    def scaled(self, v: L.ScaledContract, where: Positions) -> Steps:
        """An element of a product of numbers in groups that have scales."""
        m, n = where
        taken = frozenset[Any]().union(m.lanes, n.lanes)
        group, g = self._along(v.left, 1, taken)
        member: Axis = self.axis(L.Domain(const(0), const(v.group)), taken | {group})
        c = self.position(L.Domain(const(0), const(v.group)), member)
        exact = f16 if v.acc is f32 else v.acc
        left = yield from _number(v.left_format, v.left, exact, c, lambda at: (m, g, at))
        right = yield from _number(v.right_format, v.right, exact, c, lambda at: (g, at, n))
        total = node(Contract(member, left, right, v.acc))
        for scale, at in ((v.left_scale, (m, g)), (v.right_scale, (n, g))):
            total = node(mul(total, _power((yield scale, at), v.acc)))
        return _sum(group, total)

    def sparse(self, v: L.SparseContract, where: Positions) -> Steps:
        """An element of a product with an operand of which some members of each group are kept."""
        m, n = where
        taken = frozenset[Any]().union(m.lanes, n.lanes)
        group, g = self._along(v.left, 1, taken)
        kept = []
        for k in map(const, range(L.shape_of(v.left)[2].value)):  # type: ignore[attr-defined]
            kept.append(((yield v.left, (m, g, k)), node(Cast((yield v.at, (m, g, k)), index))))
        member: Axis = self.axis(L.Domain(const(0), const(v.width)), taken | {group})
        met = yield v.right, (g, self.position(L.Domain(const(0), const(v.width)), member), n)
        if met.type.is_integer or is_finite(met):
            return (yield from self._dense(v, where))
        total: Any = None
        for x, at in kept:
            chosen: Any = const(0, met.type)
            for w in map(const, range(v.width)):
                chosen = node(select(node(apply("eq", at, w)), (yield v.right, (g, w, n)), chosen))
            product = node(mul(node(Cast(x, v.acc)), node(Cast(chosen, v.acc))))
            total = product if total is None else node(add(total, product))
        return _sum(group, total)

    def _dense(self, v: L.SparseContract, where: Positions) -> Steps:
        """A sparse product with zeros for what was left out."""
        m, n = where
        extent = node(mul(L.shape_of(v.right)[0], const(v.width)))
        whole = L.Domain(const(0), extent)
        axis: Axis = self.axis(whole, frozenset[Any]().union(m.lanes, n.lanes))
        place = self.position(whole, axis)
        g, w = (node(apply(op, place, const(v.width))) for op in ("floordiv", "mod"))
        left: Any = None
        for k in map(const, range(L.shape_of(v.left)[2].value)):  # type: ignore[attr-defined]
            x, at = (yield v.left, (m, g, k)), node(Cast((yield v.at, (m, g, k)), index))
            left = node(select(node(apply("eq", at, w)), x, const(0, x.type) if left is None else left))
        return Contract(axis, left, (yield v.right, (g, w, n)), v.acc)


def _sum(axis: Axis, v: Any) -> Any:
    return node(Reduce(axis, builtin("sum", v.type), (v,), (identity("sum", v.type),)))


def _bits(v: Value, d: DType) -> Any:
    return node(Cast(v, d, "bits"))


def _number(form: str, v: Value, d: DType, member: Any, at: Callable[[Any], Positions]) -> Steps:
    """Member `member` of a group in a microscaling format, as `d`, which holds it exactly."""
    per_byte = const(PACKED[form])
    byte = yield v, at(node(apply("floordiv", member, per_byte)))
    if form != "e2m1":
        f8 = {"e4m3": f8e4m3fn, "e5m2": f8e5m2}[form]
        return node(Cast(byte if byte.type is f8 else _bits(byte, f8), d))
    shift = node(mul(node(Cast(node(apply("mod", member, per_byte)), u16)), const(4, u16)))
    code = node(apply("shr", node(Cast(byte, u16)), shift))
    # two bits of exponent and one of fraction where f16 has its lowest and its highest ones, off by 2**14
    sign = node(apply("shl", node(apply("bit_and", code, const(8, u16))), const(12, u16)))
    size = node(apply("shl", node(apply("bit_and", code, const(7, u16))), const(9, u16)))
    number = _bits(node(apply("bit_or", sign, size)), f16)
    return named(node(Cast(node(mul(node(Cast(number, f32)), const(2.0**14, f32))), d)), "number")


def _power(code: Value, d: DType) -> Any:
    """What an e8m0 scale stands for: 2**(code - 127), or NaN."""
    bits = node(apply("shl", node(Cast(code, u32)), const(23, u32)))
    for special, meant in ((0, 1 << 22), (255, 0x7FC00000)):  # a subnormal number, NaN
        bits = node(select(node(apply("eq", code, const(special, u8))), const(meant, u32), bits))
    return named(node(Cast(_bits(bits, f32), d)), "scale")


__all__ = ["CompressedLowering"]
