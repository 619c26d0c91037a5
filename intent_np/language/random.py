"""Random numbers that are functions of a seed and a counter: Philox4x32-10, the same on every target."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import f32, u32, u64
from intent_np.terms.index import Value

from .context import capture, fail
from .declare import intrinsic, member_of
from .elaborate import Operand, convert, is_literal, select
from .elaborate import pointwise as apply
from .elaborate import value as term

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)


@intrinsic
def random() -> None:
    """Random numbers of a seed and a counter, each an integer scalar or tensor that is taken as u64: `I.random.bits`,
    `uniform`, `normal`.  They hang on nothing else, and are the same on every target."""
    raise fail("E113", name="I.random", signature="I.random.bits(seed, counter)", found="no distribution")


def _wide(v: Operand) -> Value:
    if isinstance(v, int) and -(2**63) <= v < 0:  # an index that is known wraps as any other does
        return term(v % 2**64, u64)
    return term(v, u64) if is_literal(v) else convert(v, u64)


def _high(v: Any) -> Value:
    """The upper half of a u64, as u32."""
    return convert(apply("shr", v, 32), u32)


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[Any, Any]) -> tuple[Any, Any, Any, Any]:
    """Ten rounds over four counter words and two key words, all u32.

    Only the products are wider: a machine has one instruction for the upper word of a product of two words, and a
    compiler sees that neighbours count in one block where words are words."""
    (a, b, c, d), (k, l) = counter, key
    for _ in range(10):
        first, second = (_high(apply("mul", convert(v, u64), m)) for v, m in zip((a, c), MULTIPLIERS, strict=True))
        low = [apply("mul", v, term(m, u32)) for v, m in zip((a, c), MULTIPLIERS, strict=True)]
        a, b = apply("bit_xor", apply("bit_xor", second, b), k), low[1]
        c, d = apply("bit_xor", apply("bit_xor", first, d), l), low[0]
        k, l = apply("add", k, term(WEYL[0], u32)), apply("add", l, term(WEYL[1], u32))
    return a, b, c, d


@member_of(random)
def _bits(seed: Operand, counter: Operand) -> Value:
    """32 random bits as u32: word n % 4 of what Philox4x32-10 makes of the block n // 4, where n is the counter.  The
    four words that it counts with are those of the block, low and high, 0 and 0; its key is the seed, low and high."""
    if capture().pure:
        raise fail("E306", effect="I.random.bits", found=capture().pure)
    s, n = _wide(seed), _wide(counter)
    block, zero = apply("shr", n, 2), term(0, u32)
    words = philox((convert(block, u32), _high(block), zero, zero), (convert(s, u32), _high(s)))
    which = apply("bit_and", n, 3)
    found: Any = words[3]
    for k in (2, 1, 0):
        found = select(apply("eq", which, k), words[k], found)
    return found  # type: ignore[no-any-return]


def _unit(bits: Value, first: float) -> Value:
    """The upper 24 bits as f32 steps of 2^-24 from `first` steps on."""
    steps = convert(apply("shr", bits, 8), f32)
    return apply("mul", apply("add", steps, first) if first else steps, 2.0**-24)


@member_of(random)
def _uniform(seed: Operand, counter: Operand) -> Value:
    """f32 in [0, 1): the upper 24 of the bits, times 2^-24."""
    return _unit(_bits.meaning(seed, counter), 0.0)


@member_of(random)
def _normal(seed: Operand, counter: Operand) -> Value:
    """f32 of the standard normal distribution, by Box and Muller: sqrt(-2 log u) cos(2 pi v), where v is the uniform
    number of counter 2n + 1, and u that of 2n, 2^-24 more, so that it is not 0."""
    n = apply("mul", _wide(counter), 2)
    u = _unit(_bits.meaning(seed, n), 1.0)
    v = _unit(_bits.meaning(seed, apply("add", n, 1)), 0.0)
    radius = apply("sqrt", apply("mul", apply("log", u), -2.0))
    return apply("mul", radius, apply("cos", apply("mul", v, float.fromhex("0x1.921fb6p+2"))))
