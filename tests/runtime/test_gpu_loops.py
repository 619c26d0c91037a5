"""On a GPU: ordered loops, their states and what they store, beside the reference."""

import numpy as np
import pytest

import intent_np as intent
from tests.passes.loop_kernels import CASES
from tests.passes.test_ordered_loops import reference
from tests.passes.test_random_control import drawn

from .test_gpu import pytestmark  # noqa: F401


@pytest.mark.parametrize("name", CASES)
def test_loops_do_what_the_reference_does(name: str) -> None:
    kernel, arguments = CASES[name]
    expected = reference(kernel, arguments)
    import cupy

    # arrays of the device: what no statement writes of an output keeps what it was, as in the reference
    found = {n: cupy.asarray(v) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
    intent.compile(kernel)(*found.values())
    for n, v in expected.items():
        np.testing.assert_allclose(cupy.asnumpy(found[n]), v, rtol=1e-5, atol=1e-5, err_msg=n)


@pytest.mark.parametrize("seed", range(40, 60))
def test_random_control_does_what_python_does(seed: int) -> None:
    kernel, arguments, expected = drawn(seed)
    intent.compile(kernel)(*arguments.values())
    for n, v in expected.items():
        np.testing.assert_array_equal(arguments[n], v, err_msg=n)


@pytest.mark.parametrize("n", [1, 300, 5000])
def test_what_a_turn_stores_is_seen_by_the_next_whoever_stored_it(n: int) -> None:
    kernel, _ = CASES["back_and_forth"]
    x = np.random.default_rng(n).integers(-3, 4, (3, n)).astype(np.float32)
    arguments = {"x": x, "y": np.zeros_like(x), "T": 6}
    expected = reference(kernel, arguments)
    intent.compile(kernel)(x, arguments["y"], 6)
    np.testing.assert_array_equal(x, expected["x"])
