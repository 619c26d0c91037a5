"""The loop of a kernel in which groups of warps can take turns: one multiplies while another computes.

    for k0 = 0 to K step BK:                               for k0 in tl.range(0, K, BK, warp_specialize=True):
      k_value = load k[b, k0 + range(0, BK), range(0, BI)]   k_value = k_tiles.load([k0, 0])
      p = contract q_value, k_value, 0                       p = tl.dot(q_value, tl.trans(k_value))
      acc = contract exp(p - …), v_value, acc                acc = tl.dot(…, v_value, acc)

Two products in one loop, the second of what is computed from the first: all warps together would let tensor cores wait
for the computation and the other way round.  Triton gives the loads to warps of their own and halves the rows between
two groups, on compute capability 9.0, where every operand that is loaded is a tile of a matrix in memory; it ends on
other loads, on a second loop, and on pointers.  Used by `lower_to_triton`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..terms.core import find
from ..terms.gpu import ContractInto, Dispatch, Fetch, For, If, Kernel, Let, Load, Range, Sync, Update, Var, While
from ..terms.index import Const, Physical, Value, add, conjuncts, const, is_const, is_op
from .legalize_dot import is_dot

CAPABILITY = 90
"""Where Triton gives parts of a loop to groups of warps and matrix products are asynchronous."""

ROWS = 128
"""Rows of a product: 64 for each of two groups."""

WARPS = 4
"""Of one group, as Triton counts them where it makes more."""

LINE = 16
"""Bytes that divide the address and the rows of a matrix that is copied tile by tile."""

LONGEST = 256
"""Rows, or columns, of a tile."""


class Tile(NamedTuple):
    """What a load takes of a matrix in memory.

    load:          the load
    dims:          the dimensions of the view that are rows and columns
    begin:         the first row and column, scalars
    shape:         the parameters that size it
    """

    load: Load
    dims: tuple[int, int]
    begin: tuple[Value, Value]
    shape: tuple[Physical, Physical]


class Turning(NamedTuple):
    """The loop, and the tiles that it and what is in front of it load."""

    loop: For
    tiles: Mapping[Load, Tile]


def turning(kernel: Kernel) -> Turning | None:
    """The loop in which groups of warps can take turns, if the kernel has one."""
    loops = list(find(kernel, (For, While)))  # type: ignore[arg-type]
    if kernel.target is None or kernel.target.capability != CAPABILITY or len(loops) != 1:
        return None
    loop = loops[0]
    others = find(kernel, (Dispatch, Fetch, If, Sync, Update))  # type: ignore[arg-type]
    if not isinstance(loop, For) or loop not in kernel.body or any(True for _ in others):
        return None
    lets: dict[Any, Any] = {s.var: s.value for s in find(kernel, Let) if s.var not in loop.carries}
    products = _chained(kernel, loop, lets)
    if products is None:
        return None
    inner = {loop.var, *loop.carries, *(s.var for s in find(loop, Let))}
    operands = [_named(side, lets) for t in products for side in (t.left, t.right)]
    tiles = {v: _tile(v, lets, inner) for v in operands if isinstance(v, Load)}
    if None in tiles.values() or not tiles.keys() >= set(find(loop, Load)):
        return None
    if not all(v in tiles or _reaches(v, products[0], lets) for v in operands):
        return None
    return Turning(loop, tiles)  # type: ignore[arg-type]


def _chained(kernel: Kernel, loop: For, lets: Mapping[Any, Any]) -> tuple[ContractInto, ContractInto] | None:
    """The two products of the loop, in order, if the second needs the first and both have as many rows."""
    found = list(find(loop, ContractInto))
    if len(found) != 2 or len(list(find(kernel, ContractInto))) != 2 or not all(map(is_dot, found)):
        return None
    first, second = found if _reaches(found[1], found[0], lets) else found[::-1]
    if not _reaches(second, first, lets) or any(t.left.type.bits != 16 for t in found):  # type: ignore[union-attr]
        return None
    order = kernel.physical.index
    rows = {min(t.accumulator.lanes, key=order) for t in found}
    return (first, second) if len(rows) == 1 and rows.pop().value == ROWS else None


def _named(v: Any, lets: Mapping[Any, Any]) -> Any:
    """What a name stands for."""
    while v in lets:
        v = lets[v]
    return v


def _reaches(v: Any, wanted: Any, lets: Mapping[Any, Any]) -> bool:
    """Whether a value is computed from another one in the same iteration."""
    seen: set[Any] = set()
    waiting = [v]
    while waiting:
        u = waiting.pop()
        for t in find(u, (Var, ContractInto)):  # type: ignore[arg-type]
            if t is wanted:
                return True
            if t in lets and t not in seen:
                seen.add(t)
                waiting.append(lets[t])
    return False


def _tile(t: Load, lets: Mapping[Any, Any], inner: set[Any]) -> Tile | None:
    """The load as one of a tile: of a matrix whose place the iteration does not change, 0 past its end and nowhere
    else."""
    view, dims = t.view, tuple(d for d, i in enumerate(t.index) if i.lanes)
    if len(dims) != 2 or view.aligned % LINE or not is_const(view.strides[dims[1]], 1) or t.after is not None:
        return None
    apart = view.strides[dims[0]]
    if isinstance(apart, Const) and (apart.value < 1 or apart.value * view.dtype.bytes % LINE):
        return None
    if any(
        _named(u, lets) in inner or u in inner for d, i in enumerate(t.index) if d not in dims for u in find(i, Var)
    ):
        return None
    parts = [_split(t.index[d], lets) for d in dims]
    if None in parts:
        return None
    (row, rows), (column, columns) = parts  # type: ignore[misc]
    if rows is columns or max(rows.value, columns.value) > LONGEST or columns.value * view.dtype.bytes < 2 * LINE:
        return None
    inside = [(t.index[d], view.shape[d]) for d in dims]
    if t.valid is not None and not (t.fill == 0 and all(_within(c, inside) for c in conjuncts(t.valid))):
        return None
    return Tile(t, dims, (row, column), (rows, columns))  # type: ignore[arg-type]


def _within(c: Any, inside: list[tuple[Any, Any]]) -> bool:
    """Whether a condition says that one of these indices is inside of its extent."""
    return is_op(c, "lt") and any(c.args[0] is i and c.args[1] is n for i, n in inside)


def _split(v: Any, lets: Mapping[Any, Any]) -> tuple[Value, Physical] | None:
    """An index as the first one and the parameter that sizes the range behind it."""
    v = _named(v, lets)
    if isinstance(v, Range):
        return const(0), v.size
    if is_op(v, "add"):
        moving = [a for a in v.args if a.lanes]
        if len(moving) == 1 and (found := _split(moving[0], lets)) is not None:
            first, size = found
            for a in v.args:
                first = first if a is moving[0] else a if is_const(first, 0) else add(first, a)
            return first, size
    return None
