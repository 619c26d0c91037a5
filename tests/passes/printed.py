"""Kernels as printed Triton, in Triton's interpreter, beside what the reference makes of the same call."""

from typing import Any, NamedTuple

import numpy as np

import intent_np as intent
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation
from intent_np.runtime.binding import bind
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import interpret

BLOCKS = {"block_axes": {"sizes": dict.fromkeys(("columns", "n", "m"), 16)}}


class Printed(NamedTuple):
    """The generic variant of a kernel and its text."""

    compilation: Compilation
    launch: Any
    source: str

    def __call__(self, given: dict[str, Any]) -> dict[str, np.ndarray]:
        """The arrays of a call as the text leaves them; those of `given` stay."""
        arrays = {n: x.copy() for n, x in given.items() if isinstance(x, np.ndarray)}
        known = dict(bind(self.compilation.plan, tuple(given.values())).values())
        with self.compilation.arena:
            interpret(self.launch, self.source, arrays, known)
        return arrays


def printed(kernel: Any, **passes: Any) -> Printed:
    compilation = Compilation(kernel, SM_90, {}, intent.CompileOptions(passes=passes))
    launch, _ = compilation.launch(generic_class(compilation.plan))
    with compilation.arena:
        return Printed(compilation, launch, print_triton(launch.function))


def by_reference(kernel: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call as the reference leaves them; those of `given` stay."""
    expected = {n: x.copy() if isinstance(x, np.ndarray) else x for n, x in given.items()}
    intent.compile(kernel, target="reference")(*expected.values())
    return expected


def prints_the_same(kernel: Any, given: dict[str, Any]) -> None:
    """Assert that the text, in small blocks, leaves what the reference does."""
    text, expected = printed(kernel, **BLOCKS), by_reference(kernel, given)
    for n, x in text(given).items():
        np.testing.assert_array_equal(x, expected[n], err_msg=f"{n} of\n{text.source}")


def is_kept_by_every_pass(kernel: Any, given: dict[str, Any]) -> None:
    """Assert that the program behind every pass computes the same, in the classes of any alignment and both orders."""
    for which in v.CLASSES.values():
        if which.divisor == 1:
            made = v.stages(kernel, which, options=intent.CompileOptions(check=True))
            for order in ("forward", "reverse"):
                assert (found := v.validate(kernel, given, made=made, order=order)), found
