"""normal -> normal: prefixes that no loop over blocks could carry are kept in memory of the kernel's own.

    store y[i] = scan of x[i] - scan of x[i] reverse        store prefixes[i_1] = scan of x[i_1] reverse
                                                            store y[i] = scan of x[i] - load prefixes[i]

One loop goes through an axis in one direction, so that scans in the other one are made by a loop of their own.  A loop
inside of another one begins anew in each block of that, so that a scan along one axis of what was scanned along another
one finds that in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..terms.core import find, replace
from ..terms.index import Value
from ..terms.normal import (
    NORMAL,
    Axis,
    Contract,
    Load,
    Part,
    Program,
    Proj,
    Recur,
    Reduce,
    Region,
    Scan,
    Store,
    Update,
)
from ..terms.ordered import Rewritten, evaluated
from .base import nanopass
from .blocks import block_extents
from .groups import groups
from .keep_found import keep_found
from .put_aside import Ahead, key, rebuilt, statements
from .roles import axes, in_index_order


@nanopass(NORMAL, NORMAL, needed="keeps the prefixes that no loop carries")
def keep_prefixes(program: Program) -> Program:
    """Keep prefixes in memory where the loop over the blocks of their axis can't carry them, and what accesses found
    where another loop asks for it.

    Behind `bind_class`, which knows what a fragment holds whole, and in front of grouping as all that stores.
    Preserves every prefix, and all that was found.
    """
    program = keep_found(program)
    while any(True for _ in find(program.effects, Scan)):
        chosen = _chosen(program)
        new = _Keeping(program, chosen).program() if chosen else program
        if new is program:
            break
        program = new
    return program


def _chosen(program: Program) -> dict[Any, set[Any]]:
    """The scans of each statement, or of the loop of a name, that are made ahead of it."""
    found: dict[Any, set[Any]] = {}
    for g in groups(program.effects):
        scans: list[Scan] = [t for t in find(g.effects, Scan) if isinstance(t.axis, Axis)]
        if not scans:
            continue
        held = block_extents(g)[1].union(g.workset)
        sliced = {a for a in axes(g.effects) if a not in held}
        backward = _backward(scans)
        for e in statements(g.effects):
            if isinstance(e, (Store, Update)):
                own = tuple(a for a in in_index_order(e) if a in sliced)
                chosen = _uncarried((e,), own, sliced, backward)
            elif isinstance(e, Recur):
                chosen = _uncarried((*e.inits, *e.yields), (), sliced, backward)
            else:
                continue
            if scans := list(chosen):
                found.setdefault(e.turn.name if isinstance(e, Recur) else key(e), set()).update(scans)
    return found


def _backward(scans: list[Scan]) -> dict[Any, bool]:
    """Which way a loop over each axis goes: as the scans do whose results are in no other one along it."""
    inner = {(t.axis, x) for t in scans for x in find(t.values, Scan) if x.axis is t.axis}
    found: dict[Any, bool] = {}
    for t in scans:
        if (t.axis, t) not in inner:
            found[t.axis] = found.get(t.axis, True) and t.reverse
    return found


def _uncarried(
    roots: tuple[Any, ...], own: tuple[Any, ...], sliced: set[Any], backward: dict[Any, bool]
) -> Iterator[Scan]:
    """The outermost scans below `roots` that a loop can't carry: those that go the other way, and those along whose
    values a loop inside of theirs goes, or that have none of the innermost of the statement's `own` axes."""
    scanned = [t.axis for t in reversed(evaluated(*roots)) if isinstance(t, Scan) and t.axis in own]
    own = (*(a for a in own if a not in scanned[:1]), *scanned[:1])
    stack: list[Any] = [(t, own) for t in roots]
    seen: set[Any] = set()
    while stack:
        t, around = stack.pop()
        if (t, around) in seen:
            continue
        seen.add((t, around))
        if isinstance(t, Scan) and t.axis in sliced:
            outer = around[: around.index(t.axis)] if t.axis in around else around
            lanes = {a.axis if isinstance(a, Part) else a for a in t.lanes}
            inside = (lanes & sliced).difference((t.axis, *outer))
            if inside or t.reverse is not backward[t.axis] or t.axis in own[:-1]:
                yield t
                continue
        if isinstance(t, (Reduce, Contract, Region)) and t.axis in sliced:
            around = (*(a for a in around if a is not t.axis), t.axis)
        stack.extend((c, around) for c in t.children() if isinstance(c, Value))


class _Keeping(Ahead):
    """The program with the `chosen` scans in statements of their own."""

    def __init__(self, program: Program, chosen: dict[Any, set[Any]]) -> None:
        super().__init__(program)
        self.chosen = chosen

    def ahead(self, name: Any, root: Any, front: list[Any]) -> Any:
        chosen = {_alike(t) for t in self.chosen.get(name, ())}
        done = Rewritten()
        for t in evaluated(root) if chosen else ():
            scan = t.value if isinstance(t, Proj) else t
            if isinstance(scan, Scan) and _alike(scan) in chosen and not isinstance(t.type, tuple):
                if (kept := self.memory.aside(t, "prefixes", apart=scan.axis)) is not None:
                    front.append(kept[0])
                    done[t] = kept[1]
        return rebuilt(root, done) if done else root


def _alike(t: Scan) -> Any:
    """What a scan is known by, whatever the loads below it come after."""
    done = Rewritten()
    for x in evaluated(t):
        new = x.rebuild(done)
        done[x] = replace(new, after=None) if isinstance(new, Load) else new
    return done[t]
