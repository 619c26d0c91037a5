"""The sweep of functions counts steps as `distance` does, marks exceeded bounds, and skips what is not promised."""

import numpy as np

from benchmarks.numerics_cases import Verdict, describe
from benchmarks.numerics_exhaustive import Count, _add, errors, every_pattern, steps, table
from intent_np.numerics import distance, narrow
from intent_np.terms.dtypes import f32


def test_steps_are_distances_to_the_rounded_value():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2**32, 20_000, dtype=np.uint64).astype(np.uint32)
    got = codes.view(np.float32)
    with np.errstate(all="ignore"):
        exact = np.roll(got, 1).astype(np.float64) * (1 + rng.standard_normal(len(got)) * 1e-7)
        assert np.array_equal(steps(np, got, exact), distance(got, narrow(exact, f32), f32))
    assert steps(np, np.float32([0.0, -0.0, np.nan]), np.array([-0.0, -0.0, 1.0])).tolist() == [np.inf, 0, np.inf]
    assert errors(np, np.float32([1.0, np.inf, 0.0]), np.array([1 + 2.0**-24, 1.0, 2.0**-150])).tolist() == [
        0.5,
        0,
        0.5,
    ]


def test_every_pattern_is_counted_once():
    def function(x):
        """Off by two where the pattern is 5, by nine from -126 down, where the approximate exponential may flush."""
        codes = x.view(np.uint32)
        return (codes + np.uint32(2) * (codes == 5) + np.uint32(9) * (x < -126)).view(np.float32)

    low = every_pattern(np, "exp2_approx", function, lambda x: x, stop=64, chunk=24)
    assert low.lanes == [63, 0, 1, 0, 0]
    assert (low.steps, low.steps_at) == (2.0, float(np.uint32(5).view(np.float32)))
    assert sum(low.lanes) == 64
    start = int(np.float32(-126).view(np.uint32))
    high = Count()
    with np.errstate(all="ignore"):
        x = np.arange(start - 2, start + 6, dtype=np.uint32).view(np.float32)
        _add(np, high, "exp2_approx", x, function(x), x.astype(np.float64))
        assert high.lanes == [8, 0, 0, 0, 0]
        _add(np, high, "exp2", x, function(x), x.astype(np.float64))
        assert high.lanes == [11, 0, 0, 0, 5]
    assert "| exp2 | 11 | 0 | 0 | 0 | 5 | 9 > 2 |" in table({"exp2": high}, {"exp2": 2.0})


def test_a_verdict_shows_steps_before_the_error():
    assert describe(Verdict(2.0, 2.149, "1.0", 2.0, 5)) == "2 (2.15)"
    assert describe(Verdict(3.0, 2.6, "1.0", 2.0, 5)) == "3 (2.60) > 2"
    assert describe(Verdict(1.0, 1.0, "1.0", 2.0, 5)) == "1"
