"""Capturing a kernel, executing it with the reference, and looking at what is wrong with one."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from intent_np.backends.reference import logical
from intent_np.errors import IntentError
from intent_np.language import Kernel
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL, LogicalProgram
from intent_np.terms.parse import parse
from intent_np.terms.text import show


@pytest.fixture(autouse=True)
def own_arena() -> Iterator[None]:
    with Arena():
        yield


@pytest.fixture
def run() -> Callable[..., LogicalProgram]:
    """`run(kernel, x=array, ..., N=3)` captures, checks, prints and parses, and executes in place.

    The result does not depend on how many points are in hand at once.
    """

    def execute(kernel: Kernel, **arguments: Any) -> LogicalProgram:
        constants = {p.name: arguments.pop(p.name) for p in kernel.constexprs if p.name in arguments}
        program = kernel.capture(constants)
        assert LOGICAL.check(program) == []
        assert parse(show(program), LOGICAL) is program
        arrays = {n: a for n, a in arguments.items() if isinstance(a, np.ndarray)}
        scalars = {n: v for n, v in arguments.items() if n not in arrays}
        singly = {n: a.copy() for n, a in arrays.items()}
        logical.run(program, arrays, scalars)
        logical.run(program, singly, scalars, budget=1)
        for n, a in arrays.items():
            assert a.tobytes() == singly[n].tobytes(), f"{n} depends on the batch"
        return program

    return execute


@pytest.fixture
def wrong() -> Callable[..., IntentError]:
    """`wrong(kernel, N=3)`: the error that capturing raises."""

    def capture(kernel: Kernel, **constants: Any) -> IntentError:
        with pytest.raises(IntentError) as found:
            kernel.capture(constants)
        return found.value

    return capture


@pytest.fixture
def told(wrong: Callable[..., IntentError]) -> Callable[[Kernel, str, str], None]:
    """`told(kernel, code, says)`: capturing raises this error, which says that and knows its place."""

    def check(kernel: Kernel, code: str, says: str) -> None:
        found = wrong(kernel)
        assert found.code == code, found
        assert says in str(found)
        assert found.span is not None

    return check
