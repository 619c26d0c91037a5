"""What the machines of program levels share: instances in pieces, with memory that knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import prod

import numpy as np

from ...numerics import Array
from ...terms.core import Term
from ...terms.grouped import Last
from ...terms.normal import Store, Update
from ..arrays.arguments import Arguments
from ..arrays.counters import Counters
from ..arrays.memory import Memory
from ..arrays.schedule import box, numbered, pieces
from ..arrays.shadow import Shadow
from ..arrays.values import malformed
from ..arrays.versions import performed

BytesOf = Callable[[Sequence[int]], int]


def memory_of(program: Term, arguments: Arguments, counters: Counters | None, strict: bool) -> Memory:
    """The memory of a run, with a shadow of what the program writes when it is checked."""
    written = {t.view.name for t in performed(program) if isinstance(t, (Store, Update))}
    return Memory(arguments, counters or Counters(), Shadow(written) if strict else None)


def each(size: int) -> BytesOf:
    """Bytes of a piece whose every instance has temporaries of this size."""
    return lambda counts: size * prod(counts)


def launched(
    memory: Memory, extents: Sequence[int], rank: int, bytes_of: BytesOf, order: str, budget: int, first: int = 0
) -> Iterator[tuple[Array, ...]]:
    """The instances 0..extents in pieces whose temporaries fit the budget, `memory` told about each piece; they are
    numbered from `first`."""
    if 0 in extents:
        return
    for piece in pieces(extents, box(extents, bytes_of, budget), order):
        memory.instances = tuple(len(line) for line in piece)
        memory.piece = extents, piece
        memory.identities = first + numbered(piece, extents, rank) if memory.shadow is not None else None
        memory.counters.instances += memory.spread(None)
        yield piece


def last_of(memory: Memory, e: Last, dim: int, rank: int) -> Array:
    """Which of the instances in hand come last of all those along a dimension, now that they have arrived."""
    extents, piece = memory.piece
    every = memory.arrived.setdefault(e, np.zeros([1 if d == dim else n for d, n in enumerate(extents)], np.int64))
    at = np.ix_(*(np.zeros(1, np.int64) if d == dim else line for d, line in enumerate(piece)))
    every[at] += len(piece[dim])
    last = np.zeros(memory.instances, np.bool_)
    last[tuple(slice(-1, None) if d == dim else slice(None) for d in range(len(piece)))] = every[at] == extents[dim]
    if memory.shadow is not None and memory.identities is not None:
        counters = np.arange(every.size).reshape(every.shape)[at]
        memory.shadow.arrived(e, memory.identities.reshape(memory.instances), counters)
    return last.reshape(*memory.instances, *[1] * (rank - len(memory.instances)))


def trips(
    memory: Memory, lo: Array, hi: Array, step: Array | int, outer: Array | None
) -> Iterator[tuple[int, Array | None]]:
    """Iterations of a loop whose bounds are one number for each instance: number, and which instances are in it.

    All instances start together; each leaves when its own range is done.
    """
    for bound in (lo, hi):
        if any(n != 1 for n in bound.shape[len(memory.instances) :]):
            raise malformed("a loop bound that varies along a fragment axis")
    count = np.maximum(-((lo - hi) // step), 0)
    if outer is not None:
        count = np.where(outer, count, 0)
    for i in range(int(count.max(initial=0))):
        inside = count > i
        active = None if inside.all() else inside
        memory.counters.iterations += memory.spread(active)
        yield i, active


def turns(
    memory: Memory, bounds: tuple[Array, Array] | None, outer: Array | None
) -> Iterator[tuple[int, Array | None]]:
    """Iterations of an ordered loop, without end where it has no bounds: number, and which instances may have it."""
    if bounds is not None:
        yield from trips(memory, *bounds, 1, outer)
    else:
        yield from ((i, outer) for i in count())


def both(a: Array | None, b: Array | None) -> Array | None:
    """The instances of both masks, where None is all of them."""
    return b if a is None else a if b is None else a & b


def hold(active: Array | None, new: Sequence[Array], old: Sequence[Array]) -> list[Array]:
    """The next states: inactive instances keep theirs."""
    return list(new) if active is None else [np.where(active, n, o) for n, o in zip(new, old, strict=True)]
