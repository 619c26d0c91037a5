"""Reading and writing at computed places: gather, unique scatter, combining scatter, and memory of the kernel's own."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType
from intent_np.terms.index import Value
from intent_np.terms.logical import Accumulate, Allocate, Buffer, Write, element
from intent_np.terms.normal import Memory

from . import indexing
from .combines import closed
from .context import capture, fail
from .declare import intrinsic
from .elaborate import Operand, describe, is_literal, is_tensor, value
from .shapes import extents


def memory(name: str, v: Any) -> Memory:
    """A destination: a view or a buffer."""
    if not isinstance(v, Memory):
        raise fail("E118", what=f"{describe(v)} in I.{name}")
    return v


@intrinsic
def gather(source: Any, index: Any, valid: Operand = None, fill: Operand = None) -> Value:
    """`source[index]` of a view, a buffer or a tensor; lanes that are not `valid` touch nothing and give `fill`.

    `index` is what a subscript is: a tuple, or one index for the first axis.  `valid` and `fill` broadcast to what is
    indexed, and come together."""
    if (valid is None) is not (fill is None):
        given = "valid without fill" if fill is None else "fill without valid"
        raise fail("E113", name="I.gather", signature="I.gather(source, index, valid=..., fill=...)", found=given)
    if not isinstance(source, Memory) and not is_tensor(source):
        raise fail("E121", what=describe(source), fix="gather from a view, a buffer or a tensor")
    return indexing.read(source, index, valid, fill)


@intrinsic
def scatter_unique(dest: Any, index: Any, value: Operand, valid: Operand = None) -> None:
    """An assignment, `dest[index] = value`, of the lanes that are `valid`."""
    indexing.write(memory("scatter_unique", dest), index, value, valid)


@intrinsic
def scatter_reduce(
    dest: Any, index: Any, value: Operand, combine: Any, valid: Operand = None, combine_operands: Any = ()
) -> None:
    """`dest[index] = combine(dest[index], value)` for each lane that is `valid`.

    `combine(a, b, *combine_operands)` is an operation such as `I.maximum` or a helper, associative and commutative, of
    two scalars of the element's dtype."""
    target = memory("scatter_reduce", dest)
    entries, (given,), mask = indexing.destination(target, index, (value,), valid)
    indexing.initialised(target)
    d = target.dtype  # type: ignore[attr-defined]
    region, used = closed("I.scatter_reduce", given, (d,), combine, combine_operands)
    capture().emit(Accumulate(target, entries, given, region, mask, used))


@intrinsic
def buffer(shape: Any, dtype: DType, init: Operand = None) -> Buffer:
    """Memory of the kernel's own, read and written by subscripts; `init` is broadcast into it, without it the contents
    are unspecified until they are written.

    It is private to the statements that it is made among: at the level of the kernel all points share it, in the order
    of statements; inside `I.parallel` each point has its own; inside an ordered loop each iteration."""
    state = capture()
    if not isinstance(dtype, DType):
        raise fail(
            "E113", name="I.buffer", signature="I.buffer(shape, dtype, init=0)", found=f"dtype={describe(dtype)}"
        )
    if state.pure:
        raise fail("E306", effect="I.buffer", found=state.pure)
    made = Buffer(state.loop_name("buffer"), dtype, extents(shape))
    state.emit(Allocate(made))
    if init is not None:
        whole = indexing.subscripts(made.name, made.shape, ())
        given = value(init, dtype)
        if not is_literal(init) and element(given.type) is not dtype:
            raise fail("E209", name="the buffer", dtype=dtype, found_dtype=element(given.type), found=describe(init))
        indexing.spread("the buffer", whole, given, dtype)
        state.emit(Write(made, whole, given))
    return made
