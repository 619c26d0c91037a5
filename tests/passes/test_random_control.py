"""Random programs of loops, branches and ways out: every level, and the printed Triton, does what Python does."""

from typing import Any

import numpy as np
import pytest

from intent_np.backends.program.machine import run as execute
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.language.random_control import as_python, source
from tests.sources import executed

from .test_ordered_loops import behind_each_pass

N = 5


def drawn(seed: int) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The kernel of a seed, its arguments, and what Python makes of them."""
    text, r = source(seed), np.random.default_rng(seed)
    points = 4 if seed % 2 else 1
    arguments = {v: r.integers(0, 10, (points, N)) for v in "xy"} | {"z": np.zeros(points, np.int64)}
    expected = {v: x.copy() for v, x in arguments.items()}
    as_python(text, **expected)
    return executed(text)["k"], arguments, expected


@pytest.mark.parametrize("seed", range(24))
def test_every_level_does_what_python_does(seed: int) -> None:
    kernel, arguments, expected = drawn(seed)
    with Arena():
        made = behind_each_pass(kernel)
        for program, name in {t: n for n, t in made.items()}.items():
            found = {v: x.copy() for v, x in arguments.items()}
            execute(program, found, {}, strict=True, order="reverse")
            for v, x in expected.items():
                np.testing.assert_array_equal(found[v], x, err_msg=f"{v} behind {name}\n{source(seed)}")


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("seed", range(24, 34))
def test_the_printed_text_does_what_python_does(seed: int) -> None:
    kernel, arguments, expected = drawn(seed)
    with Arena():
        launch = lower(kernel.capture({}), check=True)
        text = print_triton(launch.function)
        interpret(launch, text, arguments, {"N": N, "P": len(arguments["z"])})
    for v, x in expected.items():
        np.testing.assert_array_equal(arguments[v], x, err_msg=f"{v}\n{text}\n{source(seed)}")
