"""Formats of numbers in fewer bits, and of operands without their zeros: constants, which an operation is given."""

from __future__ import annotations

import enum
from typing import Any

from .context import fail
from .declare import declared, intrinsic


class MicroscalingFormat(enum.Enum):
    """Numbers of eight bits or fewer that groups of operands are held in, and the scales of such groups."""

    e2m1 = "e2m1"
    e4m3 = "e4m3"
    e5m2 = "e5m2"
    e8m0 = "e8m0"


e2m1, e4m3, e5m2, e8m0 = MicroscalingFormat


class quant(enum.Enum):
    """Records of 256 numbers in ggml's layouts."""

    q4_k = "q4_k"
    q8_k = "q8_k"

    def __repr__(self) -> str:
        return f"I.quant.{self.name}"


class SparseFormat(enum.Enum):
    """How many members of a group are kept, of how many."""

    two_of_four = (2, 4)
    one_of_two = (1, 2)


@intrinsic
def sparse(*_: Any) -> Any:
    """The formats `I.sparse.two_of_four()` and `I.sparse.one_of_two()`."""
    raise fail("E113", name="I.sparse", signature="I.sparse.two_of_four() or I.sparse.one_of_two()")


def _two_of_four() -> SparseFormat:
    """Of each four neighbours along the contracted axis two are kept."""
    return SparseFormat.two_of_four


def _one_of_two() -> SparseFormat:
    """Of each two neighbours along the contracted axis one is kept."""
    return SparseFormat.one_of_two


declared("sparse.two_of_four", _two_of_four)
declared("sparse.one_of_two", _one_of_two)
