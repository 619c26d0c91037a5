"""On a GPU: several execution groups in one launch, and what one instance stores and reads back."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
from tests.passes import test_groups as kernels

from .test_gpu import pytestmark  # noqa: F401


def both(kernel: Any, *arrays: Any) -> None:
    """The GPU and the reference agree, bit for bit."""
    expected, found = ([x.copy() if hasattr(x, "copy") else x for x in arrays] for _ in range(2))
    intent.compile(kernel, target="reference")(*expected)
    intent.compile(kernel)(*found)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("m", "k", "n"), [(5, 3, 7), (0, 3, 7), (5, 0, 7), (100_000, 300, 4100)])
def test_groups_share_a_launch(m: int, k: int, n: int) -> None:
    both(
        kernels.unrelated, kernels.values(m), kernels.values(k, n) % 7, np.zeros(m, np.float32), np.zeros(k, np.float32)
    )


@pytest.mark.parametrize("n", [1, 9, 5000, 70_000])
def test_an_instance_reads_back_what_it_stored(n: int) -> None:
    x = kernels.values(3, n) % 11
    both(kernels.row_neighbours, x, np.zeros((3, n + 1), np.float32), np.zeros((3, n), np.float32))
    both(kernels.neighbours, x[0], np.zeros(n + 1, np.float32), np.zeros(n, np.float32))
    both(kernels.overwritten, x[0], np.zeros(n + 1, np.float32))
    for flag in (False, True):
        both(kernels.conditional, flag, x[1].copy(), np.zeros(n, np.float32))
    if n > 1:
        both(kernels.read_between, x[2].copy(), np.zeros(n, np.float32), np.zeros(n - 1, np.float32))
