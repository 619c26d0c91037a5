"""The functions that generated modules define mean what the language says, and divide only where that is defined.

They are run on NumPy arrays with Triton's arithmetic: `//` and `%` truncate, conversions wrap or round to nearest.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from intent_np.backends.triton.support import SUPPORT
from intent_np.numerics import apply, cast, invalid, invalid_cast, saturate_cast, storage
from intent_np.terms.dtypes import DTYPES, DType, bf16, f8e5m2, f16, f32, f64, i8, i16, i32, i64, u8, u32, u64
from intent_np.terms.operators import OPERATORS

TYPES = {
    "int8": i8, "int16": i16, "int32": i32, "int64": i64, "uint8": u8, "uint16": DTYPES["u16"], "uint32": u32,
    "uint64": u64, "float16": f16, "bfloat16": bf16, "float32": f32, "float64": f64, "float8e5": f8e5m2,
}  # fmt: skip


class Lanes(np.ndarray):
    """An array with Triton's `//`, `%` and `.to`."""

    element: DType

    def __floordiv__(self, other: Any) -> Any:
        self._defined(other)
        remainder = np.fmod(self, other)
        return np.floor_divide(np.subtract(self, remainder), other)

    def __mod__(self, other: Any) -> Any:
        self._defined(other)
        return np.fmod(self, other)

    def _defined(self, other: Any) -> None:
        assert not np.any(other == 0), "divides by zero"
        if self.dtype.kind == "i":
            assert not np.any((np.asarray(self) == np.iinfo(self.dtype).min) & (np.asarray(other) == -1)), "overflows"

    def to(self, dtype: DType, bitcast: bool = False) -> Lanes:
        plain = np.asarray(self)
        if bitcast:
            return plain.view(storage(dtype)).view(Lanes)
        with np.errstate(all="ignore"):
            if plain.dtype == storage(f16) and dtype is f8e5m2:
                raise AssertionError("not used: differs between devices")
            source = next(d for d in TYPES.values() if storage(d) == plain.dtype)
            return cast(plain, dtype, source).view(Lanes)


def where(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        x, y = np.int32(x), np.int32(y)  # Triton's dtype of small literals
    return np.where(condition, x, y).view(Lanes)


TL = SimpleNamespace(where=where, abs=np.abs, constexpr=None, **TYPES)
FUNCTIONS: dict[str, Any] = {}
exec("\n".join(SUPPORT.values()), {"tl": TL, "libdevice": None}, FUNCTIONS)


def run(name: str, *operands: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[name](*operands))


def pairs(dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of 8-bit integers; extremes and random ones of wider types."""
    least, most = dtype.range
    if dtype.bits == 8:
        values = np.arange(least, most + 1).astype(storage(dtype))
    else:
        rng = np.random.default_rng(0)
        ends = [v for c in (least, 0, most) for v in range(c - 3, c + 4) if least <= v <= most]
        values = np.concatenate([np.array(ends, storage(dtype)), rng.integers(least, most, 99, storage(dtype))])
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


DIVISIONS = {"floor_div": "floordiv", "floor_mod": "mod", "ceil_div": "ceil_div"}


@pytest.mark.parametrize("dtype", [i8, i16, i32, i64], ids=repr)
@pytest.mark.parametrize(("function", "name"), DIVISIONS.items())
def test_signed_division(function: str, name: str, dtype: DType) -> None:
    a, b = pairs(dtype)
    valid = ~invalid(OPERATORS[name], a, b, dtype=dtype)
    got = run(function, a.view(Lanes), b.view(Lanes))
    assert got.dtype == storage(dtype)
    assert np.array_equal(got[valid], apply(OPERATORS[name], a, b, dtype=dtype)[valid])


@pytest.mark.parametrize("dtype", [u8, u32, u64, i8], ids=repr)
def test_division_of_natural_numbers(dtype: DType) -> None:
    a, b = pairs(dtype)
    a, b = a[(a >= 0) & (b >= 0)], b[(a >= 0) & (b >= 0)]
    valid = b != 0
    got = run("ceil_div_natural", a.view(Lanes), b.view(Lanes))
    assert np.array_equal(got[valid], apply(OPERATORS["ceil_div"], a, b, dtype=dtype)[valid])
    assert np.array_equal(run("nonzero", b.view(Lanes)), np.where(b == 0, 1, b))


@pytest.mark.parametrize("dtype", [i8, i64, u8, u64], ids=repr)
@pytest.mark.parametrize("source", [f32, f64], ids=repr)
def test_saturation_to_integers(source: DType, dtype: DType) -> None:
    least, most = (float(v) for v in dtype.range)
    x = [v * s for v in (least, most, 1.0) for s in (0, 0.5, 0.999, 1, 1.001, 2, 1e30)]
    x = cast(np.array([*x, *[-v for v in x], least - 0.5, most + 0.5, np.nan, np.inf, -np.inf]), source, f64)
    got = run("saturate", x.view(Lanes), dtype, *dtype.range)
    assert np.array_equal(got, saturate_cast(x, dtype, source))


def test_f32_to_e5m2_rounds_once_and_overflows_to_infinity() -> None:
    codes = np.arange(0, 2**32, 40_009, dtype=np.uint64).astype(np.uint32)
    ties = (np.arange(2**16, dtype=np.uint32) << 16)[:, None] + np.array([0, 1, 0xFFFF], np.uint32)
    with np.errstate(all="ignore"):
        x = np.concatenate([codes, ties.ravel()]).view(np.float32)
        got = run("to_float8e5_portable", x.view(Lanes)).astype(np.float32)
        assert np.array_equal(got, cast(x, f8e5m2, f32).astype(np.float32), equal_nan=True)


def test_e5m2_is_the_upper_byte_of_f16() -> None:
    x = np.arange(256, dtype=np.uint8).view(storage(f8e5m2))
    got = run("from_float8e5_portable", x.view(Lanes))
    assert np.array_equal(got, cast(x, f16, f8e5m2), equal_nan=True)


@pytest.mark.parametrize("dtype", [bf16, f16, f8e5m2], ids=repr)
def test_f64_rounds_to_odd(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    near = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64) if dtype is not bf16 else None
    x = rng.integers(0, 2**64, 20_000, np.uint64).view(np.float64)
    ties = (1 + np.arange(256) / 256)[:, None] * 2.0 ** rng.integers(-150, 128, 20)
    x = np.concatenate([x, ties.ravel(), ties.ravel() * (1 + 2.0**-50), ties.ravel() * (1 - 2.0**-50)])
    x = np.concatenate([x, -x, [0.0, np.inf, np.nan]] + ([] if near is None else [near]))
    with np.errstate(all="ignore"):
        got = cast(run("round_to_odd", x.view(Lanes)), dtype, f32)
        assert np.array_equal(got.astype(np.float64), cast(x, dtype, f64).astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("dtype", [i64, u64], ids=repr)
def test_wide_integers_round_to_bf16_once(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    least, most = dtype.range
    x = rng.integers(least, most, 500, storage(dtype)) >> rng.integers(0, 60, 500).astype(storage(dtype))
    ties = [((257 + 2 * k) << s) + d for k in range(40) for s in range(54) for d in (-1, 0, 1)]
    signed = [sign * t for t in ties for sign in (1, -1)]
    x = np.concatenate([x, np.array([t for t in signed if least <= t <= most], storage(dtype))])
    assert not invalid_cast(x, bf16, dtype).any()
    assert np.array_equal(run("int_to_bfloat16", x.view(Lanes)), cast(x, bf16, dtype))


def test_sign_and_nan() -> None:
    x = np.array([0.0, -0.0, 2.0, -2.0, np.nan, np.inf, -np.inf], np.float32)
    got, want = run("sign", x.view(Lanes)), apply(OPERATORS["sign"], x, dtype=f32)
    assert np.array_equal(got.view(np.uint32)[:4], want.view(np.uint32)[:4])
    assert np.array_equal(got, want, equal_nan=True)
    assert run("is_nan", x.view(Lanes)).tolist() == [False] * 4 + [True] + [False] * 2
