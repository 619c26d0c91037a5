"""Small inputs that broke kernel compilers, each on every oracle that can run it.

`everywhere(kernel, *arguments)` calls a kernel, outputs written in place, on one of: the reference, the reference in
checking mode (which must find nothing), the program machine, and the printed Triton in Triton's interpreter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intent_np as intent
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation
from intent_np.errors import IntentError
from intent_np.runtime.binding import bind
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.testing.triton_interpreter import interpret, unavailable

ORACLES = ("reference", "checked", "cpu", "interpreter")
NOT_YET = "E708"  # a construct that a target cannot run


def call(oracle: str, kernel: Any, arguments: tuple[Any, ...], constexprs: dict[str, Any]) -> None:
    if oracle == "interpreter":
        _interpret(kernel, arguments, constexprs)
    else:
        options = intent.CompileOptions(check=oracle == "checked")
        target = "reference" if oracle == "checked" else oracle
        intent.compile(kernel, target=target, constexprs=constexprs, options=options)(*arguments)


def _interpret(kernel: Any, arguments: tuple[Any, ...], constexprs: dict[str, Any]) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    compilation = Compilation(kernel, SM_90, constexprs, intent.CompileOptions())
    launch, _ = compilation.launch(generic_class(compilation.plan))
    given = dict(zip([p.name for p in compilation.plan.parameters], arguments, strict=True))
    arrays = {n: a for n, a in given.items() if isinstance(a, np.ndarray)}
    scalars = {n: a for n, a in given.items() if n not in arrays}
    extents = bind(compilation.plan, arguments).values()
    with compilation.arena:
        interpret(launch, print_triton(launch.function), arrays, {**extents, **scalars})


@pytest.fixture(params=ORACLES)
def everywhere(request: pytest.FixtureRequest) -> Callable[..., None]:
    def run(kernel: Any, *arguments: Any, **constexprs: Any) -> None:
        try:
            call(request.param, kernel, arguments, constexprs)
        except IntentError as problem:
            if problem.code != NOT_YET:
                raise
            pytest.skip(f"{request.param}: {str(problem).splitlines()[0]}")

    return run


@pytest.fixture
def found() -> Callable[..., list[str]]:
    """`found(kernel, *arguments)`: the codes of what checking mode finds in a call."""

    def check(kernel: Any, *arguments: Any, **constexprs: Any) -> list[str]:
        with pytest.raises(intent.CheckError) as caught:
            call("checked", kernel, arguments, constexprs)
        return [e.code for e in getattr(caught.value, "errors", ()) or [caught.value]]

    return check
