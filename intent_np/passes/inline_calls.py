"""logical -> logical: helpers become part of their callers.

y = call gelu(x)            y = x * (0.5 * (1 + erf(x * 0.707)))
"""

from __future__ import annotations

from typing import Any

from ..terms.core import rewrite
from ..terms.logical import LOGICAL, Call, LogicalProgram, Pack
from ..terms.normal import Proj
from .base import nanopass


@nanopass(LOGICAL, LOGICAL)
def inline_calls(program: LogicalProgram) -> LogicalProgram:
    """Replace each call by the helper's result over the call's arguments.

    First, since every later pass reads coordinates off plain values.
    Preserves meaning and provenance: formals are typed by the call, so a call and its body are one function.
    """

    def step(t: Any) -> Any:
        if isinstance(t, Call):
            formals = dict(zip(t.function.formals, t.args, strict=True))
            # a helper's own calls were inlined already: rewriting is bottom-up
            return rewrite((t.function.result,), lambda u: formals.get(u, _projected(u)))[0]
        return _projected(t)

    return rewrite((program,), step)[0]  # type: ignore[no-any-return]


def _projected(t: Any) -> Any:
    """A component of a tuple that is in hand."""
    return t.value.values[t.position] if isinstance(t, Proj) and isinstance(t.value, Pack) else t
