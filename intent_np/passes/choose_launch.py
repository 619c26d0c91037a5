"""choose_launch: triton -> triton.  Warps of an instance and stages of its loops, from what its fragments hold.

    function @gemm(…) …   ->   function @gemm(…) … warps 8 stages 4

Those of a plan are kept, since it was priced with them.  Others are a first choice by rules of thumb, each with its
reason beside it; a tuner may replace it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..terms.core import contains, find, replace, walk
from ..terms.normal import Target
from ..terms.triton import (
    TRITON,
    Assign,
    Block,
    Dot,
    ForRange,
    Function,
    HistogramCall,
    LoadAt,
    Name,
    ReduceCall,
    ScanCall,
    WhileHolds,
)
from .base import nanopass

SHARED = 227 * 1024
"""Bytes of shared memory of a block, where the target does not say."""

LAYOUTS = 27 * 1024
"""Bytes of it that the stages of a loop leave to conversions of layouts."""

FILE = 65536
"""Registers of a processor."""

STAGES = 4
"""More loads in flight than this have not paid, but where a product is small: then its operands are all that counts."""


class Facts(NamedTuple):
    """What the choice looks at.

    dots:      matrix products in the text
    rows:      the largest number of rows that one of them has
    product:   the largest number of 32-bit registers that one of their results fills
    staged:    bytes that one iteration of the largest loop with a dot loads for it
    elements:  elements of the largest fragment
    rank:      number of axes of that fragment
    reduces:   whether fragments are reduced
    scans:     whether prefixes are made
    counted:   elements of the largest fragment whose elements are counted by their numbers
    states:    32-bit registers of what the iterations of one loop make of itself, but for results of products
    loops:     whether there is a loop
    nested:    whether there is one inside of another
    """

    dots: int
    rows: int
    product: int
    staged: int
    elements: int
    rank: int
    reduces: bool
    loops: bool
    nested: bool
    scans: bool = False
    counted: int = 0
    states: int = 0


@nanopass(
    TRITON, TRITON,
    allowed={"num_warps": (0, 1, 2, 4, 8, 16, 32), "num_stages": range(9), "registers": range(256)},
)  # fmt: skip
def choose_launch(function: Function, *, num_warps: int = 0, num_stages: int = 0, registers: int = 0) -> Function:
    """Set the launch options; those that are given as options of the pass are taken as they are.

    Registers of a thread are limited where a plan counts on it, or where the option says so: at most 255 in any case.

    Stands behind lowering, where fragments have extents and loops their final bodies.
    Preserves meaning: the options change how an instance is executed, never what it computes.
    """
    facts = gather(function)
    most = num_stages or stages(facts, buffers(facts, function.target))
    chosen = num_warps or function.num_warps or warps(facts)
    wanted = registers or (function.registers if chosen == function.num_warps else 0)
    limit = min(wanted, FILE // (32 * chosen) // 8 * 8)  # what an instance of so many threads can have
    return replace(function, num_warps=chosen, num_stages=most, registers=limit)  # type: ignore[no-any-return]


def buffers(f: Facts, target: Target | None) -> int:
    """How many stages fit into shared memory; before 9.0 operands of the last one are in registers already."""
    room = (target.shared if target else SHARED) - LAYOUTS
    return room // max(1, f.staged) + (target is not None and target.capability < 90)


def warps(f: Facts) -> int:
    """How many warps share the work of an instance."""
    if f.dots:
        # a quarter of a thread's registers for what else it carries, as a maximum that is an operand of a product
        return max(_of_products(f), min(16, 1 << max(1, f.states // (32 * 64)).bit_length() - 1))
    # each warp counts its own elements, and adds what it has found: many elements for each bin
    threads = f.counted // 32 or max(1, f.elements // _elements_a_thread(f))
    return min(16, max(1, threads // 32))


def _of_products(f: Facts) -> int:
    # two warp groups: an accumulator of 128 x 128 leaves registers for operands, and rows come in 64s a group
    if f.product >= 128 * 128 or (f.dots > 1 and f.rows >= 128):
        return 8
    # one warp for a 16-row strip is the least that tensor cores take
    return 4 if f.product >= 32 * 32 else 2


def _elements_a_thread(f: Facts) -> int:
    """Enough loads in flight, and few enough registers to keep many instances resident; measured on an H200."""
    if f.loops and f.scans and f.rank == 1:
        return 16  # the warps of a block wait for each other: several small blocks hide that
    if f.loops:
        return 8 if f.rank == 1 else 32  # a long row needs all the threads it can get, a tile has rows enough
    if f.reduces:
        return 32 if f.elements >= 4096 else 16  # fewer warps to wait for in the reduction
    return 8 if f.rank == 1 else 16


def stages(f: Facts, fitting: int) -> int:
    """How many iterations of a loop with a dot have their loads in flight."""
    if not f.staged:
        return 1  # Triton pipelines loads that feed a dot, and no others
    # two products in one loop: the second waits for the first, a third stage hides its load; in nested loops, what the
    # outer one keeps takes the registers that more stages need
    most = 3 if f.dots > 1 or f.nested else STAGES + (f.product <= 64 * 64)
    return max(2, min(most, fitting))


def gather(function: Function) -> Facts:
    """The facts about a function."""
    dots = list(find(function, Dot))
    loops: Any = list(find(function, (ForRange, WhileHolds)))  # type: ignore[arg-type]
    blocks = [t.type for t in walk(function) if isinstance(t.type, Block)]
    largest = max(blocks, key=_elements, default=None)
    return Facts(
        dots=len(dots),
        rows=max((d.type.shape[0].value for d in dots), default=0),
        product=max((_elements(d.type) * d.acc.bytes // 4 for d in dots), default=0),
        staged=max((_staged(loop) for loop in loops), default=0),
        elements=_elements(largest) if largest else 1,
        rank=len(largest.shape) if largest else 0,
        reduces=any(True for _ in find(function, (ReduceCall, ScanCall))),
        loops=bool(loops),
        scans=any(True for _ in find(function, ScanCall)),
        counted=max((_elements(t.values.type) for t in find(function, HistogramCall)), default=0),
        states=max((_carried(loop, {d.type for d in dots}) for loop in loops), default=0),
        nested=any(contains(s, ForRange, WhileHolds) for loop in loops for s in loop.body),
    )


def _elements(block: Block) -> int:
    n = 1
    for extent in block.shape:
        n *= getattr(extent, "value", extent)
    return n


def _carried(loop: ForRange | WhileHolds, products: set[Block]) -> int:
    """Registers of what an iteration of this loop makes of itself, but for results of products."""
    made = [s for s in loop.body if isinstance(s, Assign) and s.target.type not in products]
    own = [s.target.type for s in made if any(t is s.target for t in find(s.value, Name))]
    return sum(_elements(b) * max(1, b.dtype.bytes // 4) for b in own)


def _staged(loop: ForRange | WhileHolds) -> int:
    """Bytes that an iteration loads as matrices, if it multiplies matrices."""
    own = [s for s in loop.body if not isinstance(s, (ForRange, WhileHolds))]  # loops inside are looked at alone
    loads = [t.type for t in find(own, LoadAt) if len(t.type.shape) == 2]
    return sum(_elements(b) * b.dtype.bytes for b in loads) if any(True for _ in find(own, Dot)) else 0
