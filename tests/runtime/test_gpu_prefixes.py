"""On a GPU: scans from either end, updates in which lanes and instances meet, random numbers."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
from intent_np.numerics import storage
from tests.language.test_effects import numbers
from tests.passes import test_scans as scans
from tests.passes import test_updates as updates

from .test_gpu import pytestmark  # noqa: F401

RNG = np.random.default_rng(12)


def both(kernel: Any, arrays: dict[str, Any], rtol: float = 0) -> None:
    """The GPU and the reference agree: bit for bit, or with float sums in another order."""
    expected, found = ({k: x.copy() for k, x in arrays.items()} for _ in range(2))
    intent.compile(kernel, target="reference")(*expected.values())
    intent.compile(kernel)(*found.values())
    for name, x in expected.items():
        np.testing.assert_allclose(found[name], x, rtol=rtol, err_msg=name)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 37), (5, 4096), (2, 4097), (3, 20_000), (0, 7), (3, 0)])
@pytest.mark.parametrize("name", scans.KERNELS)
def test_prefixes(name: str, m: int, n: int) -> None:
    both(scans.KERNELS[name], scans.arguments(scans.KERNELS[name], m, n), rtol=1e-5 if name == "normalised" else 0)


@pytest.mark.parametrize("n", [1, 1000, 100_000])
def test_embeddings_meet(n: int) -> None:
    g, token = RNG.integers(-4, 5, (n, 33)).astype(np.float32), RNG.integers(-1, 12, n).astype(np.int32)
    w = np.zeros((10, 33), np.float32)
    both(updates.embedding_backward, {"g": g, "token": token, "w": w})
    np.add.at(w, token[(token >= 0) & (token < 10)], g[(token >= 0) & (token < 10)])
    found = np.zeros((10, 33), np.float32)
    intent.compile(updates.embedding_backward)(g, token, found)
    np.testing.assert_array_equal(found, w)


@pytest.mark.parametrize("n", [1, 70, 5000, 100_000])
@pytest.mark.parametrize("name", ["counted", "extremes", "rows", "bits", "exchanged", "narrow", "read_behind"])
def test_updates_meet(name: str, n: int) -> None:
    kernel = updates.KERNELS[name]
    extents = {"N": n, "M": 7, "B": 6}
    arrays = {}
    for p in kernel.parameters:
        shape = tuple(extents.get(str(e), e) for e in p.shape)
        d = np.dtype(storage(p.dtype))
        if name == "narrow" and p.name in "xy":  # sums of halves stay exact
            arrays[p.name] = (RNG.integers(0, 9, shape) == 0).astype(d) * (n < 10_000)
        else:
            arrays[p.name] = RNG.integers(0, 7 if p.name == "at" else 9, shape).astype(d)
    both(kernel, arrays)


@pytest.mark.parametrize("n", [1, 1000, 200_000])
def test_tickets_are_unique(n: int) -> None:
    x = RNG.integers(-5, 9, n).astype(np.int32)
    count, y = np.zeros(1, np.int64), np.full(n, -1, np.int32)
    intent.compile(updates.partition)(x, count, y)
    kept = x[x >= 0]
    assert count[0] == len(kept)
    np.testing.assert_array_equal(np.sort(y[: len(kept)]), np.sort(kept))
    assert (y[len(kept) :] == -1).all()


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_random_numbers_are_the_same_everywhere(seed: int) -> None:
    n = np.array([*range(3000), 2**34 + 3, 2**63 + 1, 2**64 - 1], np.uint64)
    outputs = [[np.zeros(n.size, d) for d in (np.uint32, np.float32, np.float32)] for _ in range(2)]
    intent.compile(numbers, target="reference")(seed, n, *outputs[0])
    intent.compile(numbers)(seed, n, *outputs[1])
    for k in (0, 1):
        np.testing.assert_array_equal(outputs[1][k], outputs[0][k])
    np.testing.assert_allclose(outputs[1][2], outputs[0][2], rtol=1e-5, atol=1e-6)
