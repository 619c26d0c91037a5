"""gpu -> gpu: a product that only feeds a sum is fused into it.

a * b + c        fma(a, b, c)
"""

from __future__ import annotations

from typing import Any

from ..terms.core import rewrite
from ..terms.dtypes import f32, f64
from ..terms.gpu import GPU, Kernel
from ..terms.index import apply, is_op
from .base import nanopass


@nanopass(GPU, GPU)
def contract_fma(program: Kernel) -> Kernel:
    """Contract a*b + c, a*b - c and c - a*b of f32 and f64 into one fused multiply-add.

    Late, where a product that is used once stands inside its user; the provider's own contraction is off.
    Preserves the value up to one rounding less, which the language allows.
    """

    def step(t: Any) -> Any:
        if not is_op(t, "add", "sub") or t.type not in (f32, f64):
            return t
        a, b = t.args
        plus = t.op.name == "add"
        if is_op(a, "mul"):
            return apply("fma", *a.args, b if plus else apply("neg", b))
        if is_op(b, "mul"):
            x, y = b.args
            return apply("fma", x if plus else apply("neg", x), y, a)
        return t

    return rewrite((program,), step)[0]  # type: ignore[no-any-return]
