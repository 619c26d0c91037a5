"""Elements of an array at broadcast index arrays: a gather and a scatter that find the slices hidden in the indices.

Index arrays of one access have one rank; where each varies along dimensions of its own, as those of a block do, the
access is a slice or a `take` along each axis, many times faster than an element at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from ...numerics import Array

Selector = slice | Array


def gather(source: Array, indices: Sequence[Array]) -> Array:
    """A new array with the broadcast shape of `indices`, all of them within the bounds of `source`."""
    shape = np.broadcast_shapes(*(i.shape for i in indices))
    if not _separate(indices):
        return np.array(source[tuple(indices)]).reshape(shape)
    flat = [i.reshape(-1) for i in indices]
    steps = [_step(f) for f in flat]
    # slices first, so that a `take` copies nothing that a slice drops
    part = source[tuple(slice(None) if s is None else _slice(f, s) for f, s in zip(flat, steps, strict=True))]
    for axis, (f, s) in enumerate(zip(flat, steps, strict=True)):
        part = part.take(f, axis) if s is None else part
    # axes of `part` are those of `source`; each opens into the dimensions of its index, then all take their places
    places = [d for i in indices for d in _dims(i)]
    opened = part.reshape([shape[d] for d in places])
    return np.array(opened.transpose(np.argsort(places)).reshape(shape), order="C")


def scatter(target: Array, indices: Sequence[Array], value: Array, valid: Array | None) -> None:
    """Write `value` (broadcast) at `indices` (broadcast, within bounds where `valid`) where `valid`."""
    shape = np.broadcast_shapes(value.shape, *(i.shape for i in indices), *(() if valid is None else (valid.shape,)))
    value = np.broadcast_to(value, shape)
    if not indices:
        target[()] = value.reshape(-1)[-1] if valid is None else value[np.broadcast_to(valid, shape)][-1]
        return
    if _separate(indices) and np.broadcast_shapes(*(i.shape for i in indices)) == shape:
        live = [None] * len(indices) if valid is None else _product(valid, indices)
        if live is not None:
            _block(target, indices, value, live)
            return
    if valid is None:
        target[tuple(np.broadcast_to(i, shape) for i in indices)] = value
        return
    chosen = np.broadcast_to(valid, shape)
    target[tuple(np.broadcast_to(i, shape)[chosen] for i in indices)] = value[chosen]


def _block(target: Array, indices: Sequence[Array], value: Array, live: Sequence[Array | None]) -> None:
    """A store whose indices are separate and whose valid lanes are a product of `live` members of each index."""
    places = [d for i in indices for d in _dims(i)]
    rest = [d for d in range(value.ndim) if d not in places]
    block = value.transpose(places + rest).reshape([i.size for i in indices])
    at: list[Selector] = []
    for axis, (i, keep) in enumerate(zip(indices, live, strict=True)):
        flat = i.reshape(-1)
        if keep is not None:
            flat, block = flat[keep], block.compress(keep, axis)
        step = _step(flat)
        at.append(flat if step is None else _slice(flat, step))
    if sum(not isinstance(s, slice) for s in at) > 1:  # NumPy would pair the vectors instead of crossing them
        lines = [np.arange(n)[s] for n, s in zip(target.shape, at, strict=True)]
        target[np.ix_(*lines)] = block
    else:
        target[tuple(at)] = block


def _product(valid: Array, indices: Sequence[Array]) -> list[Array | None] | None:
    """`valid` as one mask for each index, whose outer product it is; None when it is no such product."""
    masks = []
    for i in indices:
        others = tuple(d for d in range(valid.ndim) if d not in _dims(i))
        masks.append(np.broadcast_to(valid.any(others, keepdims=True), i.shape))
    product = reduce(np.logical_and, masks)
    if not np.array_equal(product, np.broadcast_to(valid, product.shape)):
        return None
    return [None if mask.all() else mask.reshape(-1) for mask in masks]


def _dims(i: Array) -> list[int]:
    """The dimensions along which an index array may vary."""
    return [d for d, n in enumerate(i.shape) if n != 1]


def _separate(indices: Sequence[Array]) -> bool:
    """Whether no two indices vary along one dimension."""
    seen: set[int] = set()
    for i in indices:
        own = _dims(i)
        if not seen.isdisjoint(own):
            return False
        seen.update(own)
    return bool(indices)


def _step(flat: Array) -> int | None:
    """The constant distance of neighbours in an index vector; None when there is none, or it is zero."""
    if flat.size < 2:
        return 1
    step = int(flat[1] - flat[0])
    if step == 0 or int(flat[-1] - flat[0]) != step * (flat.size - 1):
        return None
    return step if flat.size == 2 or bool((flat[1:] - flat[:-1] == step).all()) else None


def _slice(flat: Array, step: int) -> slice:
    """The slice that visits a vector of equal steps."""
    if flat.size == 0:
        return slice(0, 0)
    first, stop = int(flat[0]), int(flat[-1]) + step
    return slice(first, stop if stop >= 0 else None, step)
