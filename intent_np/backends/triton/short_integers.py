"""Arithmetic of 16-bit integers that ptxas (12.8 and 12.9) compiles wrongly, written otherwise before it sees it.

*Sums of pairs.*  LLVM makes `add.s16x2` of lane numbers that it knows to be small.  ptxas may make such a sum a second
time behind a loop, rather than keep it; where only one half is used there, it adds 0 in place of the constant.

*Negation and magnitude.*  ptxas computes them in 32 bits and takes it that the result fits 16: where what follows is
wider, or compares, `-x` and `abs(x)` of -32768 are 32768 there.  A product with -1 wraps.
"""

from __future__ import annotations

import re
from typing import Final

_REWRITTEN: Final = (
    (
        re.compile(r"add\.[su]16x2\s+(%r\d+), (%r\d+), (%r\d+);"),
        r"{ .reg .b16 %a<2>, %b<2>; mov.b32 {%a0, %a1}, \2; mov.b32 {%b0, %b1}, \3; "
        r"add.s16 %a0, %a0, %b0; add.s16 %a1, %a1, %b1; mov.b32 \1, {%a0, %a1}; }",
    ),
    (re.compile(r"(?:neg\.s16\s+(%rs\d+), |sub\.s16\s+(%rs\d+), 0, )(%rs\d+);"), r"mul.lo.s16 \1\2, \3, -1;"),
    (
        re.compile(r"abs\.s16\s+(%rs\d+), (%rs\d+);"),
        r"{ .reg .b16 %n; mul.lo.s16 %n, \2, -1; max.s16 \1, \2, %n; }",
    ),
)


def rewritten(ptx: str) -> str:
    """PTX that ptxas compiles rightly; every line stays where it is."""
    for found, instead in _REWRITTEN:
        ptx = found.sub(instead, ptx)
    return ptx
