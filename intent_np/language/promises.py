"""What an author promises of an index where no proof is found: the index, with a fact that checking mode tests."""

from __future__ import annotations

from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.dtypes import DType, index
from intent_np.terms.index import Cast, Value
from intent_np.terms.logical import Convert, InBounds, Unique, element, shape_of
from intent_np.terms.normal import Memory

from .context import fail
from .declare import intrinsic
from .elaborate import Operand, describe, fit, is_tensor, show
from .elaborate import value as term
from .shapes import axis_of


def coordinate(operation: str, v: Operand) -> Value:
    """An index, or a tensor of them, of any integer dtype."""
    made = term(v, index)
    d = element(made.type)
    if not isinstance(d, DType) or not d.is_integer:
        raise fail("E202", operation=operation, dtype=show(made), expected="integers", found=show(made))
    return made if d is index else Convert(made, index) if is_tensor(made) else Cast(made, index)


@intrinsic
def assume_in_bounds(index: Operand, view: Any, axis: int = 0) -> Value:
    """The index, promised to be inside of `view` along `axis`: at least 0 and below its extent."""
    shape = view.shape if isinstance(view, Memory) else shape_of(view) if is_tensor(view) else ()
    if not shape:
        raise fail(
            "E113", name="I.assume_in_bounds", signature="I.assume_in_bounds(index, view, axis=0)", found=describe(view)
        )
    return InBounds(coordinate("I.assume_in_bounds", index), simplify(shape[axis_of(axis, len(shape))]))


@intrinsic
def assume_unique(index: Any) -> Any:
    """The index, promised to be another one in every lane and at every point; a tuple of coordinates is promised to be
    another tuple."""
    parts = tuple(coordinate("I.assume_unique", v) for v in (index if isinstance(index, tuple) else (index,)))
    fit(parts, "I.assume_unique")
    made = tuple(Unique(parts, k) for k in range(len(parts)))
    return made if isinstance(index, tuple) else made[0]
