"""Helpers: typed by the call, inlined by a pass."""

from __future__ import annotations

from typing import Any

from ..core import Term, term
from ..dtypes import DType
from ..index import Value
from .types import TensorType


@term
class Formal(Value):
    """A parameter of a helper, typed by the call: a scalar, or a tensor of these extents."""

    name: str
    position: int
    dtype: DType
    extents: tuple[Value, ...] = ()
    scalar: bool = False
    syntax = "formal {position} {dtype}[{extents}]{ scalar|scalar|}"
    binds = True

    def infer(self) -> Any:
        return self.dtype if self.scalar else TensorType(self.dtype, self.extents)


@term
class Function(Term):
    """A typed pure helper: its result over its formals."""

    name: str
    formals: tuple[Formal, ...]
    result: Value
    syntax = "function ({formals}) gives {result}"
    binds = True


@term
class Call(Value):
    """A helper at its arguments; inlined by `inline_calls`, with provenance intact."""

    function: Function
    args: tuple[Value, ...]
    syntax = "call {function}({args})"

    def infer(self) -> Any:
        if tuple(a.type for a in self.args) != tuple(f.type for f in self.function.formals):
            raise TypeError(f"{self.function.name} of {[a.type for a in self.args]}")
        return self.function.result.type
