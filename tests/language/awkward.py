"""Numbers that orders, scans and places of extremes are tried on."""

import numpy as np

RNG = np.random.default_rng(11)
EXTENTS = (0, 1, 2, 7, 64, 97)


AWKWARD = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 1, -1, 1, 5e-45, -3.4e38], np.float32)


def awkward(*shape):
    """Numbers among which NaN, both zeros, infinities and ties are common."""
    return RNG.choice(AWKWARD, shape).astype(np.float32)


def same(found, wanted):
    """Equal, NaN by NaN and zero by zero."""
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(wanted) & ~np.isnan(wanted))
