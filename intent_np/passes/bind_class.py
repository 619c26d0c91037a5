"""normal -> normal: the launch class becomes part of the program.

x = view in f16[M, N] strides [x_s0, x_s1]       x = view in f16[M, N] strides [x_s0, 1] aligned 16
N = extent                                       N = extent at most 1024 multiple of 8
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..rules.simplify import node
from ..terms.core import replace, rewrite
from ..terms.index import Extent, Stride, const
from ..terms.normal import NORMAL, Program, View
from .base import nanopass


@nanopass(
    NORMAL, NORMAL, allowed={"aligned": range(1, 1 << 62), "bounds": range(1 << 62), "multiples": range(1, 1 << 62)}
)
def bind_class(
    program: Program,
    *,
    unit: Mapping[str, int | None] = {},
    aligned: Mapping[str, int] = {},
    bounds: Mapping[str, int] = {},
    multiples: Mapping[str, int] = {},
) -> Program:
    """State what holds for every call of a variant: unit strides, alignment in bytes, bounds and divisors of extents.

    Before grouping, since roles ask for bounds and masks for divisors.
    Preserves meaning for the calls of the class; the host checks membership at each launch.
    """

    def step(t: Any) -> Any:
        if isinstance(t, Extent):
            return replace(t, bound=bounds.get(t.name, t.bound), multiple=multiples.get(t.name, t.multiple))
        if isinstance(t, Stride):
            if unit.get(t.view) == t.dim:
                return const(1)
            return replace(t, multiple=max(t.multiple, aligned.get(t.view, 1) // sizes[t.view], 1))
        if isinstance(t, View):
            return replace(t, aligned=max(t.aligned, aligned.get(t.source or t.name, 1)))
        return node(t)

    sizes = {v.name: v.dtype.bytes for v in program.parameters if isinstance(v, View)}

    return rewrite((program,), step, (Extent, Stride, View))[0]  # type: ignore[no-any-return]
