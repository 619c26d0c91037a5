"""logical -> logical: helpers become part of their callers.

y = call gelu(x)            y = x * (0.5 * (1 + erf(x * 0.707)))
"""

from __future__ import annotations

from ..terms.logical import LOGICAL, LogicalProgram, inlined
from .base import nanopass


@nanopass(LOGICAL, LOGICAL)
def inline_calls(program: LogicalProgram) -> LogicalProgram:
    """Replace each call by the helper's result over the call's arguments.

    First, since every later pass reads coordinates off plain values.
    Preserves meaning and provenance: formals are typed by the call, so a call and its body are one function.
    """

    return inlined(program)  # type: ignore[no-any-return]
