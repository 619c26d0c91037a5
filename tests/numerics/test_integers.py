"""Integer operators agree with Python's unbounded integers, wrapped, on every width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from intent_np.numerics import apply, invalid, storage
from intent_np.terms.dtypes import DTYPES, DType, bool_, i32
from intent_np.terms.operators import OPERATORS

INTEGERS = [d for d in DTYPES.values() if d.is_integer]

BINARY: dict[str, Callable[[int, int], int | bool]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceil_div": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "maximum": max,
    "minimum": min,
    "maximum_num": max,
    "minimum_num": min,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
}
UNARY: dict[str, Callable[[int], int]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sign": lambda a: (a > 0) - (a < 0),
    "bit_not": lambda a: ~a,
}


def wrapped(value: int, dtype: DType) -> int:
    value %= 2**dtype.bits
    return value - 2**dtype.bits if value > dtype.range[1] else value


def points(dtype: DType) -> list[int]:
    """All values of 8 bits; extremes, small numbers and random ones of wider types."""
    least, most = dtype.range
    if dtype.bits == 8:
        return list(range(least, most + 1))
    rng = np.random.default_rng(dtype.bits)
    near = [v for c in (least, 0, most, dtype.bits) for v in range(c - 3, c + 4) if least <= v <= most]
    drawn = [int(v) for v in rng.integers(least, most, 60, dtype=storage(dtype), endpoint=True)]
    return near + drawn + [int(v) >> (dtype.bits // 2) for v in drawn[:20]]


def is_invalid(name: str, a: int, b: int, dtype: DType) -> bool:
    if name in ("floordiv", "ceil_div", "mod"):
        return b == 0 or (name != "mod" and not dtype.range[0] <= a // b <= dtype.range[1])
    return name in ("shl", "shr") and not 0 <= b < dtype.bits


@pytest.mark.parametrize("dtype", INTEGERS, ids=repr)
@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_are_pythons_modulo_the_width(name: str, dtype: DType) -> None:
    values = points(dtype)
    column, row = np.array(values, storage(dtype))[:, None], np.array(values, storage(dtype))[None, :]
    with np.errstate(all="raise"):
        got = apply(OPERATORS[name], column, row, dtype=dtype)
        poison = np.broadcast_to(invalid(OPERATORS[name], column, row, dtype=dtype), got.shape)
    assert got.dtype == (np.bool_ if OPERATORS[name].result == "bool" else storage(dtype))
    for a, results, poisons in zip(values, got.tolist(), poison.tolist(), strict=True):
        for b, result, bad in zip(values, results, poisons, strict=True):
            assert bad == is_invalid(name, a, b, dtype), (a, b)
            if not bad:
                want = BINARY[name](a, b)
                assert result == (want if isinstance(want, bool) else wrapped(want, dtype)), (a, b)


@pytest.mark.parametrize("dtype", INTEGERS, ids=repr)
@pytest.mark.parametrize("name", UNARY)
def test_unary_operators_are_pythons_modulo_the_width(name: str, dtype: DType) -> None:
    values = points(dtype)
    with np.errstate(all="raise"):
        got = apply(OPERATORS[name], np.array(values, storage(dtype)), dtype=dtype)
    assert got.tolist() == [wrapped(UNARY[name](a), dtype) for a in values]


def test_floor_division_of_every_sign() -> None:
    a, b = np.array([-7, 7, -7, 7], np.int32), np.array([2, -2, -2, 2], np.int32)
    assert apply(OPERATORS["floordiv"], a, b, dtype=i32).tolist() == [-4, -4, 3, 3]
    assert apply(OPERATORS["mod"], a, b, dtype=i32).tolist() == [1, -1, -1, 1]
    a, b = np.array([-36, 24, 2**31 - 1], np.int32), np.array([5, 10, 2], np.int32)
    assert apply(OPERATORS["ceil_div"], a, b, dtype=i32).tolist() == [-7, 3, 2**30]


def test_division_by_zero_gives_the_same_value_alone_and_in_company() -> None:
    x, y = np.array([2, -2, 0], np.int32), np.zeros(3, np.int32)
    alone = apply(OPERATORS["mod"], x, y, dtype=i32)
    apply(OPERATORS["floordiv"], x, y, dtype=i32)
    assert np.array_equal(alone, apply(OPERATORS["mod"], x, y, dtype=i32))
    assert invalid(OPERATORS["mod"], x, y, dtype=i32).all()


def test_scalars_wrap_silently() -> None:
    with np.errstate(all="raise"):
        assert apply(OPERATORS["add"], np.int32(2**31 - 1), np.int32(1), dtype=i32) == -(2**31)
        assert apply(OPERATORS["neg"], np.int32(-(2**31)), dtype=i32) == -(2**31)


def test_connectives_take_any_number_of_operands() -> None:
    a, b, c = (np.array([(k >> i) & 1 for k in range(8)], np.bool_) for i in range(3))
    assert apply(OPERATORS["and"], a, b, c, dtype=bool_).tolist() == [False] * 7 + [True]
    assert apply(OPERATORS["or"], a, b, c, dtype=bool_).tolist() == [False] + [True] * 7
    assert apply(OPERATORS["not"], a, dtype=bool_).tolist() == [True, False] * 4
    assert apply(OPERATORS["bit_not"], a, dtype=bool_).tolist() == [True, False] * 4
