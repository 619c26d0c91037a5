"""grouped -> grouped: a contraction without a free axis on each side is a reduction of products.

contract over k of a[m, k], x[k] into f32        reduce sum over k of cast(a[m, k], f32) * cast(x[k], f32)
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import node
from ..terms.core import rewrite
from ..terms.grouped import GROUPED, GroupedProgram
from ..terms.index import Cast, mul
from ..terms.normal import Contract, Reduce, builtin, identity
from .base import nanopass


@nanopass(GROUPED, GROUPED)
def expand_contractions(program: GroupedProgram) -> GroupedProgram:
    """Turn matvec-like contractions into sums, which accumulate lane by lane.

    Before blocking, so that the sum gets lanes of its own instead of a reduction in every iteration.
    Preserves the value: products and sums are in the accumulator's dtype, as before.
    """

    def step(t: Any) -> Any:
        if isinstance(t, Contract) and not all(free_axes(t)):
            product = node(mul(node(Cast(t.left, t.acc)), node(Cast(t.right, t.acc))))
            return Reduce(t.axis, builtin("sum", t.acc), (product,), (identity("sum", t.acc),))
        return node(t)

    return rewrite((program,), step, Contract)[0]  # type: ignore[no-any-return]


def free_axes(t: Contract) -> tuple[list[Any], list[Any]]:
    """The axes that only the left, and only the right operand varies along."""
    order = lambda axes: sorted(axes, key=lambda a: a.digest)  # noqa: E731
    return order(t.left.lanes - t.right.lanes - {t.axis}), order(t.right.lanes - t.left.lanes - {t.axis})
