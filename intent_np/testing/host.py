"""Host programs: plain functions over arrays that launch several kernels, one after the other.

    @host_program
    def mean_of_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        total = np.empty_like(x, shape=x.shape[:1])
        launch(row_sum, x, total)
        launch(divided, total, y, N=x.shape[1])

The parameters are annotated as those of a kernel are, so that arguments can be made and results compared.  The body is
Python that runs: it allocates what stands between two kernels (`np.empty_like(x, ...)` gives an array of the library
that x comes from) and launches.  Where the kernels run is nobody's business but that of `launching`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final

from intent_np.errors import counted, error
from intent_np.language.definition import plain
from intent_np.language.signature import Constexpr, Parameter, parameters
from intent_np.language.source import lines_of, read

Door = Callable[[Any, tuple[Any, ...], Mapping[str, Any]], None]
"""Runs a kernel with its arguments (all launched parameters in order, outputs written in place) and its constexprs."""

Launched = tuple[tuple[Any, Mapping[str, Any]], ...]
"""Kernels with the constexprs that they are launched with."""

Calls = list[tuple[tuple[Any, Mapping[str, Any]], tuple[Any, ...]]]
"""The same, each with the arguments of a launch."""


class HostProgram:
    """A function decorated with `@host_program`.  Called, it runs; its launches go to this machine's target, or where
    `launching` sends them."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in declaration order; raises what is wrong with the signature."""
        return parameters(self.function, read(self.function, lines_of(self.function)))

    @property
    def constexprs(self) -> tuple[Constexpr, ...]:
        """The parameters that are no launch arguments: they come as keywords."""
        return tuple(p for p in self.parameters if isinstance(p, Constexpr))

    def __call__(self, *arguments: Any, **constexprs: Any) -> None:
        launched = [p.name for p in self.parameters if p.kind != "constexpr"]
        unknown = [n for n in constexprs if n not in {p.name for p in self.constexprs}]
        if len(arguments) != len(launched) or unknown:
            raise error(
                "E401",
                kernel=self.name,
                takes=counted(len(launched), "argument"),
                given=len(arguments),
                signature=f"{self.name}({', '.join(launched)}), and constexprs by name",
                found=f"{', '.join(unknown)} by name" if unknown else "",
            )
        self.function(**dict(zip(launched, arguments, strict=True)), **constexprs)

    def capture(self, *_: Any, **__: Any) -> Any:
        """Refused, E009: there is no one program."""
        raise error("E009", name=self.name)

    def __repr__(self) -> str:
        return f"<host program {self.name}>"


def host_program(function: Callable[..., None]) -> HostProgram:
    """Make a Python function a host program."""
    return HostProgram(plain(function, "host_program"))


def launch(kernel: Any, *arguments: Any, **constexprs: Any) -> None:
    """Run a kernel with all of its launched parameters in order, as a host program does."""
    _DOOR.get(_HERE)(kernel, arguments, constexprs)


@contextmanager
def launching(door: Door) -> Iterator[None]:
    """Every `launch` inside goes to `door`."""
    token = _DOOR.set(door)
    try:
        yield
    finally:
        _DOOR.reset(token)


def compiled_once(make: Callable[[Any, Mapping[str, Any]], Callable[..., Any]]) -> Door:
    """A door that makes a launcher of each kernel and choice of constexprs once: `make(kernel, constexprs)` is called
    with all arguments in order."""
    made: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def door(kernel: Any, arguments: tuple[Any, ...], constexprs: Mapping[str, Any]) -> None:
        key = (kernel, *sorted(constexprs.items()))
        if key not in made:
            made[key] = make(kernel, constexprs)
        made[key](*arguments)

    return door


def calls_of(program: HostProgram, arguments: tuple[Any, ...], constexprs: Mapping[str, Any]) -> Calls:
    """The kernels that one call of a host program launches, each once, in order, with the arguments of its first
    launch; the call runs on the reference."""
    found: dict[tuple[Any, ...], tuple[tuple[Any, Mapping[str, Any]], tuple[Any, ...]]] = {}
    run = compiled_once(lambda kernel, constants: _compiled(kernel, "reference", constants))

    def door(kernel: Any, given: tuple[Any, ...], constants: Mapping[str, Any]) -> None:
        found.setdefault((kernel, *sorted(constants.items())), ((kernel, constants), given))
        run(kernel, given, constants)

    with launching(door):
        program(*arguments, **constexprs)
    return list(found.values())


def _compiled(kernel: Any, target: str, constexprs: Mapping[str, Any]) -> Callable[..., Any]:
    import intent_np

    return intent_np.compile(kernel, target, constexprs=constexprs)


_HERE: Final = compiled_once(lambda kernel, constexprs: _compiled(kernel, "auto", constexprs))
_DOOR: ContextVar[Door] = ContextVar("door")
