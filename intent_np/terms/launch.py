"""launch: the host's side of a kernel, and the ABI between both sides as a term.

A `Launch` says what a call passes, in order and in which types, which facts about the arguments the device code relies
on, and how many instances run.  Whoever launches evaluates the sources of the arguments and the grid on the shapes,
strides and scalars of a call, and needs to know nothing else about the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from .core import Term, term
from .dtypes import DType
from .index import INDEX, Apply, Cast, Const, Extent, Param, Physical, Stride, Value
from .normal import View
from .triton import TRITON, Function


class Argument(Term):
    """Sort: one runtime argument, in ABI order."""

    __slots__ = ()
    name: str
    divisibility: int


@term
class PointerArgument(Argument):
    """The address of a view's first element; `divisibility` in bytes."""

    name: str
    view: View
    divisibility: int = 1
    syntax = "pointer {name} to {view}{ divisible by |divisibility|}"


@term
class WorkspaceArgument(Argument):
    """The address of memory of the kernel's own, which the host provides: `size` bytes of any contents, or `zeroed`, as
    every launch leaves them."""

    name: str
    view: View
    size: Value
    zeroed: bool = False
    divisibility: int = 1
    syntax = "workspace {name} of {view} with {size} bytes{ zeroed|zeroed|}{ divisible by |divisibility|}"


@term
class CopyArgument(Argument):
    """The address of a copy of the view that `view` is one of, laid out as it; made on the stream of the launch, before
    it.  `divisibility` in bytes."""

    name: str
    view: View
    divisibility: int = 1
    syntax = "copy {name} as {view}{ divisible by |divisibility|}"


@term
class ScalarArgument(Argument):
    """A number by value, held in `held`: an extent, a stride (in elements) or a scalar; `divisibility` in units."""

    name: str
    value: Value
    held: DType
    divisibility: int = 1
    syntax = "scalar {name} is {value} held {held}{ divisible by |divisibility|}"


@term
class Launch(Term):
    """One launch of `function`: its runtime arguments and its grid, of one dimension."""

    name: str
    arguments: tuple[Argument, ...]
    constexprs: tuple[Physical, ...]
    grid: tuple[Value, ...]
    function: Function
    syntax = "launch @{name}({arguments}) constexprs ({constexprs}) grid ({grid}) of {function}"


TRITON_NAMES = {
    "bool": "i1", "index": "i64", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
    "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64", "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64",
    "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5",
}  # fmt: skip
"""Element types as a Triton signature spells them."""


def signature(launch: Launch) -> tuple[tuple[str, str], ...]:
    """Names and Triton types of the runtime arguments, in order.  Before 8.9 a device knows no e4m3, but bytes."""
    target = launch.function.target
    names = TRITON_NAMES | ({"f8e4m3fn": "u8"} if target is None or target.capability < 89 else {})
    out = []
    for a in launch.arguments:
        match a:
            case PointerArgument(name, view) | WorkspaceArgument(name, view) | CopyArgument(name, view):
                out.append((name, "*" + names[view.dtype.name]))
            case ScalarArgument(name, _, held):
                out.append((name, names[held.name]))
    return tuple(out)


def divisibility(launch: Launch) -> dict[str, int]:
    """The arguments that a power of two above 1 is known to divide."""
    return {a.name: a.divisibility for a in launch.arguments if a.divisibility > 1}


def constants(launch: Launch) -> dict[str, int]:
    """The values of the constexprs."""
    return {p.name: p.value for p in launch.constexprs}


def host_expressions(launch: Launch) -> Iterator[str]:
    """The grid and the scalars are computed from what the host knows before the launch."""
    scalars = (a.value for a in launch.arguments if isinstance(a, ScalarArgument))
    sizes = (a.size for a in launch.arguments if isinstance(a, WorkspaceArgument))
    for value in (*launch.grid, *scalars, *sizes):
        yield from INDEX.check(value)
    names = [a.name for a in launch.arguments]
    if names != [p.name for p in launch.function.parameters]:
        yield f"arguments {names} do not fit the function's {[p.name for p in launch.function.parameters]}"
    if launch.constexprs != launch.function.constexprs:
        yield "constexprs do not fit the function's"


LAUNCH = TRITON.extend(
    "launch",
    root=Launch,
    about=__doc__ or "",
    add=(PointerArgument, WorkspaceArgument, CopyArgument, ScalarArgument, Launch),
    rules=(host_expressions,),
)

__all__ = [
    "LAUNCH",
    "TRITON_NAMES",
    "Apply",
    "Argument",
    "Cast",
    "Const",
    "CopyArgument",
    "Extent",
    "Launch",
    "Param",
    "PointerArgument",
    "ScalarArgument",
    "Stride",
    "WorkspaceArgument",
    "constants",
    "divisibility",
    "signature",
]  # fmt: skip
