"""blocked -> gpu: terms become statements, each computed once, in the outermost loop that it needs.

    fold sum over slice of k of contract …       acc = full<fragment<f32, [BM, BN]>>(0)
                                                 for k0 = 0 to K step BK iter_args(acc): …

Demand-driven: a term goes to the innermost open loop that it `needs`, so invariants are hoisted without a pass of their
own; what is used once and has no name of the author's stays inside its user.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import error
from ..rules.simplify import node
from ..terms.blocked import BLOCKED, Base, BlockedGroup, BlockedProgram, Fold, Loop, Point, Tile, Traverse
from ..terms.core import find, replace, rewrite
from ..terms.dtypes import index
from ..terms.gpu import GPU, Dispatch, Kernel, Var
from ..terms.index import Physical, add, apply, const, is_const, mul
from ..terms.normal import Coord, View
from .base import nanopass
from .copy_first import with_copies
from .emit_effects import ReadLate
from .emit_last import Tickets
from .emit_names import PROGRAM
from .lower_buffers import extent
from .scopes import extents_used


@nanopass(BLOCKED, GPU)
def emit(program: BlockedProgram) -> Kernel:
    """Write the blocked program as a kernel over a grid: program coordinates, named fragments, loops, stores.

    The last structural pass: what is left is width, alignment, dtypes and the provider.
    Preserves values and the order of effects; evaluates each term once in its scope.
    """
    for t in find(program, (Fold, Traverse, Loop)):
        if not isinstance(t, Loop) or not t.stepped:
            found = (
                f"statements are made of loops that carry states, by share_traversals and apply_combines, not of: {t}"
            )
            raise error("E702", language="blocked", found=found)
    while True:
        try:
            return _Emitter(program).kernel()
        except ReadLate as late:
            program = _separated(program, late.view) if late.view.same else with_copies(program, (late.view,))


def _separated(program: BlockedProgram, view: View) -> BlockedProgram:
    """The program where `view` is never the array that another view is."""
    alone = replace(view, same=())
    return rewrite((program,), lambda t: alone if t is view else t)[0]  # type: ignore[no-any-return]


class Instances(NamedTuple):
    """An execution group as statements: its grid, the coordinates of an instance, and what it performs."""

    grid: tuple[Any, ...]
    coordinates: tuple[Var, ...]
    body: tuple[Any, ...]
    grouping: int


def dispatched(groups: list[Instances]) -> Instances:
    """One grid of all instances, group behind group."""
    number = Var(PROGRAM, index)
    first: Any = const(0)
    body = []
    for g in groups:
        count: Any = const(1)
        for instances in g.grid:
            count = node(mul(count, instances))
        end = node(add(first, count))
        body.append(Dispatch(number, first, end, *g))
        first = end
    return Instances((first,), (number,), tuple(body), 1)


class _Emitter(Tickets):
    def __init__(self, program: BlockedProgram) -> None:
        super().__init__(program)
        self.program = program
        self.based = {b.axis for b in find(program, Base)}
        self.counters = []
        self.space: list[tuple[Any, Any, Var]] = []

    def kernel(self) -> Kernel:
        program = self.program
        groups = [self.group(g) for g in program.groups]
        grid, coordinates, body, grouping = groups[0] if len(groups) == 1 else dispatched(groups)
        physical = {p.name: p for p in find((*body, *grid), Physical)}
        tiles = [a.size.name for g in program.groups for a in g.space if isinstance(a, Tile)]
        ordered = tuple(physical[n] for n in dict.fromkeys([*tiles, *physical]))
        own = (*program.parameters, *self.counters)
        parameters = tuple(dict.fromkeys((*own, *extents_used((*grid, *body)))))
        return Kernel(
            program.name, ordered, parameters, grid, coordinates, body, grouping, program.permissions, program.target,
            program.warps, program.registers,
        )  # fmt: skip

    def instances(self) -> list[tuple[Any, Any, Var]]:
        return self.space

    def group(self, group: BlockedGroup) -> Instances:
        """The statements of an execution group, in names of its own."""
        self.enter(group.effects)
        self.phase = 0
        grid, coordinates = [], []
        for a in group.space:
            lo, hi = a.axis.lo, a.axis.hi  # type: ignore[attr-defined]
            members = extent(lo, hi)
            label = self.names.get(a, "i")
            if isinstance(a, Point):
                grid.append(members)
                var = Var(self.fresh(label if is_const(lo, 0) else "p" + label), index)
                self.root.done[Coord(a)] = var if is_const(lo, 0) else self.let(add(lo, var), label, self.root)
            else:
                grid.append(node(apply("ceil_div", members, a.size)))  # type: ignore[attr-defined]
                var = Var(self.fresh("p" + label if len(label) == 1 else f"{label}_block"), index)
                start = node(add(mul(var, a.size), lo)) if not is_const(lo, 0) else mul(var, a.size)  # type: ignore[attr-defined]
                self.root.done[Base(a)] = self.let(start, label + "0", self.root) if a in self.based else start
            coordinates.append(var)
        self.space = list(zip(group.space, grid, coordinates, strict=True))
        self.effects(group.effects)
        return Instances(tuple(grid), tuple(coordinates), tuple(self.root.body), group.grouping)
