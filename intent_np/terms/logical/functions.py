"""Functions of slices: what an author says of any part of an axis, over formals."""

from __future__ import annotations

from typing import Any

from ..core import Term, term
from ..dtypes import DType
from ..index import Value
from .types import TensorType


@term
class Formal(Value):
    """A parameter of a function: a scalar, or a tensor of these extents."""

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
    """What a region operation calls: results over formals, whose extents may be those of the program around."""

    name: str
    formals: tuple[Formal, ...]
    results: tuple[Value, ...]
    syntax = "function ({formals}) gives {results}"
    binds = True
