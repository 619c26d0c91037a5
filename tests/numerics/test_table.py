"""Every operator has a meaning on every element type that it accepts, of the right type, without a warning."""

from __future__ import annotations

import numpy as np
import pytest

from intent_np.numerics import apply, computing, distance, dtype_of, invalid, may_be_invalid, storage, ulp_bound
from intent_np.numerics.ulps import BOUNDS
from intent_np.terms.dtypes import DTYPES, DType, bf16, bool_, f8e4m3fn, f16, f32, f64, i8, i32
from intent_np.terms.operators import OPERATORS, Op, result_dtype

ROWS = [(op, d) for op in OPERATORS.values() for d in DTYPES.values() if op.accepts(d)]


def random(dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(0)
    if dtype is bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    return rng.integers(0, 256, (*shape, dtype.bytes), np.uint8).view(storage(dtype)).reshape(shape)


@pytest.mark.parametrize(("op", "dtype"), ROWS, ids=[f"{o}-{d}" for o, d in ROWS])
def test_every_operator_accepts_any_bits(op: Op, dtype: DType) -> None:
    arity = op.arity if op.arity > 0 else 3
    shapes: list[tuple[int, ...]] = [(5, 1), (1, 7), (5, 7)]
    operands = [random(bool_ if op.name == "select" and k == 0 else dtype, shapes[k]) for k in range(arity)]
    with np.errstate(all="raise"):
        got = apply(op, *operands, dtype=dtype)
        poison = invalid(op, *operands, dtype=dtype)
    types = tuple(bool_ if op.name == "select" and k == 0 else dtype for k in range(arity))
    assert isinstance(got, np.ndarray)
    assert got.dtype == storage(result_dtype(op, types))
    assert got.shape == np.broadcast_shapes(*(o.shape for o in operands))
    assert poison.dtype == np.bool_
    assert poison.shape == (got.shape if may_be_invalid(op, dtype) else ())


@pytest.mark.parametrize(("op", "dtype"), ROWS, ids=[f"{o}-{d}" for o, d in ROWS])
def test_an_operator_that_may_be_invalid_is_so_somewhere(op: Op, dtype: DType) -> None:
    if may_be_invalid(op, dtype):
        codes = np.arange(256, dtype=np.uint8)
        if dtype.bits > 8:
            least, most = dtype.range
            codes = np.array([least, least + 1, most, 0, 1, most // 2], storage(dtype))
        values = codes if dtype.bits > 8 else codes.view(storage(dtype))
        operands = [
            values.reshape([-1 if k == axis else 1 for k in range(op.arity)]) for axis in range(min(op.arity, 2))
        ]
        operands += [values[:1]] * (op.arity - 2)
        lanes = invalid(op, *operands, dtype=dtype)
        assert lanes.any()
        assert not lanes.all()


@pytest.mark.parametrize("op", [o for o in OPERATORS.values() if o.accepts(f8e4m3fn) and o.result == "same"], ids=repr)
def test_f8e4m3fn_is_invalid_only_where_the_table_says_that_it_may_be(op: Op) -> None:
    """Every pair of codes: the exact result rounds below 464, or is no number, wherever nothing is said."""
    if op.arity <= 2 and not may_be_invalid(op, f8e4m3fn):
        codes = np.arange(256, dtype=np.uint8).view(storage(f8e4m3fn)).astype(np.float32)
        operands = (codes,) if op.arity == 1 else tuple(np.meshgrid(codes, codes))
        assert not (np.abs(apply(op, *operands, dtype=f32)) >= 464).any()


def test_types_and_storage_are_inverse_but_for_index() -> None:
    for dtype in DTYPES.values():
        assert dtype_of(storage(dtype)) is (DTYPES["i64"] if dtype.name == "index" else dtype)
        assert storage(dtype).itemsize == dtype.bytes
    for foreign in ("complex64", "U3", ">i4", "datetime64[s]"):
        with pytest.raises(TypeError, match="no element type"):
            dtype_of(np.dtype(foreign))
    assert [computing(d) for d in (f16, bf16, f8e4m3fn, f32, f64, i8)] == [f32, f32, f32, f32, f64, i8]


def test_bounds_follow_the_type() -> None:
    assert set(BOUNDS) <= set(OPERATORS)
    assert ulp_bound(OPERATORS["exp"], f32) == 2
    assert ulp_bound(OPERATORS["erfc"], f64) == 5
    assert ulp_bound(OPERATORS["erfc"], f16) == 1
    assert ulp_bound(OPERATORS["tanh_approx"], f16) == 2
    assert ulp_bound(OPERATORS["add"], f32) == ulp_bound(OPERATORS["fma"], f16) == 0.5
    assert ulp_bound(OPERATORS["add"], i32) == ulp_bound(OPERATORS["lt"], f32) == 0


@pytest.mark.parametrize("dtype", [f16, f32, f64, f8e4m3fn], ids=repr)
def test_distance_counts_representable_values(dtype: DType) -> None:
    to = storage(dtype)
    one, zero, nan = (np.array(v).astype(to) for v in (1.0, 0.0, np.nan))
    bits = np.dtype(f"u{dtype.bytes}")
    up = (one.view(bits) + np.array(3, bits)).view(to)
    assert distance(one, up, dtype) == distance(up, one, dtype) == 3
    assert distance(zero, -zero, dtype) == 0
    tiny = np.array(1, bits).view(to)
    assert distance(tiny, -tiny, dtype) == 2
    assert distance(nan, nan, dtype) == 0
    assert np.isinf(distance(nan, one, dtype))
    assert distance(one, -one, dtype) == 2 * float(one.view(bits))
