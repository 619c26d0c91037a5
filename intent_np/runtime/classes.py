"""Which variant a call gets: the policy that keeps variants few and each close to a perfect fit.

A variant is compiled for a class of calls, and new shapes and strides stay inside a class unless something that
changes the machine code changes: which dimension is contiguous, how wide a load may be, whether a row fits in
registers, whether an offset fits in 32 bits.  What was measured on an H200 decides here:

* Knowing the contiguous dimension is worth up to ten times for two-dimensional tiles: it is kept wherever a view
  has one, and is one of few values (the last dimension, or another one).
* Kernels that stream (pointwise, reductions) are limited by the width of their loads.  Softmax of 2^26 elements in
  f16, by bytes of alignment: 16 and 8 are within 2 % for rows of 1024 and more, 12 % for rows of 128; 4 costs
  11 to 58 % more, 2 costs 28 to 168 %.  So there are two alignments, 8 and 4 bytes, or none.
* Kernels that contract: a matmul of 4096 in f16 takes .18 ms with operands aligned to 16 bytes, .25 with 8, .32 with
  4, .86 with 2, and 1.5 to 3 with runtime strides.  So there are three alignments, or none; without one, operands
  that are all contiguous along the summed dimension gain nothing over runtime strides (3.7 ms against 2.0).  Of the
  results, those with a contiguous last dimension must be known (half the speed otherwise), while a transposed one
  loses nothing with runtime strides; their alignment is worth at most 2.5 % behind a plain product of two views,
  which is no class.  Behind anything else (an epilogue, a second product) the addresses of narrow stores take the
  registers that are needed, so it counts there, beside the best alignment of the operands.
* A resident axis is padded to a power of two: its class is that power, from 128 on for rows, since below it a
  program has idle lanes but reads little, from 16 on beside contractions, where padding is arithmetic.  Beyond
  8192 it is traversed by rule, beyond 32768 in any case: between, a plan may hold it where that is faster (softmax
  of rows of 16384 takes .076 ms so, .128 with loops), and so it has classes where nothing is contracted.

* A product of few rows reads its other operand at the speed of memory if enough instances do: 16 x 8192 x 8192 in f16
  takes .044 ms in blocks of 16 x 64 and .083 in those of a square product.  At most 16, 64 and 128 rows (or columns)
  are classes of their own: .046, .045 and .048 ms.

* One instance reads at a hundredth of the speed of the device.  Where a call has too few of them for half of the
  processors, and each would go through many members, they share these (`passes.split_reductions`).  What that costs the
  others would notice, so that it is a class of its own.

Facts are joint over the views of a kernel, so that classes do not multiply.  The limits are the guarantee: a kernel
has at most `LAYOUT_LIMIT` variants (one that contracts, for each class of its resident and short extents), or one for
each power of two up to its longest resident row, and as many again that are split; beyond, a call takes the most
specific variant that is right for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from intent_np.runtime.plan import KernelPlan, VariantClass, VariantPlan, ViewPlan, generic_class

LAYOUT_LIMIT: Final = 12
STREAMING_ALIGNMENTS: Final = (8, 4)
CONTRACTING_ALIGNMENTS: Final = (16, 8, 4)
STREAMING_FLOOR: Final = 128
CONTRACTING_FLOOR: Final = 16
SHORT_EXTENTS: Final = (16, 64, 128)
RESIDENT_LIMIT: Final = 8192
HELD_LIMIT: Final = 32768
LONGEST: Final = 2**16  # counted for rows that are traversed, which may have any length

_WIDEST: Final = 16  # bytes of the widest load
_SLACK: Final = 128  # a variant with larger blocks checks again
_INT32: Final = 2**31


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """An array of one call.  Strides in elements, 0 for a dimension that has at most one element.

    residue:  the pointer modulo 16
    """

    extents: tuple[int, ...]
    strides: tuple[int, ...]
    residue: int

    def is_unit(self, dim: int) -> bool:
        """Whether taking the stride of `dim` as 1 reads the same memory."""
        return self.extents[dim] <= 1 or self.strides[dim] == 1

    def unit(self, favour_last: bool) -> int | None:
        """The dimension to call contiguous, None if there is none.

        A last dimension of one element counts when no other is contiguous, and always with `favour_last`.
        """
        last = len(self.extents) - 1
        real = [dim for dim, stride in enumerate(self.strides) if stride == 1]
        if last >= 0 and self.extents[last] <= 1 and (favour_last or not real):
            return last
        return real[-1] if real else None

    def alignment(self, unit: int, itemsize: int) -> int:
        """The power of two up to 16 that divides the pointer and all strides but that of `unit`, in bytes."""
        bits = _WIDEST | self.residue
        for dim, stride in enumerate(self.strides):
            if dim != unit:
                bits |= abs(stride) * itemsize
        return bits & -bits

    @property
    def reach(self) -> int:
        """The largest distance in elements of an accessed address from the first element."""
        return sum(max(n - 1, 0) * abs(stride) for n, stride in zip(self.extents, self.strides, strict=True))


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What decides the class of a call: the arrays by view, the extents by name, bounds of index arithmetic, the
    extents of memory of the kernel's own, and whether few instances would go through many members."""

    views: Mapping[str, ViewFacts]
    extents: Mapping[str, int]
    indices: tuple[int, ...] = ()
    workspaces: tuple[tuple[int, ...], ...] = ()
    split: bool = False

    def fits_32_bits(self, slack: int) -> bool:
        """Whether every extent and index, also of lanes up to `slack` past an extent, and every accessed offset is
        below 2^31.  The offset of a masked lane may wrap: nothing is accessed there."""
        reached = (math.prod(shape) for shape in self.workspaces)
        sizes = (size + slack for size in (*self.extents.values(), *self.indices))
        return all(size < _INT32 for size in (*sizes, *reached, *(view.reach for view in self.views.values())))


def classify(kernel: KernelPlan, facts: CallFacts) -> VariantClass:
    """The class to compile for a call; `covers` holds for it and the call, except for an unusual slack."""
    # A column of one element is a row like the others to a kernel that streams, and saves it a variant; to a
    # contraction it may be the aligned side of an operand.
    units = {view.name: facts.views[view.name].unit(not kernel.contracts) for view in kernel.views}
    deciding = [view for view in kernel.views if view.operand or not kernel.contracts]
    of_any_layout = replace(generic_class(kernel), split=facts.split)
    if kernel.contracts and any(units[view.name] is None for view in deciding):
        return of_any_layout
    levels = CONTRACTING_ALIGNMENTS if kernel.contracts else STREAMING_ALIGNMENTS
    align = next((level for level in levels if _aligned(deciding, units, facts, level)), 1)
    loose: tuple[str, ...] = ()
    if kernel.contracts:
        if align == 1 and all(units[view.name] in view.summed for view in deciding):
            return of_any_layout
        others = [view for view in kernel.views if not view.operand]
        units |= {one.name: None for one in others if units[one.name] != len(one.shape) - 1}
        known = [view for view in others if units[view.name] is not None]
        plain = len(kernel.views) == 3
        if plain or align != _WIDEST or not _aligned(known, units, facts, align):
            loose = tuple(sorted(view.name for view in known if view.itemsize < align))
    floor = CONTRACTING_FLOOR if kernel.contracts else STREAMING_FLOOR
    longest = RESIDENT_LIMIT if kernel.contracts else HELD_LIMIT
    rows = [(name, _bucket(facts.extents[name], floor, longest)) for name in kernel.resident]
    tight = [view for view in kernel.views if view.name not in loose]
    return VariantClass(
        unit=tuple(sorted(units.items())),
        align=align,
        divisible=tuple(sorted(_divisible(tight, units, facts, align).items())),
        bucket=tuple(sorted([*rows, *_short(kernel, facts)])),
        index_bits=32 if facts.fits_32_bits(_SLACK) else 64,
        loose=loose,
        split=facts.split,
    )


def covers(holds: VariantClass, kernel: KernelPlan, facts: CallFacts, slack: int = 0) -> bool:
    """Whether a variant for the calls of `holds` is right for this call; `slack` is the variant's."""
    for view in kernel.views:
        unit = holds.unit_of(view.name)
        if unit is None:
            continue
        found = facts.views[view.name]
        if not found.is_unit(unit) or found.alignment(unit, view.itemsize) % holds.align_of(view):
            return False
    return (
        all(facts.extents[name] % by == 0 for name, by in holds.divisible)
        and all(bound is None or facts.extents[name] <= bound for name, bound in holds.bucket)
        and (holds.index_bits == 64 or facts.fits_32_bits(slack))
        and (facts.split or not holds.split)
    )


def specificity(holds: VariantClass) -> tuple[int, ...]:
    """Orders classes that cover one call: the greatest is taken."""
    bounds = [bound for _, bound in holds.bucket]
    return (
        int(holds.split),
        sum(dim is not None for _, dim in holds.unit),
        sum(bound is not None for bound in bounds),
        -sum(bound or 0 for bound in bounds),
        holds.align,
        -len(holds.loose),
        -holds.index_bits,
    )


def _short(kernel: KernelPlan, facts: CallFacts) -> Iterable[tuple[str, int]]:
    """The bounds of the extents that are short in this call."""
    for name in kernel.short:
        bound = next((bound for bound in SHORT_EXTENTS if facts.extents[name] <= bound), None)
        if bound is not None:
            yield name, bound


_Variant = TypeVar("_Variant")


def best(kernel: KernelPlan, facts: CallFacts, variants: Iterable[tuple[VariantPlan, _Variant]]) -> _Variant | None:
    """The most specific of the variants that cover the call; of equals the first."""
    right = [pair for pair in variants if covers(pair[0].holds, kernel, facts, pair[0].slack)]
    return max(right, key=lambda pair: specificity(pair[0].holds))[1] if right else None


def has_room(kernel: KernelPlan, wanted: VariantClass, existing: Iterable[VariantClass]) -> bool:
    """Whether another variant may be compiled beside `existing`; the generic one always may.

    A kernel with resident rows may have as many as there are powers of two up to its longest row.  Where operands
    are resident (the head of an attention), lengths are few and fixed, and each has its own layouts.
    """
    # copies share their device code
    held = [one for one in existing if not (one.is_generic or one.copied or one.strided) and one.split is wanted.split]
    if wanted.is_generic or wanted.strided:
        return True
    if kernel.contracts:
        return sum(one.bucket == wanted.bucket for one in held) < LAYOUT_LIMIT - 1
    rows = [bound or LONGEST for one in (wanted, *held) for _, bound in one.bucket]
    limit = max(rows).bit_length() if rows else LAYOUT_LIMIT
    return len(held) < limit - 1


def _aligned(views: Iterable[ViewPlan], units: Mapping[str, int | None], facts: CallFacts, level: int) -> bool:
    """Whether `level` bytes divide the pointers, the strides and the contiguous extents of all `views` that have one.

    Extents count because a load with a mask is only as wide as the mask is uniform.
    """
    for view in views:
        unit = units[view.name]
        if unit is None:
            continue
        found = facts.views[view.name]
        if found.alignment(unit, view.itemsize) % level:
            return False
        if view.shape[unit] in facts.extents and found.extents[unit] * view.itemsize % level:
            return False
    return True


def _divisible(
    views: Iterable[ViewPlan], units: Mapping[str, int | None], facts: CallFacts, align: int
) -> dict[str, int]:
    """The divisors of contiguous extents that the alignment implies, in elements."""
    found: dict[str, int] = {}
    for view in views:
        unit = units[view.name]
        if unit is not None and view.shape[unit] in facts.extents and align > view.itemsize:
            name = view.shape[unit]
            found[name] = max(found.get(name, 1), align // view.itemsize)
    return found


def _bucket(extent: int, floor: int, longest: int) -> int | None:
    if extent > longest:
        return None
    return max(floor, 1 << max(extent - 1, 0).bit_length())
