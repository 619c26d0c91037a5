"""order_fragments: gpu -> gpu.  One order of all fragment axes, as the order of the kernel's physical parameters.

    kernel @gemm<BM, BN, BK>(…)          kernel @gemm<BM, BK, BN>(…)

A provider with positional fragments lays every value out in this order, and never decides again: stored axes come in
the order of the largest store, eliminated ones before the last of them, so that a matmul is m, k, n and needs no
transposition.
"""

from __future__ import annotations

from typing import Any

from ..terms.core import find, replace
from ..terms.gpu import GPU, Kernel, Load, Physical, Range, Store, Var
from ..terms.index import Value
from .base import nanopass


@nanopass(GPU, GPU)
def order_fragments(kernel: Kernel) -> Kernel:
    """Sort the physical parameters into the order in which a fragment's axes are laid out.

    Positions start to matter in the next pass, and one global order makes most transpositions vanish.
    Preserves the program: parameters are named, their order means nothing in gpu.
    """
    stores = sorted(find(kernel, Store), key=lambda s: -len(_in_order(s.index)))
    stored = _in_order(i for s in stores for i in s.index)
    axes = [p for p in _appearance(kernel) if p not in stored]
    before = [p for p in axes if len(stored) > 1 or (stored and _precedes(kernel, p, stored[0]))]
    after = [p for p in axes if p not in before]
    order = (*stored[:-1], *before, *stored[-1:], *after)
    rest = tuple(p for p in kernel.physical if p not in order)
    return kernel if (*order, *rest) == kernel.physical else replace(kernel, physical=(*order, *rest))


def _in_order(values: Any) -> list[Physical]:
    """The axes of these values, each once; a value with several gives them in the order of their names."""
    out: dict[Physical, None] = {}
    for v in values:
        out |= dict.fromkeys(sorted(v.lanes, key=lambda p: p.name))
    return list(out)


def _appearance(kernel: Kernel) -> list[Physical]:
    """Every axis along which something varies, in the order of its first use."""
    used: dict[Physical, None] = {}
    for t in find(kernel, Range):
        used.setdefault(t.size)
    for v in find(kernel, Var):
        used |= dict.fromkeys(v.varies)
    for v in find(kernel, Value):
        if not v.lanes <= used.keys():
            used |= dict.fromkeys(sorted(v.lanes, key=lambda p: p.name))
    return list(used)


def _precedes(kernel: Kernel, axis: Physical, other: Physical) -> bool:
    """Whether memory that is read along both has `axis` in front: a column sum reads m, n and keeps n."""
    for load in find(kernel, Load):
        places = {p: i for i, x in enumerate(load.index) for p in x.lanes}
        if axis in places and other in places:
            return places[axis] < places[other]
    return False
