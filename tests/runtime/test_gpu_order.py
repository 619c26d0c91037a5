"""On a GPU: what stands at a place in order, operands in fewer bits, and region scans, beside the reference."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
from tests.passes import test_compressed as compressed
from tests.passes import test_sweeps as sweeps
from tests.passes.test_sorts import KERNELS, arguments

from .test_gpu import pytestmark  # noqa: F401


@pytest.mark.parametrize("call", range(1, 4))
@pytest.mark.parametrize("name", KERNELS)
def test_order_is_what_the_reference_finds(name: str, call: int) -> None:
    given: dict[str, Any] = arguments(KERNELS[name], call)
    expected = {n: x.copy() for n, x in given.items()}
    intent.compile(KERNELS[name], target="reference")(*expected.values())
    intent.compile(KERNELS[name])(*given.values())
    for n, x in expected.items():
        np.testing.assert_array_equal(given[n], x, err_msg=n)


@pytest.mark.parametrize("call", range(3))
@pytest.mark.parametrize("name", compressed.KERNELS)
def test_numbers_in_fewer_bits(name: str, call: int) -> None:
    kernel = compressed.KERNELS[name]
    given: dict[str, Any] = compressed.arguments(kernel, call)
    expected = {n: x.copy() for n, x in given.items()}
    intent.compile(kernel, target="reference")(*expected.values())
    intent.compile(kernel)(*given.values())
    for n, x in expected.items():
        np.testing.assert_allclose(given[n], x, rtol=1e-6, err_msg=n)


@pytest.mark.parametrize("extents", sweeps.SIZES, ids=lambda e: str(e["N"]))
@pytest.mark.parametrize("name", sweeps.KERNELS)
def test_region_scans(name: str, extents: dict[str, int]) -> None:
    kernel = sweeps.KERNELS[name]
    given = sweeps.arguments(kernel, extents)
    expected = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in given.items()}
    intent.compile(kernel, target="reference")(*expected.values())
    intent.compile(kernel)(*given.values())
    for n, x in given.items():
        np.testing.assert_array_equal(x, expected[n], err_msg=n)
