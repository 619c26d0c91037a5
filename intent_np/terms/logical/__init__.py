"""logical: the author's program.  Tensors have shapes and positions; helpers are calls; control is structured.

Scalars are values of an element type, as in every language; tensors (rank 0 included) have a `TensorType`.  Pointwise
terms broadcast right-aligned: equal extents, or a static 1.  Statements are effects, in order; a read of a view that an
earlier statement may have written names that statement in `after`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core import Term, find, term
from ..index import Apply, Cast, Const, Extent, Param, Stride
from ..language import Language, declared_in
from ..normal import Arg, Combine, Effect, Proj, Target, View, check_parameters
from . import contractions, domains, effects, functions, procedures, promises, regions, statements, structured, tensors
from .contractions import Quantize, QuantizedDot, ScaledContract, SparseContract, TensorContract
from .domains import Along, At, AtEach, Between, Domain, LoopVar, NewAxis, Placed, Subscript, indexed, placed
from .effects import Access, Accumulate, Allocate, Atomic, Buffer, Old, Succeeded, accesses, orders, written
from .functions import Formal, Function
from .inlining import inlined
from .procedures import Call, Passed, PassedEffect, PassedView, Perform, Procedure, Returned, given, opened, performed
from .promises import InBounds, Unique
from .regions import RegionFold, RegionScan
from .statements import After, Assert, Branch, Ordered, Outcome, Parallel, Print, Start, State, Write
from .structured import Histogram, TensorReduce, TensorScan, TensorSort
from .tensors import Convert, Filled, Indices, Pointwise, Read, Reshape, Take, Transpose
from .types import SHAPING, TensorType, broadcast, element, formed, shape_of


@term
class LogicalProgram(Term):
    """A captured kernel: parameters in declaration order, statements in source order."""

    name: str
    parameters: tuple[Term, ...]
    body: tuple[Effect, ...]
    permissions: tuple[str, ...] = ()
    target: Target | None = None
    syntax = "logical @{name}({parameters}){ permits |permissions|}{ for |target|} {{{body:block}}}"

    def infer(self) -> None:
        check_parameters(self.parameters)


def no_races(program: LogicalProgram) -> Iterator[str]:
    """Inside `parallel`, a write's address varies along every point, unless a condition, a promise or an atomic access
    keeps the points apart, or each has a buffer of its own."""
    for p in find(program, Parallel):
        own = {e.buffer for e in performed(*p.body) if isinstance(e, Allocate)}
        for a in accesses(p.body):
            if isinstance(a.term, Write) and a.view not in own and not a.conditions:
                used = set(find(a.subscripts, (LoopVar, Unique, Old)))
                for v in p.points:
                    if v not in used and all(isinstance(u, LoopVar) for u in used):
                        yield f"points along {v} write the same elements: {a.term}"


LOGICAL = Language(
    "logical", root=LogicalProgram, about=__doc__ or "", rules=(no_races,),
    terms=(
        Const, Extent, Stride, Param, View, Apply, Cast, Arg, Combine, Proj, Target,
        *declared_in(domains), *declared_in(tensors), *declared_in(promises), *declared_in(structured),
        *declared_in(contractions), *declared_in(functions), *declared_in(regions), *declared_in(statements),
        *declared_in(effects), *declared_in(procedures), LogicalProgram,
    ),
)  # fmt: skip
