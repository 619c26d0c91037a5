"""make_abi: triton -> launch.  The host's side: what a call passes, what divides it, how many instances run.

    function @relu(x, y, N) …   ->   launch @relu(pointer x to x divisible by 16, …, scalar N is N held i32 …) …

Only what the body uses is passed.  A stride of 1 is in no text and therefore no argument.  Known divisors are what lets
the provider vectorize accesses and copy asynchronously; a launch checks them at every call.
"""

from __future__ import annotations

from math import prod

from ..rules.simplify import node
from ..terms.core import find
from ..terms.index import Const, Extent, Stride, Value, const, mul
from ..terms.launch import LAUNCH, Argument, CopyArgument, Launch, PointerArgument, ScalarArgument, WorkspaceArgument
from ..terms.normal import View
from ..terms.triton import TRITON, Function, Parameter
from .base import nanopass

ALLOCATED = 16
"""Bytes that divide the address of what the host allocates, and the widest access."""


@nanopass(TRITON, LAUNCH)
def make_abi(function: Function) -> Launch:
    """Describe the function's parameters and its grid to the host.

    Stands last: from here on only text is made of the function.
    Preserves the function, which becomes a part of the launch unchanged.
    """
    views = {v.name: v for v in find(function, View)}
    arguments = tuple(_argument(p, views) for p in function.parameters)
    return Launch(function.name, arguments, function.constexprs, (function.grid,), function)


def _argument(p: Parameter, views: dict[str, View]) -> Argument:
    match p.source:
        case View(mode="workspace") as view:
            return WorkspaceArgument(p.name, view, size(view), False, ALLOCATED)
        case View(mode="counter") as view:
            return WorkspaceArgument(p.name, view, size(view), True, ALLOCATED)
        case View(mode="copy") as view:
            return CopyArgument(p.name, view, power_of_two(view.aligned))
        case View() as view:
            return PointerArgument(p.name, view, power_of_two(view.aligned))
        case Stride(view_name, _, multiple) as stride:
            # an alignment in bytes divides strides as well, which count elements
            view = views[view_name]
            aligned = power_of_two(view.aligned) // view.dtype.bytes
            return ScalarArgument(p.name, stride, p.dtype, max(power_of_two(multiple), aligned))
        case Extent(_, _, multiple) as extent:
            return ScalarArgument(p.name, extent, p.dtype, power_of_two(multiple))
    return ScalarArgument(p.name, p.source, p.dtype)  # type: ignore[arg-type]


def size(view: View) -> Value:
    """The bytes of memory that has no gaps."""
    known = prod(e.value for e in view.shape if isinstance(e, Const))
    total: Value = const(1)
    for e in view.shape:
        total = total if isinstance(e, Const) else node(mul(total, e))
    return node(mul(total, const(known * view.dtype.bytes)))  # type: ignore[no-any-return]


def power_of_two(n: int) -> int:
    """The largest power of two that divides `n`."""
    return n & -n
