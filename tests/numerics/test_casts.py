"""Casts agree with the definitions of the formats: every narrow code, every rounding boundary, every range end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from intent_np.numerics import FORMATS, bitcast, cast, invalid_cast, saturate_cast, storage
from intent_np.numerics.casts import about
from intent_np.numerics.invalidity import about_cast
from intent_np.numerics.storage import Array, bits
from intent_np.terms.dtypes import (
    DTYPES,
    DType,
    bf16,
    bool_,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    u8,
    u32,
    u64,
)

from .oracle import decode, nearest, patterns, same

FLOATS = [d for d in DTYPES.values() if d.is_float]
INTEGERS = [d for d in DTYPES.values() if d.is_integer]
NARROW = [f16, bf16, f8e4m3fn, f8e5m2]


def codes(dtype: DType) -> Array:
    return np.arange(2**dtype.bits, dtype=np.uint32).astype(bits(dtype))


@pytest.mark.parametrize("dtype", NARROW, ids=repr)
@pytest.mark.parametrize("dst", [f32, f64], ids=repr)
def test_every_code_widens_to_its_value_and_back(dtype: DType, dst: DType) -> None:
    x = codes(dtype).view(storage(dtype))
    wide = cast(x, dst, dtype)
    assert same(wide, np.array([decode(int(c), dtype) for c in codes(dtype)])).all()
    back = cast(wide, dtype, dst)
    assert (same(cast(back, dst, dtype), wide)).all()


@pytest.mark.parametrize("dtype", NARROW, ids=repr)
@pytest.mark.parametrize("src", [f32, f64], ids=repr)
def test_narrowing_rounds_once_at_every_boundary(dtype: DType, src: DType) -> None:
    values = np.array([decode(int(c), dtype) for c in codes(dtype)[: 2 ** (dtype.bits - 1)]])
    values = np.unique(values[np.isfinite(values)])
    middle = (values[:-1] + values[1:]) / 2
    top = values[-1] + (values[-1] - values[-2]) / 2
    middle = np.append(middle, top)
    if dtype.bits == 16:
        middle = middle[:: 7 if src is f32 else 11]
    x = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, 0)])
    if src is f32:
        down, up = np.float32(0), np.float32(np.inf)
        near = middle.astype(np.float32)
        x = np.concatenate([near, np.nextafter(near, up), np.nextafter(near, down)]).astype(np.float64)
    x = np.concatenate([x, -x])
    x = x[np.abs(x) < 464] if dtype is f8e4m3fn else x
    got = cast(x.astype(storage(src)), dtype, src).astype(np.float64)
    want = [nearest(Fraction(v), dtype) if v else v for v in x.tolist()]
    want = [math.copysign(w, v) for w, v in zip(want, x.tolist(), strict=True)]
    assert same(got, np.array(want)).all()


@pytest.mark.parametrize("src", INTEGERS, ids=repr)
@pytest.mark.parametrize("dst", FLOATS, ids=repr)
def test_integers_round_once_to_floats(src: DType, dst: DType) -> None:
    least, most = src.range
    rng = np.random.default_rng(3)
    values = [least, least + 1, 0, 1, most - 1, most]
    values += [int(v) >> s for s in range(0, src.bits, 5) for v in rng.integers(least, most, 9, storage(src))]
    # ties of each precision, and one more or less
    ties = [(2**p + k) << s for p in (4, 5, 8, 9, 24, 25, 53, 54) for k in (1, 3) for s in (0, 3, 20)]
    values += [sign * (t + d) for t in ties for d in (-1, 0, 1) for sign in (1, -1)]
    values = [v for v in values if least <= v <= most]
    x = np.array(values, storage(src))
    valid = ~np.broadcast_to(invalid_cast(x, dst, src), x.shape)
    want = np.array([nearest(v, dst) for v in values])
    assert same(cast(x, dst, src).astype(np.float64), want)[valid].all()
    assert valid.tolist() == [dst is not f8e4m3fn or abs(v) < 464 for v in values]


@pytest.mark.parametrize("src", INTEGERS, ids=repr)
@pytest.mark.parametrize("dst", INTEGERS, ids=repr)
def test_integers_wrap_or_saturate_to_integers(src: DType, dst: DType) -> None:
    least, most = src.range
    values = [v for c in (0, *dst.range, least, most) for v in range(c - 2, c + 3) if least <= v <= most]
    x = np.array(values, storage(src))
    modulus, low = 2**dst.bits, dst.range[0]
    assert cast(x, dst, src).tolist() == [(v - low) % modulus + low for v in values]
    assert saturate_cast(x, dst, src).tolist() == [min(max(v, low), dst.range[1]) for v in values]
    assert not invalid_cast(x, dst, src).any()


@pytest.mark.parametrize("src", FLOATS, ids=repr)
@pytest.mark.parametrize("dst", INTEGERS, ids=repr)
def test_floats_truncate_to_integers_or_are_invalid(src: DType, dst: DType) -> None:
    ends = [float(e) + d for e in dst.range for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    x = np.concatenate([patterns(src, 300), cast(np.array(ends), src, f64)])
    with np.errstate(invalid="ignore"):
        values = x.astype(np.float64).tolist()
    least, most = dst.range
    valid = [math.isfinite(v) and least <= math.trunc(v) <= most for v in values]
    assert invalid_cast(x, dst, src).tolist() == [not v for v in valid]
    with np.errstate(all="raise"):
        got = cast(x, dst, src).tolist()
        clamped = saturate_cast(x, dst, src).tolist()
    for v, ok, g, c in zip(values, valid, got, clamped, strict=True):
        if ok:
            assert g == c == math.trunc(v)
        else:
            assert c == (0 if math.isnan(v) else most if v > 0 else least)


def test_saturating_to_integers_from_the_ends() -> None:
    x = np.array([math.inf, -math.inf, math.nan, 3e9, -3e9], np.float32)
    assert saturate_cast(x, i32, f32).tolist() == [2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31)]
    assert invalid_cast(x, i32, f32).all()


@pytest.mark.parametrize("dst", FLOATS, ids=repr)
def test_saturating_to_floats_stays_finite(dst: DType) -> None:
    largest = FORMATS[dst.name].largest
    x = np.array([math.inf, -math.inf, math.nan, 1e300, -1e300, 1.0, largest])
    got = saturate_cast(x, dst, f64).astype(np.float64)
    huge = 1e300 if dst is f64 else largest
    assert same(got, [largest, -largest, math.nan, huge, -huge, 1.0, largest]).all()
    if dst.bits <= 32:
        assert saturate_cast(np.array([math.inf], np.float32), f64, f32)[0] == np.finfo(np.float64).max
    assert saturate_cast(np.array([2**63 - 1]), dst, i64).astype(np.float64)[0] == min(float(2**63), largest)


def test_f8e4m3fn_is_valid_below_464() -> None:
    x = np.array([448.0, 463.9, 464.0, 1e9, math.inf, math.nan, -463.9, -464.0], np.float32)
    assert invalid_cast(x, f8e4m3fn, f32).tolist() == [False, False, True, True, True, False, False, True]
    assert cast(x, f8e4m3fn, f32).astype(np.float32)[[0, 1, 6]].tolist() == [448.0, 448.0, -448.0]
    assert np.isinf(cast(x[3:4], f8e5m2, f32).astype(np.float32)).all()


def representative(dtype: DType) -> Array:
    """Every value of the narrow types, patterns and ends of the others, and the middles between powers of two."""
    if dtype.is_float:
        return codes(dtype).view(storage(dtype)) if dtype.bits <= 16 else patterns(dtype, 3000)
    least, most = dtype.range
    values = [v for k in range(dtype.bits) for v in (2**k, 2**k - 1, 2**k + 1, 3 * 2**k, -(2**k), 1 - 2**k)]
    return np.array([v for v in [least, most, *values] if least <= v <= most], storage(dtype))


@pytest.mark.parametrize("src", [*FLOATS, *INTEGERS], ids=repr)
@pytest.mark.parametrize("dst", FLOATS, ids=repr)
def test_what_the_table_says_of_a_conversion_is_what_it_does(src: DType, dst: DType) -> None:
    x = representative(src)
    with np.errstate(all="ignore"):
        wide = x.astype(object) if not src.is_float else x.astype(np.float64)
        got = cast(x, dst, src).astype(np.float64)
        clamped = saturate_cast(x, dst, src).astype(np.float64)
        finite = np.isfinite(x.astype(np.float64))
        exact = np.array([g == w for g, w in zip(got[finite].tolist(), wide[finite].tolist(), strict=True)])
        differ = ~same(clamped, got) & ~np.isnan(x.astype(np.float64))
    text, saturated = about(dst, src), about(dst, src, "saturate")
    assert ("exact" in text) == bool(exact.all())
    assert ("infinity" in text) == bool(np.isinf(got[finite]).any())
    assert ("limited" in saturated) == bool(differ.any())
    assert bool(about_cast(dst, src)) == bool(invalid_cast(x, dst, src).any())


def test_bool_is_zero_or_one() -> None:
    for dtype in [*FLOATS, *INTEGERS]:
        x = np.array([0, 1, 3]).astype(storage(dtype))
        assert cast(x, bool_, dtype).tolist() == [False, True, True]
        assert cast(np.array([False, True]), dtype, bool_).astype(np.float64).tolist() == [0.0, 1.0]
    assert cast(np.array([0.5, -0.0, math.nan]), bool_, f64).tolist() == [True, False, True]


def test_bitcast_keeps_bits_and_needs_one_width() -> None:
    assert bitcast(np.array([1.0], np.float32), u32, f32).tolist() == [0x3F800000]
    assert bitcast(np.array([-1], np.int64), u64, i64).tolist() == [2**64 - 1]
    assert float(bitcast(np.array(0x38, np.uint8), f8e4m3fn, u8)) == 1.0
    for dst, src in ((i32, i8), (bool_, u8)):
        with pytest.raises(TypeError, match=f"bitcast from {src} to {dst}"):
            bitcast(np.zeros(1, storage(src)), dst, src)
