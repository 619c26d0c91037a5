"""Random numbers are a function of seed and counter, bit for bit the same on every oracle."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.language.test_effects import numbers, philox


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_bits_are_those_of_philox(everywhere: Callable[..., None], seed: int) -> None:
    n = np.array([0, 1, 2, 3, 4, 2**34 + 3, 2**63 + 1, 2**64 - 1], np.uint64)
    b, u, g = np.zeros(8, np.uint32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    everywhere(numbers, seed, n, b, u, g)
    want = [
        philox([i // 4 & 0xFFFFFFFF, i // 4 >> 32, 0, 0], [seed & 0xFFFFFFFF, seed >> 32])[i % 4] for i in n.tolist()
    ]
    assert b.tolist() == want
    np.testing.assert_array_equal(u, np.array([(w >> 8) * 2.0**-24 for w in want], np.float32))
