"""grouped -> grouped: members whose number only the device knows are spread over several instances.

    group over (g, n)                                     group over (g, part, n)
      store y[rows, n] = …   rows: offsets[g]..              store y[rows, n] = …   rows: the part of offsets[g]..

A grid can't have an axis whose bounds are in memory, so that one instance would go through all of its members.  Each
part is a contiguous run of them, in whole blocks; how many parts there are is a launch expression.
"""

from __future__ import annotations

from typing import Any

from ..rules.simplify import node, simplify
from ..terms.core import arena, contains, find, inherit, named, replace, rewrite
from ..terms.grouped import GROUPED, Group, GroupedProgram, Sync
from ..terms.index import Value, add, apply, const, mul
from ..terms.normal import Axis, Contract, Coord, Load, Recur, Store, Update, varying
from .base import nanopass
from .lower_buffers import extent
from .roles import STRUCTURED, reads_memory


@nanopass(GROUPED, GROUPED, allowed={"rows": range(1, 1 << 20), "spare": range(1, 1 << 10)})
def spread_members(program: GroupedProgram, *, rows: int = 128, spare: int = 2) -> GroupedProgram:
    """Split each axis of matrix products whose bounds are read from memory into parts that have their own instances.

    There are `spare` times as many parts as members of equal number would fill with `rows` each: where numbers differ,
    the longest get more instances, and the parts that a short one leaves empty end at once.
    Behind grouping, which decides what the other instances are.  Preserves the stored elements: the parts of an axis
    are disjoint and cover it.
    """
    return replace(program, groups=tuple(_spread(g, rows, spare) for g in program.groups))  # type: ignore[no-any-return]


def _spread(group: Group, rows: int, spare: int) -> Group:
    if group.serial:
        return group
    for axis in _candidates(group):
        owners = sorted(varying(Coord(axis)) - {axis}, key=lambda a: a.digest)
        if (members := _members(group, axis)) is None:
            continue
        instances: Any = const(1)
        for a in owners:
            instances = mul(instances, extent(a.lo, a.hi))
        filled = apply("ceil_div", mul(members, const(spare)), mul(apply("maximum", instances, const(1)), const(rows)))
        part = named(Axis(const(0), named(simplify(filled), "parts")), "part")
        length = mul(apply("ceil_div", apply("ceil_div", extent(axis.lo, axis.hi), const(rows)), part.hi), const(rows))
        label = arena().names.get(axis, "i")
        before = named(mul(Coord(part), named(length, "part_members")), "part_offset")
        lo = named(node(add(axis.lo, before)), f"{label}_begin")
        hi = named(node(apply("minimum", axis.hi, add(lo, length))), f"{label}_end")
        run = inherit(axis, named(Axis(lo, hi, axis.use), label))
        group = _with(group, axis, run, part, max(map(group.workset.index, owners), default=-1) + 1)
    return group


def _candidates(group: Group) -> list[Any]:
    """Axes of matrix products that every effect could be spread over if the host knew their bounds."""
    written = {name for e in find(group.effects, (Store, Update)) for name in e.view.names}
    read = {name for t in find(group.effects, Load) for name in t.view.names}
    if contains(group, Recur, Sync) or written & read:  # members may depend on each other
        return []
    inner = [t for t in find(group.effects, STRUCTURED) if contains(t, Load)]
    bound = {t.axis for t in find(group.effects, STRUCTURED)}
    found: dict[Any, None] = {}
    for t in inner:
        if isinstance(t, Contract):
            found |= dict.fromkeys(sorted((t.left.lanes ^ t.right.lanes) - {t.axis}, key=lambda a: a.digest))
    return [
        a for a in found
        if isinstance(a, Axis) and a not in group.workset and a not in bound
        and reads_memory(a)
        and varying(Coord(a)) - {a} <= set(group.workset)
        and all(a in varying(t) for t in inner)
        and all(_performed_along(e, a) for e in find(group.effects, (Store, Update)))
    ]  # fmt: skip


def _performed_along(e: Any, axis: Axis) -> bool:
    return axis in e.over if isinstance(e, Update) else any(axis in i.lanes for i in e.index)


def _members(group: Group, axis: Axis) -> Value | None:
    """How many members all instances have together, at most: the extent of what they are stored along."""
    for e in find(group.effects, Store):
        for i, size in zip(e.index, e.view.shape, strict=True):
            if i is Coord(axis):
                return size  # type: ignore[no-any-return]
    return None


def _with(group: Group, axis: Axis, run: Axis, part: Axis, position: int) -> Group:
    """The group over `run`, a part of `axis`, with `part` among the axes of its instances."""

    def step(t: Any) -> Any:
        if t is axis:
            return run
        if isinstance(t, Update) and axis in t.over:
            k = t.over.index(axis)
            return node(replace(t, over=(*t.over[:k], part, *t.over[k:])))
        return node(t)

    effects = rewrite(group.effects, step)
    return replace(group, workset=(*group.workset[:position], part, *group.workset[position:]), effects=effects)  # type: ignore[no-any-return]
