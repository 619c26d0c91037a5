"""In which order, and how many at once, the points of a space are performed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...numerics import Array, storage
from ...terms.core import Term
from ...terms.index import Value

BUDGET = 16 << 20  # bytes of temporaries alive at once: past the caches larger is no faster
ORDERS = ("forward", "reverse", "random")


def temporaries(terms: Iterable[Term], extents: Mapping[Any, int]) -> int:
    """Bytes of all values among `terms`, were they alive at once; axes that have no extent here count once."""
    total = 0
    for t in terms:
        if isinstance(t, Value):
            size = sum(storage(d).itemsize for d in (t.type if isinstance(t.type, tuple) else (t.type,)))
            for a in t.lanes:
                size *= extents.get(a, 1)
            total += size
    return total


def box(extents: Sequence[int], bytes_of: Callable[[Sequence[int]], int], budget: int) -> list[int]:
    """The largest box within the budget, shrunk along the first dimensions first; never below one point."""
    sizes = list(extents)
    for d, n in enumerate(extents):
        if bytes_of(sizes) <= budget:
            break
        low, high = 1, n  # the largest size that fits, else 1
        while low < high:
            middle = (low + high + 1) // 2
            sizes[d] = middle
            low, high = (middle, high) if bytes_of(sizes) <= budget else (low, middle - 1)
        sizes[d] = low
    return sizes


def pieces(extents: Sequence[int], sizes: Sequence[int], order: str) -> Iterator[tuple[Array, ...]]:
    """The points 0..extents in boxes, each as one vector of coordinates for every dimension.

    `forward` counts row-major; `reverse` backwards, within boxes too; `random` takes members and boxes in an order that
    is drawn from a fixed seed.
    """
    if order not in ORDERS:
        raise ValueError(f"the order of instances is one of {', '.join(ORDERS)}, not {order!r}")
    draw = np.random.default_rng(0)
    lines = [draw.permutation(n) if order == "random" else np.arange(n) for n in extents]
    lines = [line[::-1] if order == "reverse" else line for line in lines]
    cuts = [[line[i : i + s] for i in range(0, len(line), s)] for line, s in zip(lines, sizes, strict=True)]
    boxes = list(product(*cuts))
    if order == "random":
        boxes = [boxes[i] for i in draw.permutation(len(boxes))]
    yield from boxes


def numbered(piece: Sequence[Array], extents: Sequence[int], rank: int) -> Array:
    """The row-major number of each point of a piece, along the first dimensions of a frame."""
    total = np.zeros((1,) * rank, np.int64)
    for d, (line, n) in enumerate(zip(piece, extents, strict=True)):
        total = total * n + line.reshape([len(line) if i == d else 1 for i in range(rank)])
    return total
