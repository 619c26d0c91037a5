"""Comparison is exact where rounding leaves no freedom, and otherwise as strict as the bound says."""

import math

import ml_dtypes
import numpy as np
import pytest

from intent_np.testing import Expected, compare, exact, ulps
from intent_np.testing import approx as A
from intent_np.testing.formats import FORMATS, numpy_dtype

CASTS = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "f8e5m2": ml_dtypes.float8_e5m2}


@pytest.mark.parametrize("name", CASTS)
def test_rounding_is_the_formats_own(name):
    f = FORMATS[name]
    rng = np.random.default_rng(0)
    # numbers of every magnitude that matters, those halfway between two neighbours, and the ends of the range
    x = rng.standard_normal(20000) * 2.0 ** rng.integers(f.lowest - 12, 15, 20000)
    halves = f.round(x) + f.spacing(f.round(x)) / 2
    ends = [0.0, -0.0, f.largest, f.largest * (1 + f.unit / 4), np.inf, -np.inf, np.nan]
    x = np.concatenate([x, halves, ends])
    with np.errstate(all="ignore"):
        wide = x if name in ("f16", "f32") else x.astype("f4")  # ml_dtypes rounds doubles to f32 first
        reference = wide.astype(CASTS[name]).astype("f8")
    assert np.array_equal(f.round(wide.astype("f8")), reference, equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_spacing_is_the_distance_to_the_next_number(name):
    f, dtype = FORMATS[name], numpy_dtype(name)
    numbers = np.arange(1, 2 ** min(8 * dtype.itemsize - 1, 12)).astype(f"u{dtype.itemsize}").view(dtype).astype("f8")
    numbers = numbers[np.isfinite(numbers)]
    assert np.array_equal(np.diff(numbers), f.spacing(numbers[:-1]))
    assert f.spacing(np.float64(0)) == numbers[0]


def test_equal_is_within_every_bound():
    x = np.array([1.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    assert compare(x, Expected(x.astype("f8"), 0.0, signed_zeros=True))


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (1.0, np.nextafter(np.float32(1), np.float32(2))),
        (np.nan, 1.0),
        (1.0, np.nan),
        (np.inf, 1.0),
        (np.inf, -np.inf),
        (65504.0, np.inf),
    ],
)
def test_without_a_bound_only_the_same_number_will_do(got, expected):
    outcome = compare(np.array([0, got], np.float32), Expected(np.array([0, expected], "f8")))
    assert not outcome
    assert outcome.where == (1,)
    assert outcome.max_ratio == math.inf
    assert "1 of 2 elements wrong, worst at (1,)" in outcome.message


def test_a_bound_is_the_largest_error_that_passes():
    value, bound = np.array([1.0, 100.0]), np.array([0.25, 1.0])
    assert compare(np.array([1.25, 99.0], np.float32), Expected(value, bound)).max_ratio == 1.0
    assert not compare(np.array([1.25, 98.75], np.float32), Expected(value, bound))
    assert compare(np.array([1.0, 100.5], np.float32), Expected(value, bound)).max_error == 0.5


def test_infinities_and_nan_are_met_exactly_whatever_the_bound():
    assert not compare(np.array([1e38], np.float32), Expected(np.array([np.inf]), 1e300))
    assert not compare(np.array([np.nan], np.float32), Expected(np.array([1.0]), 1e300))
    assert compare(np.array([np.nan], np.float32), Expected(np.array([1.0]), np.inf)), "unspecified"


def test_signs_of_zeros_count_on_request():
    got, want = np.array([-0.0], np.float16), np.array([0.0])
    assert compare(got, Expected(want))
    assert not compare(got, Expected(want, signed_zeros=True))


def test_integers_and_bools_are_exact():
    assert compare(np.array([2**62 + 1]), Expected(np.array([2**62 + 1])))
    assert not compare(np.array([2**62 + 1]), Expected(np.array([2**62])))
    assert not compare(np.array([True]), Expected(np.array([False])))


def test_shape_is_compared_and_nothing_is_equal_to_nothing():
    assert not compare(np.zeros((2, 1), np.float32), Expected(np.zeros((2, 2))))
    assert compare(np.zeros((0, 3), np.float32), Expected(np.zeros((0, 3))))


def test_a_broken_bound_is_an_error():
    with pytest.raises(ValueError, match="bound is NaN"):
        compare(np.ones(1, np.float32), Expected(np.ones(1), np.nan))


def test_ulps_count_numbers():
    one = np.float16(1)
    assert ulps(one, np.nextafter(one, np.float16(2))) == 1
    assert ulps(np.float16(-0.0), np.float16(0.0)) == 0
    tiny = np.array([2.0**-24], np.float16)
    assert ulps(-tiny, tiny)[0] == 2
    assert ulps(1.0, 1.0 + 2.0**-7, "bf16") == 1
    assert ulps(np.array([np.nan]), np.array([np.nan]), "f32")[0] == 0
    assert ulps(np.array([np.nan]), np.array([1.0]), "f32")[0] == np.iinfo("i8").max
    assert ulps(np.int32(-3), np.int32(4)) == 7


# Bounds: true of machines that round, and tight enough to see a mistake
def _machine_sum(x, order, blocks):
    """A sum in f32 along the last axis, in some order, by lanes that are added up at the end."""
    lanes = np.zeros((*x.shape[:-1], blocks), np.float32)
    for i, j in enumerate(order):
        lanes[..., i % blocks] += x[..., j]
    result = lanes[..., 0]
    for lane in range(1, blocks):
        result = result + lanes[..., lane]
    return result


@pytest.mark.parametrize("kind", ["normal", "positive", "repeated", "mixed"])
@pytest.mark.parametrize("n", [1, 3, 64, 1000])
def test_sums_in_any_order_are_within_their_bound(kind, n):
    rng = np.random.default_rng(n)
    x = {
        "normal": rng.standard_normal((50, n)),
        "positive": rng.random((50, n)) + 0.1,
        "repeated": np.full((50, n), 0.1) * (1 + rng.random((50, 1))),
        "mixed": rng.standard_normal((50, n)) * 10.0 ** rng.integers(-6, 6, (50, n)),
    }[kind].astype(np.float32)
    expected = A.total(exact(x), axis=1, keepdims=False).expected()
    for blocks in (1, 4, 32):
        outcome = compare(_machine_sum(x, rng.permutation(n), blocks), expected)
        assert outcome, outcome.message


def test_a_missing_term_is_seen():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 1025)).astype(np.float32)
    assert not compare(x[:, :-1].sum(1), A.total(exact(x), axis=1, keepdims=False).expected())
    whole = rng.integers(-8, 9, (50, 65537)).astype(np.float32)
    expected = A.total(exact(whole), axis=1, keepdims=False).expected()
    assert not np.any(expected.bound), "sums of small integers are exact"
    assert compare(whole.sum(1), expected)


def test_cancellation_widens_a_bound():
    x, y = np.array([[1e8, 1.0, -1e8]], np.float32), np.array([[1.0, 1.0, -1.0]], np.float32)
    assert A.total(exact(x / 3), axis=1).error[0, 0] > 1
    assert A.total(exact(y / 3), axis=1).error[0, 0] < 1e-6


def test_a_sum_that_may_overflow_on_the_way_is_unspecified():
    x = np.array([[3e38, 3e38, -3e38]], np.float32)
    assert A.total(exact(x), axis=1).error[0, 0] == math.inf
    assert A.total(exact(np.array([[np.inf, 1.0]])), axis=1).error[0, 0] < 1, "an infinity is no accident"


def test_matmul_bound_holds_for_truncating_accumulation():
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(s).astype(np.float16).astype(np.float32) for s in ((20, 300), (300, 20)))
    total = np.zeros((20, 20), np.float64)
    for k in range(300):
        total = total + np.outer(a[:, k], b[k]).astype(np.float64)
        scale = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(total), 1e-30))) - 23)
        total = np.trunc(total / scale) * scale
    outcome = compare(total.astype(np.float32), A.matmul(exact(a), exact(b)).expected())
    assert outcome, outcome.message
    assert not compare(a[:, 1:] @ b[1:], A.matmul(exact(a), exact(b)).expected())


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_arithmetic_on_known_numbers_has_one_right_answer(name):
    rng = np.random.default_rng(2)
    x, y = (FORMATS[name].round(rng.standard_normal(1000)) for _ in range(2))
    for result in (exact(x, name) + exact(y, name), exact(x, name) - 0.1, exact(x, name) / exact(y, name)):
        assert not np.any(result.expected().bound)
    product = exact(x, name) * exact(y, name)
    assert not np.any(product.expected().bound)
    added = (product + exact(x, name)).expected()
    rounded = FORMATS[name].round
    for machine in (rounded(rounded(x * y) + x), rounded(x * y + x)):  # as written, and fused
        assert compare(machine.astype(numpy_dtype(name)), added)
    assert np.any(added.bound)


def test_a_cast_is_exact_unless_a_rounding_boundary_is_near():
    x = A.Approx(np.array([1.0, 1.0 + 2.0**-11, 65519.999, 7e4]), np.full(4, 1e-6), FORMATS["f32"])
    stored = x.to("f16")
    assert stored.value.tolist() == [1.0, 1.0 + 2.0**-11, 65504.0, math.inf]
    assert stored.error.tolist() == [0.0, 2.0**-11, 0.0, 0.0], "the last is certainly past the largest number"


@pytest.mark.parametrize(
    ("approximate", "reference", "ulp"),
    [
        (A.exp, math.exp, 2),
        (A.erf, math.erf, 2),
        (A.sigmoid, lambda v: 1 / (1 + math.exp(-v)), 4),
        (A.sqrt, math.sqrt, 0),
        (A.log, math.log, 2),
        (A.rsqrt, lambda v: 1 / math.sqrt(v), 2),
    ],
)
def test_functions_have_their_values_and_the_languages_ulp(approximate, reference, ulp):
    x = np.linspace(-8, 8, 2001).astype(np.float32)
    x = x[x > 0] if approximate in (A.sqrt, A.log, A.rsqrt) else x
    result, true = approximate(exact(x)), np.array([reference(float(v)) for v in x])
    assert np.all(np.abs(result.value - true) <= result.error + FORMATS["f32"].spacing(true) / 2)
    assert np.all(result.error <= (ulp + 1) * FORMATS["f32"].spacing(true * (1 + 1e-6)))
    assert np.all(result.error >= ulp / 2 * FORMATS["f32"].spacing(true))


def test_a_function_of_an_uncertain_argument_covers_both_ends():
    x = np.linspace(0.5, 8, 100)
    for function, real in ((A.exp, np.exp), (A.log, np.log), (A.rsqrt, lambda v: v**-0.5), (A.sqrt, np.sqrt)):
        result = function(A.Approx(x, 0.01 * x, FORMATS["f32"]))
        for end in (0.99 * x, 1.01 * x):
            assert np.all(np.abs(FORMATS["f32"].round(real(end)) - result.value) <= result.error)


def test_masked_limits_are_certain():
    weight = A.exp(exact(np.array([-np.inf, 0.0])))
    assert weight.value[0] == 0
    assert weight.error[0] == 0
    nothing = A.maximum(exact(np.zeros((2, 0))), axis=1)
    assert nothing.value.tolist() == [[-math.inf]] * 2


def test_an_integer_that_is_unspecified_may_be_anything() -> None:
    bound = np.array([np.inf, 0.0])
    assert compare(np.array([9, 2]), Expected(np.array([1, 2]), bound)).ok
    assert not compare(np.array([9, 3]), Expected(np.array([1, 2]), bound)).ok
    assert compare(np.array([True]), Expected(np.array([False]), np.inf)).ok
