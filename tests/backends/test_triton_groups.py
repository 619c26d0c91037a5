"""Several execution groups in one launch, and syncs, as printed Triton in the interpreter."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.passes import test_groups as kernels

pytestmark = pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))


def interpreted(kernel: Any, arrays: dict[str, Any], **scalars: Any) -> str:
    """Run the printed text on copies beside the reference; the text."""
    expected, found = ({v: x.copy() for v, x in arrays.items()} for _ in range(2))
    intent.compile(kernel, target="reference")(*expected.values())
    with Arena():
        launch = lower(kernel.capture({}), check=True)
        text = print_triton(launch.function)
        interpret(launch, text, found, scalars)
    for v, x in expected.items():
        np.testing.assert_array_equal(found[v], x, err_msg=f"{v}\n{text}")
    return text


@pytest.mark.parametrize(("m", "k", "n"), [(5, 3, 7), (0, 3, 7), (5, 0, 7), (1500, 2, 4100)])
def test_groups_are_branches_on_the_number_of_the_instance(m: int, k: int, n: int) -> None:
    x, w = kernels.values(m), kernels.values(k, n) % 7
    arrays = {"x": x, "w": w, "y": np.zeros(m, np.float32), "z": np.zeros(k, np.float32)}
    text = interpreted(kernels.unrelated, arrays, M=m, K=k, N=n)
    assert "if program < tl.cdiv(M, BM):" in text


@pytest.mark.parametrize("n", [1, 9, 5000])
def test_a_sync_is_a_barrier(n: int) -> None:
    x = kernels.values(3, n) % 11
    arrays = {"x": x, "y": np.zeros((3, n + 1), np.float32), "z": np.zeros((3, n), np.float32)}
    assert "tl.debug_barrier()" in interpreted(kernels.row_neighbours, arrays, M=3, N=n)
    arrays = {"x": x[0], "y": np.zeros(n + 1, np.float32), "z": np.zeros(n, np.float32)}
    assert "tl.debug_barrier()" in interpreted(kernels.neighbours, arrays, N=n)
