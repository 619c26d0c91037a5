"""Sums of pairs of 16-bit integers, taken apart before ptxas sees them.

LLVM makes `add.s16x2` of lane numbers that it knows to be small.  ptxas (12.8 and 12.9) may make such a sum a second
time behind a loop, rather than keep it; where only one half is used there, it adds 0 in place of the constant.
"""

from __future__ import annotations

import re
from typing import Final

_SUM: Final = re.compile(r"add\.[su]16x2\s+(%r\d+), (%r\d+), (%r\d+);")
_APART: Final = (
    r"{ .reg .b16 %a<2>, %b<2>; mov.b32 {%a0, %a1}, \2; mov.b32 {%b0, %b1}, \3; "
    r"add.s16 %a0, %a0, %b0; add.s16 %a1, %a1, %b1; mov.b32 \1, {%a0, %a1}; }"
)


def apart(ptx: str) -> str:
    """PTX in which halves are added one by one; every line stays where it is."""
    return _SUM.sub(_APART, ptx)
