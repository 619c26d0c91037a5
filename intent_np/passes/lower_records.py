"""Records of 256 numbers, byte by byte: what a byte of one holds, and the dot products of two.

    quantize(x)[g, 4 + i]        the integer nearest to -127 / (the largest of group g) * x[256 g + i]

The layouts are those of `numerics.records`; bytes at places that are known select nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from ..rules.simplify import node
from ..terms import logical as L
from ..terms.core import named
from ..terms.dtypes import DType, f16, f32, i8, i16, i32, index, u8, u16, u32
from ..terms.index import Cast, Value, add, apply, const, lt, mul, select, sub
from ..terms.normal import Arg, Axis, Combine, Proj, Reduce, builtin, identity
from .lower_regions import Positions

Asked = tuple[Any, Positions]
Steps = Generator[Asked, Any, Any]

MEMBERS, SUMMED = 256, 16


class RecordLowering:
    """The part of the lowering that knows records."""

    axis: Callable[[L.Domain, Any], Any]
    position: Callable[[L.Domain, Any], Any]
    domains: Callable[[Value], tuple[L.Domain, ...]]
    fitted: Callable[[Value, Positions], Asked]
    guarded: Callable[[Any, Value], Any]

    def _over(self, extent: Value | int, taken: frozenset[Any]) -> tuple[Axis, Any]:
        """An axis over so many members that none of `taken` is, and the position along it."""
        d = L.Domain(const(0), const(extent) if isinstance(extent, int) else extent)
        axis: Axis = self.axis(d, taken)
        return axis, self.position(d, axis)

    def quantized(self, v: L.Quantize, where: Positions) -> Steps:
        """A byte of a q8_k record."""
        *outer, g, byte = where
        taken = frozenset[Any]().union(*(p.lanes for p in where))
        member = lambda i: (v.value, (*outer, node(add(node(mul(g, const(MEMBERS))), i))))  # noqa: E731
        axis, place = self._over(MEMBERS, taken - byte.lanes)
        x = yield member(place)
        size = node(select(node(apply("isnan", x)), const(0, f32), node(apply("abs", x))))
        start = const(-1, f32), const(0), const(0, f32)
        found = Reduce(axis, _larger(), (size, place, x), start)
        empty = node(apply("eq", node(Proj(found, 0)), const(0, f32)))
        zero = const(0, f32)
        scale = node(select(empty, zero, node(apply("div", const(-127, f32), node(Proj(found, 2))))))
        d = named(node(select(empty, zero, node(apply("div", const(1, f32), scale)))), "d")

        def number(at: Any, inside: Any) -> Steps:
            """Integer `at` of the record, asked for where it is `inside`."""
            x = self.guarded((yield member(at)), inside)
            scaled = node(mul(scale, x))
            lost = node(apply("or", *(node(apply(op, scaled)) for op in ("isnan", "isinf"))))
            near = node(apply("minimum", node(apply("round", scaled)), const(127, f32)))
            return node(select(node(apply("or", empty, lost)), const(0, i8), node(Cast(near, i8))))

        head, body = node(lt(byte, const(4))), node(lt(byte, const(4 + MEMBERS)))
        bits = node(Cast(node(Cast(d, u32, "bits")), index))
        first = _byte(bits, byte, u8)
        q = yield from number(node(sub(byte, const(4))), node(apply("and", node(apply("not", head)), body)))
        rest = node(sub(byte, const(4 + MEMBERS)))
        each, t = self._over(SUMMED, taken)
        j = node(apply("floordiv", rest, const(2)))
        one = yield from number(node(add(node(mul(j, const(SUMMED))), t)), node(apply("not", body)))
        total = _sum(each, node(Cast(one, i16)))
        last = _byte(node(Cast(node(Cast(total, u16, "bits")), index)), node(apply("mod", rest, const(2))), u8)
        return node(select(head, first, node(select(body, node(Cast(q, u8, "bits")), last))))

    def record_product(self, v: L.QuantizedDot, where: Positions) -> Steps:
        """The sum over pairs of records, each of which is exact up to its two products."""
        taken = frozenset[Any]().union(*(p.lanes for p in where))
        d = self.domains(v.left)[-2]
        group = self.axis(d, taken)
        g = self.position(d, group)
        taken |= {group}

        def word(side: Value, first: Any, count: int, d: DType) -> Steps:
            """`count` bytes from `first` on, the lowest first, as bits of `d`."""
            total: Any = None
            for k in range(count):
                byte = node(Cast((yield self.fitted(side, (*where, g, node(add(first, const(k)))))), u32))
                part = node(apply("shl", byte, const(8 * k, u32))) if k else byte
                total = part if total is None else node(apply("bit_or", total, part))
            raw = {1: u8, 2: u16, 4: u32}[count]
            return node(Cast(total if raw is u32 else node(Cast(total, raw)), d, "bits"))

        def integer(v: Any) -> Any:
            return node(Cast(v, i32))

        def six_bits(block: Any) -> Steps:
            """The scale and the minimum of a block of 32."""
            j = node(apply("mod", block, const(4)))
            low, middle, high = yield from _all(word(v.left, node(add(const(at), j)), 1, u8) for at in (4, 8, 12))
            low, middle, high = map(integer, (low, middle, high))
            early = node(lt(block, const(4)))
            made = []
            for own, rest in ((low, _and(high, 15)), (middle, _shr(high, 4))):
                late = node(apply("bit_or", rest, node(apply("shl", _shr(own, 6), const(4, i32)))))
                made.append(node(select(early, _and(own, 63), late)))
            return made

        axis, i = self._over(MEMBERS, taken)
        block = node(apply("floordiv", i, const(32)))
        quarter, half = (node(apply(op, block, const(2))) for op in ("floordiv", "mod"))
        within = node(apply("mod", i, const(32)))
        at = node(add(const(16), node(add(node(mul(quarter, const(32))), within))))
        nibbles = integer((yield from word(v.left, at, 1, u8)))
        q4 = _and(node(apply("shr", nibbles, node(mul(node(Cast(half, i32)), const(4, i32))))), 15)
        q8 = integer((yield from word(v.right, node(add(const(4), i)), 1, i8)))
        scale, _ = yield from six_bits(block)
        total = _sum(axis, node(mul(node(mul(scale, q4)), q8)))
        axis, i = self._over(SUMMED, taken)
        _, minimum = yield from six_bits(node(apply("floordiv", i, const(2))))
        summed = integer((yield from word(v.right, node(add(const(4 + MEMBERS), node(mul(i, const(2))))), 2, i16)))
        least = _sum(axis, node(mul(minimum, summed)))
        other = yield from word(v.right, const(0), 4, f32)
        parts = []
        for first, whole in ((0, total), (2, least)):
            factor = node(Cast((yield from word(v.left, const(first), 2, f16)), f32))
            parts.append(node(mul(node(mul(factor, other)), node(Cast(whole, f32)))))
        return _sum(group, node(sub(*parts)))


def _sum(axis: Axis, v: Any) -> Any:
    return node(Reduce(axis, builtin("sum", v.type), (v,), (identity("sum", v.type),)))


def _all(steps: Iterable[Steps]) -> Steps:
    """The results of several steps."""
    found = []
    for one in steps:
        found.append((yield from one))
    return found


def _and(v: Value, mask: int) -> Any:
    return node(apply("bit_and", v, const(mask, i32)))


def _shr(v: Value, count: int) -> Any:
    return node(apply("shr", v, const(count, i32)))


def _byte(bits: Value, number: Any, d: DType) -> Any:
    """Byte `number` of an integer, the lowest first; asked for where there is one."""
    inside = node(apply("minimum", node(apply("maximum", number, const(0))), const(3)))
    shifted = node(apply("shr", bits, node(mul(inside, const(8)))))
    return node(Cast(node(apply("bit_and", shifted, const(255))), d))


def _larger() -> Combine:
    """Of two sizes the larger, with its place and its number: the first of equals."""
    dtypes = f32, index, f32
    a, b = ([Arg(side, k, d) for k, d in enumerate(dtypes)] for side in "ab")
    tie = node(apply("and", node(apply("eq", a[0], b[0])), node(lt(b[1], a[1]))))
    later: Any = node(apply("or", node(lt(a[0], b[0])), tie))
    bodies = tuple(node(select(later, y, x)) for x, y in zip(a, b, strict=True))
    return named(Combine(dtypes, bodies), "larger")  # type: ignore[no-any-return]


__all__ = ["RecordLowering"]
