"""Random numbers are a function of seed and counter, bit for bit the same on every oracle."""

from collections.abc import Callable

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from tests.language.test_effects import numbers, philox


def words(seed: int, n: int) -> int:
    n %= 2**64
    return philox([n // 4 & 0xFFFFFFFF, n // 4 >> 32, 0, 0], [seed & 0xFFFFFFFF, seed >> 32])[n % 4]


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_bits_are_those_of_philox(everywhere: Callable[..., None], seed: int) -> None:
    n = np.array([0, 1, 2, 3, 4, 2**34 + 3, 2**63 + 1, 2**64 - 1], np.uint64)
    b, u, g = np.zeros(8, np.uint32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    everywhere(numbers, seed, n, b, u, g)
    want = [words(seed, i) for i in n.tolist()]
    assert b.tolist() == want
    np.testing.assert_array_equal(u, np.array([(w >> 8) * 2.0**-24 for w in want], np.float32))
    pairs = [((words(seed, 2 * i) >> 8) + 1, words(seed, 2 * i + 1) >> 8) for i in n.tolist()]
    normal = [np.sqrt(-2 * np.log(p * 2.0**-24)) * np.cos(2 * np.pi * q * 2.0**-24) for p, q in pairs]
    np.testing.assert_allclose(g, normal, rtol=1e-5, atol=3e-6)


@intent.kernel
def filled(seed: I.u64, y: I.Out[I.f32, ("N",)]):
    y[:] = I.random.normal(seed, I.indices(I.domain(0, y.shape[0])))


def test_a_stream_is_the_same_in_one_piece_and_in_many(everywhere: Callable[..., None]) -> None:
    """A number hangs on its counter, not on how many processors or blocks there are."""
    whole, part = np.zeros(20_000, np.float32), np.zeros(777, np.float32)
    everywhere(filled, 46, whole)
    everywhere(filled, 46, part)
    np.testing.assert_array_equal(whole[:777], part)
    assert abs(whole.mean()) < 0.03
    assert abs(whole.std() - 1) < 0.03
