"""Helpers: typed by the call, inlined by a pass."""

from __future__ import annotations

from typing import Any

from ..core import Term, rewrite, term
from ..dtypes import DType
from ..index import Value
from ..normal import Proj
from .tensors import Pack
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


def inlined(t: Any) -> Any:
    """`t` with each call replaced by the helper's result over the call's arguments: a call and its body are one
    function, so that what is known of one is known of the other."""

    def step(u: Any) -> Any:
        if isinstance(u, Call):
            formals = dict(zip(u.function.formals, u.args, strict=True))
            # a helper's own calls were inlined already: rewriting is bottom-up
            return rewrite((u.function.result,), lambda x: formals.get(x, _projected(x)))[0]
        return _projected(u)

    return rewrite((t,), step)[0]


def _projected(t: Any) -> Any:
    """A component of a tuple that is in hand."""
    return t.value.values[t.position] if isinstance(t, Proj) and isinstance(t.value, Pack) else t
