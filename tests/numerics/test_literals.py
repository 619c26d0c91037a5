"""Constants round as arrays do, and are refused where they are out of range or of another kind."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.numerics import cast, fits, invalid_cast, literal
from intent_np.terms.dtypes import DTYPES, DType, bool_, f8e4m3fn, f16, f32, f64, i8, u64

from .oracle import same

FLOATS = [d for d in DTYPES.values() if d.is_float]


@given(st.floats(), st.sampled_from(FLOATS))
def test_float_constants_round_as_arrays_do(value: float, dtype: DType) -> None:
    array = cast(np.array(value), dtype, f64)
    if fits(value, dtype):
        assert same(literal(value, dtype), array.astype(np.float64))
        assert isinstance(literal(value, dtype), float)
    else:
        assert np.isinf(array.astype(np.float64)) or invalid_cast(np.array(value), dtype, f64)


@given(st.floats(allow_nan=False, width=64))
def test_f32_and_f16_constants_agree_with_struct(value: float) -> None:
    for dtype, code in ((f32, "<f"), (f16, "<e")):
        if math.isinf(value):
            continue
        try:
            want = struct.unpack(code, struct.pack(code, value))[0]
        except OverflowError:
            assert not fits(value, dtype)
        else:
            assert same(literal(value, dtype), want)


@given(st.integers(-(2**70), 2**70), st.sampled_from(list(DTYPES.values())))
def test_integer_constants(value: int, dtype: DType) -> None:
    if dtype is bool_:
        assert not fits(value, dtype)
    elif dtype.is_float:
        limit = {"f16": 65520, "f8e4m3fn": 464, "f8e5m2": 61440}.get(dtype.name, 2**99)
        assert fits(value, dtype) == (abs(value) < limit)
        if dtype in (f32, f64) and abs(value) < 2**53:
            assert literal(value, dtype) == float(np.dtype("f4" if dtype is f32 else "f8").type(value))
    else:
        assert fits(value, dtype) == (dtype.range[0] <= value <= dtype.range[1])


def test_integers_round_to_floats_once() -> None:
    assert literal(2**24 + 1, f32) == 2.0**24
    assert literal(2**62 + 2**38 + 1, f32) == 2.0**62 + 2.0**39  # f64 would first round to the tie
    assert literal(0, f32) == 0.0
    assert math.copysign(1, float(literal(-0.0, f16))) == -1


def test_refusals_name_the_value_and_the_type() -> None:
    with pytest.raises(OverflowError, match=r"128 is outside the range of i8, \[-128, 127\]"):
        literal(128, i8)
    with pytest.raises(OverflowError, match=r"1e\+39 is outside the range of f32"):
        literal(1e39, f32)
    with pytest.raises(OverflowError, match="inf is outside the range of f8e4m3fn"):
        literal(math.inf, f8e4m3fn)
    with pytest.raises(OverflowError, match="-1 is outside"):
        literal(-1, u64)
    for value, dtype in ((True, i8), (1, bool_), (1.0, i8), (False, f32)):
        with pytest.raises(TypeError, match=f"{value!r} is not a {dtype} constant"):
            literal(value, dtype)
