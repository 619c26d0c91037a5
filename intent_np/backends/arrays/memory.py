"""Loads and stores of views: every active lane is checked against the bounds, and counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import IntentError, error
from ...numerics import Array, storage
from ...terms.core import arena
from ...terms.normal import Load, Store, Update
from ...terms.text import brief
from .access import gather, scatter
from .arguments import Arguments
from .counters import Counters
from .shadow import Shadow
from .updates import Combining, in_turn


class Memory:
    """The arrays of a run.

    Index arrays, values and masks have one dimension for each axis of the frame in hand; the first `len(instances)` of
    them are instances of the program, `instances` many along each.  A fragment that is the same for all instances along
    a dimension has size 1 there, though each of them performs the access.
    """

    def __init__(self, arguments: Arguments, counters: Counters, shadow: Shadow | None = None) -> None:
        self.arguments, self.counters, self.shadow = arguments, counters, shadow
        self.instances: tuple[int, ...] = ()
        self.piece: tuple[Sequence[int], Sequence[Array]] = (), ()  # how many there are, and which of them are in hand
        self.arrived: dict[Any, Array] = {}  # how many have come to what the last of them does
        self.identities: Array | None = None  # number of each instance, for the shadow
        self.snapshots: dict[tuple[str, Any], Array] = {}
        self.found: dict[Update, list[tuple[tuple[Array, ...], Array]]] = {}  # where axes are whole, see `Coordinates`

    def snapshot(self, loads: Iterable[Load]) -> None:
        """Copy the views that these loads must see as they are now, if no copy is older."""
        for t in loads:
            if (t.view.name, t.after) not in self.snapshots:
                self.snapshots[t.view.name, t.after] = self.arguments.arrays[t.view.name].copy()

    def load(self, t: Load, indices: Sequence[Array], valid: Array | None, active: Array | None) -> Array:
        """The elements at `indices`; lanes that are not `valid` give the fill, lanes that are not `active` anything."""
        array = self.snapshots.get((t.view.name, t.after))
        current = array is None
        array = self.arguments.arrays[t.view.name] if array is None else array
        shape = _shape(*indices, valid)
        lanes = _both(valid, active)
        indices, reachable = _inside(t, array, indices, lanes)
        self.counters.loads += (n := self._count(shape, lanes))
        self.counters.bytes_loaded += n * t.view.dtype.bytes
        if self.shadow is not None and current:
            self.shadow.loaded(t, array.shape, indices, lanes, self.identities)
        fill = np.asarray(t.fill, storage(t.view.dtype))
        if not reachable:
            return np.full(shape, fill)
        if valid is not None and not valid.any():
            return np.full(shape, fill)
        found = gather(array, indices)
        return found if valid is None or valid.all() else np.where(valid, found, fill)

    def store(
        self, t: Store, indices: Sequence[Array], value: Array, valid: Array | None, active: Array | None
    ) -> None:
        """Write `value` at `indices` where `valid` and `active`."""
        array = self.arguments.arrays[t.view.name]
        lanes = _both(valid, active)
        shape = _shape(*indices, value, lanes)
        indices, reachable = _inside(t, array, indices, lanes)
        self.counters.stores += (n := self._count(shape, lanes))
        self.counters.bytes_stored += n * t.view.dtype.bytes
        if not reachable or lanes is not None and not lanes.any():
            return
        if self.shadow is not None:
            self.shadow.stored(t, array.shape, indices, value, lanes, self.identities)
        scatter(array, indices, value, None if lanes is None or lanes.all() else lanes)

    def update(
        self, t: Update, indices: Sequence[Array], values: Sequence[Array], lanes: Array | None, full: Sequence[int],
        combining: Combining,
    ) -> Array:  # fmt: skip
        """Update the elements at `indices` in these `lanes` of a frame that is `full`; what each lane found, or 0."""
        array = self.arguments.arrays[t.view.name]
        shape = np.broadcast_shapes(tuple(full), _shape(*indices, *values, lanes))
        indices, reachable = _inside(t, array, indices, lanes)
        self.counters.stores += (n := self._count(shape, lanes))
        self.counters.bytes_stored += n * t.view.dtype.bytes
        old = np.zeros(shape, array.dtype)
        live = np.flatnonzero(np.broadcast_to(True if lanes is None else lanes, shape))
        if not reachable or not live.size:
            return old
        if self.shadow is not None:
            active = np.broadcast_to(True if lanes is None else lanes, shape)
            self.shadow.updated(t, array.shape, indices, active, self.identities)
        places = [np.broadcast_to(i, shape).reshape(-1)[live] for i in indices]
        at = np.ravel_multi_index(tuple(places), array.shape) if places else np.zeros_like(live)
        flat = np.array(array).reshape(-1)
        given = [np.broadcast_to(v, shape).reshape(-1)[live] for v in values]
        old.reshape(-1)[live] = in_turn(t, flat, at, given, combining)
        array[...] = flat.reshape(array.shape)
        return old

    def _count(self, shape: tuple[int, ...], lanes: Array | None) -> int:
        """Active lanes of an access of this shape, over all instances that perform it."""
        full = shape if lanes is None else np.broadcast_shapes(shape, lanes.shape)
        count = _size(full) if lanes is None else int(np.count_nonzero(lanes)) * (_size(full) // max(1, lanes.size))
        for d, n in enumerate(self.instances):
            count *= n if not full or full[d] == 1 else 1
        return count

    def multiplied(self, left: Array, right: Array, dim: int, extent: int, active: Array | None) -> None:
        """Count a product and a sum for each term of a contraction along `dim`, in every active instance."""
        shape = np.broadcast_shapes(left.shape, right.shape)
        own = [extent if d == dim else n for d, n in enumerate(shape) if d >= len(self.instances)]
        self.counters.flops += 2 * _size(tuple(own)) * self.spread(active)

    def spread(self, active: Array | None) -> int:
        """How many instances are active."""
        if active is None:
            return _size(self.instances)
        return self._count((1,) * active.ndim, active)


def _inside(
    t: Load | Store | Update, array: Array, indices: Sequence[Array], lanes: Array | None
) -> tuple[list[Array], bool]:
    """Indices clipped to the bounds, and whether any lane can be reached; an error where an active lane is outside."""
    clipped, reachable = [], True
    for d, (i, n) in enumerate(zip(indices, array.shape, strict=True)):
        if i.size == 0:
            reachable = False
        elif int(i.min()) < 0 or int(i.max()) >= n:
            outside = (i < 0) | (i >= n)
            wrong = outside if lanes is None else outside & lanes
            if wrong.any():
                raise outside_error(t, d, n, int(np.broadcast_to(i, wrong.shape)[wrong][0]))
            i = i.clip(0, max(0, n - 1))
            reachable = reachable and n > 0
        clipped.append(i)
    return clipped, reachable


def outside_error(t: Any, dim: int, extent: int, value: int) -> IntentError:
    """The error of an access that leaves its view."""
    return error(
        "E502",
        span=next(iter(arena().spans.get(t, ())), None),
        name=t.view.name,
        expected=f"an index of axis {dim} in 0..{extent}",
        found=f"index {value}" if t in arena().spans else f"index {value}, in {brief(t)}",
    )


def _both(a: Array | None, b: Array | None) -> Array | None:
    return b if a is None else a if b is None else a & b


def _shape(*arrays: Array | None) -> tuple[int, ...]:
    return np.broadcast_shapes(*(a.shape for a in arrays if a is not None))


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))
