"""Integers: floor division of every sign, wrapping, conversions out of range; where NumPy has it, NumPy decides."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

LEAST, MOST = -(2**31), 2**31 - 1


@intent.kernel
def divisions(a: I.In[I.i32, ("N",)], b: I.In[I.i32, ("N",)], y: I.Out[I.i32, (3, "N")]):
    y[0, :] = a[:] // b[:]
    y[1, :] = a[:] % b[:]
    y[2, :] = I.ceil_div(a[:], b[:])


@intent.kernel
def scalar_divisions(a: I.In[I.i32, ("N",)], b: I.In[I.i32, ("N",)], y: I.Out[I.i32, (3, "N")]):
    for i in I.parallel(I.domain(0, a.shape[0])):
        y[0, i] = a[i] // b[i]
        y[1, i] = a[i] % b[i]
        y[2, i] = I.ceil_div(a[i], b[i])


@pytest.mark.parametrize("kernel", [divisions, scalar_divisions], ids=lambda k: k.name)
def test_division_floors_for_every_pair_of_signs(everywhere, kernel):
    rng = np.random.default_rng(0)
    a = np.append(np.int32([-7, 7, -7, 7, -36, 24, MOST, LEAST, LEAST, 0, -1]), rng.integers(LEAST, MOST, 40, np.int32))
    b = np.append(np.int32([2, -2, -2, 2, 5, 10, 2, 3, LEAST, -5, MOST]), rng.integers(-99, -1, 40, np.int32))
    y = np.zeros((3, len(a)), np.int32)
    everywhere(kernel, a, b, y)
    assert y[0, :4].tolist() == [-4, -4, 3, 3]
    assert y[1, :4].tolist() == [1, -1, -1, 1]
    assert y[2, 4:7].tolist() == [-7, 3, 2**30]
    np.testing.assert_array_equal(y[0], a // b)
    np.testing.assert_array_equal(y[1], a % b)
    np.testing.assert_array_equal(y[2], [-(-int(p) // int(q)) for p, q in zip(a, b, strict=True)])


@intent.kernel
def by_literals(a: I.In[I.i32, ("N",)], y: I.Out[I.i32, (4, "N")]):
    y[0, :] = a[:] // 5
    y[1, :] = a[:] % -5
    y[2, :] = I.ceil_div(a[:], 10)
    y[3, :] = I.ceil_div(a[:] * 2, 20)


def test_division_by_a_literal_does_not_overflow_in_a_rewrite(everywhere):
    a = np.int32([-36, 36, 24, 23, MOST, MOST - 4, LEAST, LEAST + 1, -1, 0])
    y = np.zeros((4, len(a)), np.int32)
    everywhere(by_literals, a, y)
    wide, doubled = a.astype(object), (a * np.int32(2)).astype(object)
    np.testing.assert_array_equal(y, np.stack([wide // 5, wide % -5, -(-wide // 10), -(-doubled // 20)]).astype(int))


@intent.kernel
def extent_division(x: I.In[I.i8, ("N",)], y: I.Out[I.i8, ("cdiv(N, 10)",)]):
    y[:] = I.zeros(y.shape, I.i8) + 3


def test_ceiling_of_24_by_10_is_3(everywhere):
    y = np.zeros(3, np.int8)
    everywhere(extent_division, np.zeros(24, np.int8), y)
    assert y.tolist() == [3, 3, 3]


@intent.kernel
def ramp(b: I.i32, y: I.Out[I.i32, ("N",)]):
    y[:] = (b + I.cast(I.indices(I.domain(0, y.shape[0])), I.i32)) % 20


def test_the_remainder_of_a_ramp_wraps_inside_it(everywhere):
    y = np.zeros(8, np.int32)
    everywhere(ramp, 16, y)
    assert y.tolist() == [16, 17, 18, 19, 0, 1, 2, 3]


@intent.kernel
def remainder_alone(x: I.In[I.i32, ("N",)], d: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = x[:] % d[:]


@intent.kernel
def remainder_and_quotient(
    x: I.In[I.i32, ("N",)], d: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], q: I.Out[I.i32, ("N",)]
):
    q[:] = x[:] // d[:]
    y[:] = x[:] % d[:]


def test_a_remainder_by_zero_is_invalid_and_the_same_in_company(found):
    x, d = np.int32([2, -2, 0]), np.zeros(3, np.int32)
    y, q = np.zeros(3, np.int32), np.zeros(3, np.int32)
    assert found(remainder_alone, x, d, y) == ["E507"]
    assert found(remainder_and_quotient, x, d, y, q) == ["E507", "E507"]
    for target in ("reference", "cpu"):
        alone, beside = np.full(3, 9, np.int32), np.full(3, 8, np.int32)
        intent.compile(remainder_alone, target=target)(x, d, alone)
        intent.compile(remainder_and_quotient, target=target)(x, d, beside, q)
        np.testing.assert_array_equal(alone, beside)


@intent.kernel
def guarded(x: I.In[I.i32, ("N",)], d: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = I.select(d[:] == 0, 0, x[:] // d[:])


def test_a_guarded_division_never_traps(everywhere):
    y = np.ones(4, np.int32)
    everywhere(guarded, np.int32([6, -7, 0, 5]), np.int32([2, 2, 0, 0]), y)
    assert y.tolist() == [3, -4, 0, 0]


@intent.kernel
def least_by_minus_one(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], r: I.Out[I.i32, ("N",)]):
    y[:] = x[:] // -1
    r[:] = x[:] % -1


def test_the_least_integer_by_minus_one_is_an_invalid_quotient_with_remainder_0(found):
    x, y, r = np.int32([LEAST, 5]), np.zeros(2, np.int32), np.ones(2, np.int32)
    assert found(least_by_minus_one, x, y, r) == ["E507"]
    intent.compile(least_by_minus_one, target="cpu")(x, y, r)
    assert y[1] == -5
    assert r.tolist() == [0, 0]


@intent.kernel
def complements(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (3, "N")]):
    y[0, :] = -x[:] - 1
    y[1, :] = ~x[:]
    y[2, :] = I.abs(x[:])


def test_minus_x_minus_1_is_the_complement_at_the_least_integer_too(everywhere):
    x = np.int32([LEAST, LEAST + 1, -1, 0, 1, MOST])
    y = np.zeros((3, 6), np.int32)
    everywhere(complements, x, y)
    np.testing.assert_array_equal(y[0], [MOST, MOST - 1, 0, -1, -2, LEAST])
    np.testing.assert_array_equal(y[1], y[0])
    assert y[2].tolist() == [LEAST, MOST, 1, 0, 1, MOST]


@intent.kernel
def sums(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (1,)], wide: I.Out[I.i64, (1,)]):
    y[0] = I.reduce.sum(x[:], axis=0)
    wide[0] = I.reduce.sum(x[:], axis=0, acc_dtype=I.i64)


def test_a_sum_wraps_in_its_accumulator_silently(everywhere):
    y, wide = np.ones(1, np.int32), np.ones(1, np.int64)
    everywhere(sums, np.full(128, 2**30, np.int32), y, wide)
    assert (y[0], wide[0]) == (0, 137438953472)


@intent.kernel
def truncations(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = I.cast(x[:], I.i32)


@intent.kernel
def saturations(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, ("N",)], b: I.Out[I.u8, ("N",)]):
    y[:] = I.saturate_cast(x[:], I.i32)
    b[:] = I.saturate_cast(x[:], I.u8)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e9, -3e9, 2.0**31])
def test_a_cast_out_of_range_is_invalid(found, value):
    assert found(truncations, np.float32([1.5, value]), np.zeros(2, np.int32)) == ["E508"]


def test_casts_in_range_truncate_and_saturating_ones_clamp(everywhere):
    x = np.float32([1.9, -1.9, -0.0, 2147483520.0, -2147483648.0])
    y = np.zeros(5, np.int32)
    everywhere(truncations, x, y)
    assert y.tolist() == [1, -1, 0, 2147483520, LEAST]
    x = np.float32([np.inf, -np.inf, np.nan, 3e9, -3e9])
    y, b = np.ones(5, np.int32), np.ones(5, np.uint8)
    everywhere(saturations, x, y, b)
    assert y.tolist() == [MOST, LEAST, 0, MOST, LEAST]
    assert b.tolist() == [255, 0, 0, 255, 0]


@intent.kernel
def shifts(x: I.In[I.i8, ("N",)], n: I.In[I.i8, ("N",)], y: I.Out[I.i8, (2, "N")]):
    y[0, :] = x[:] << n[:]
    y[1, :] = x[:] >> n[:]


def test_shifts_inside_the_width_are_exact_and_others_invalid(everywhere, found):
    x, n = np.int8([-128, -1, 127, 1, 64]), np.int8([7, 3, 1, 7, 1])
    y = np.zeros((2, 5), np.int8)
    everywhere(shifts, x, n, y)
    assert y.tolist() == [[0, -8, -2, -128, -128], [-1, -1, 63, 0, 32]]
    for outside in (8, -1):
        assert found(shifts, x, np.full(5, outside, np.int8), y) == ["E507", "E507"]
