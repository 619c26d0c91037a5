"""The reference meaning of a `normal` program: effects, one after the other, each storing a function of coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...terms.normal import Axis, Part, Program, Recur, Scan, Store, Update
from ..arrays.arguments import bind, overlapping
from ..arrays.counters import Counters
from ..arrays.memory import Memory
from ..arrays.schedule import BUDGET, box, pieces, temporaries
from ..arrays.shadow import Shadow
from ..arrays.values import malformed
from ..arrays.versions import performed, planned
from .coordinates import Binding, Coordinates, closure
from .iterations import Iterations


def run(
    program: Program,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    order: str = "forward",
    counters: Counters | None = None,
    budget: int = BUDGET,
    cuts: int = 1,
) -> None:
    """Execute `program`; its views are the NumPy arrays of `arrays`, written in place.

    `strict` also finds elements written twice by one store and reads of what nobody wrote.  `order` is that of the
    points of each store, `budget` the bytes of temporaries alive at once, `cuts` the number of parts of a region.
    """
    arguments = bind(program, arrays, scalars or {})
    written = {t.view.name for t in performed(program) if isinstance(t, (Store, Update))}
    memory = Memory(arguments, counters or Counters(), Shadow(written, ordered=True) if strict else None)
    if any(isinstance(e, Recur) for e in program.effects):
        axes = closure(t for t in performed(program) if isinstance(t, (Axis, Part)))
        Iterations(memory, {a: d for d, a in enumerate(axes)}, program.effects, cuts).perform_all(program.effects)
        return
    plan = planned(program.effects, overlapping(arguments), own=True)
    for effect, before in zip(program.effects, plan, strict=True):
        memory.snapshot(before)
        if not isinstance(effect, (Store, Update)):
            raise malformed(f"a {type(effect).__name__}, where stores are performed", "normal")
        if memory.shadow is not None:
            memory.shadow.next_effect()
        _perform(effect, memory, order, budget, cuts)


def _perform(effect: Store | Update, memory: Memory, order: str, budget: int, cuts: int) -> None:
    """One store over its free axes, in pieces whose temporaries fit the budget."""
    terms = performed(effect)
    free = closure(_in_order(effect))
    axes = closure([*free, *(t for t in terms if isinstance(t, (Axis, Part)))])
    values = Coordinates(memory, {a: d for d, a in enumerate(axes)}, (effect,), cuts)
    whole: dict[Any, Binding] = {}
    for a in axes:
        whole[a] = values.bound[a] = values.whole(a.axis if isinstance(a, Part) else a)
    values.bound.clear()
    if any(not whole[a].members.size for a in free):
        return
    extents = {a: b.members.size for a, b in whole.items()}
    scanned = {t.axis for t in terms if isinstance(t, Scan)}
    single = (a for a in free if whole[a].member is None and a not in scanned)
    cut = [a for a in single if not any(a in b.lanes for b in axes)]
    full = [extents[a] for a in cut]

    def bytes_of(sizes: Sequence[int]) -> int:
        return temporaries(terms, extents | dict(zip(cut, sizes, strict=True)))

    for number, piece in enumerate(pieces(full, box(full, bytes_of, budget), order)):
        parts = {a: _part(whole[a], line) for a, line in zip(cut, piece, strict=True)}
        memory.identities = np.full((1,) * len(axes), number) if memory.shadow is not None else None
        with values.within({a: whole[a] for a in free} | parts):
            values.perform(effect, free)
        values.forget(b for b in parts.values() if b not in whole.values())


def _in_order(effect: Store | Update) -> list[Any]:
    """The free axes of a store, in the order of the dimensions that they address, the others last."""
    found: dict[Any, None] = {}
    for i in effect.index:
        found.update(dict.fromkeys(sorted(i.lanes, key=lambda a: a.digest)))
    found.update(dict.fromkeys(sorted(effect.lanes, key=lambda a: a.digest)))
    return list(found)


def _part(whole: Binding, line: Any) -> Binding:
    """The members numbered by `line`; the whole binding itself where that is all of them, in order."""
    if line.size == whole.members.size and (line.size < 2 or (line[1:] > line[:-1]).all()):
        return whole
    return Binding(whole.members[line])
