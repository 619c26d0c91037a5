"""Ordered loops as printed Triton: in the interpreter beside the reference, and compiled."""

import numpy as np
import pytest

import intent_np as intent
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena
from intent_np.terms.index import Extent
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.passes.loop_kernels import CASES
from tests.passes.test_ordered_loops import reference


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", CASES)
def test_the_printed_text_means_what_the_author_wrote(name: str) -> None:
    kernel, arguments = CASES[name]
    expected = reference(kernel, arguments)
    found = {n: v.copy() for n, v in arguments.items() if isinstance(v, np.ndarray)}
    scalars = {n: v for n, v in arguments.items() if n not in found}
    with Arena():
        logical = kernel.capture({})
        for view in (p for p in logical.parameters if p.name in found):
            shown = zip(view.shape, found[view.name].shape, strict=True)
            scalars |= {e.name: n for e, n in shown if isinstance(e, Extent)}
        launch = lower(logical, check=True)
        text = print_triton(launch.function)
        interpret(launch, text, found, scalars)
    for n, v in found.items():
        np.testing.assert_allclose(v, expected[n], rtol=1e-5, atol=1e-5, err_msg=f"{n}\n{text}")


@pytest.mark.parametrize("name", CASES)
def test_it_compiles(name: str) -> None:
    assert intent.compile(CASES[name][0], target="sm_90").variants[0].cubin


@pytest.mark.parametrize("target", ["sm_80", "sm_100"])
@pytest.mark.parametrize("name", ["horner", "cholesky", "first_at_least", "multiplied_again"])
def test_it_compiles_for_others(name: str, target: str) -> None:
    assert intent.compile(CASES[name][0], target=target).variants[0].cubin


def text_of(name: str) -> str:
    with Arena():
        return print_triton(lower(CASES[name][0].capture({}), check=True).function)


def test_loops_read_as_an_author_would_write_them() -> None:
    assert "for k in range(0, K):" in text_of("horner")
    text = text_of("first_at_least")
    assert "while goes:" in text
    assert text.count("goes = lo < hi") == 2


def test_what_an_iteration_stores_waits_for_all_threads() -> None:
    lines = [line.strip() for line in text_of("neighbours_in_turn").splitlines()]
    loop = lines[next(i for i, line in enumerate(lines) if line.startswith("for ")) :]
    assert loop[1] == "tl.debug_barrier()", "what the last iteration stored is seen by this one"
    store = next(i for i, line in enumerate(loop) if line.startswith("tl.store("))
    assert loop[store - 1] == "tl.debug_barrier()", "what this one stores is not seen by its own loads"
