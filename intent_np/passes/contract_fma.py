"""gpu -> gpu: a product that only feeds a sum is fused into it, also where it has a name.

a * b + c                        fma(a, b, c)
p = a * b;  … p - c …            … fma(a, b, -c) …
"""

from __future__ import annotations

from typing import Any

from ..terms.core import contains, find, replace, rewrite, walk
from ..terms.dtypes import f32, f64
from ..terms.gpu import GPU, Dispatch, For, If, Kernel, Let, Load, Var, While
from ..terms.index import Value, apply, is_op
from .base import nanopass

BODIES = (Kernel, For, While, If, Dispatch)


@nanopass(GPU, GPU)
def contract_fma(program: Kernel) -> Kernel:
    """Contract a*b + c, a*b - c and c - a*b of f32 and f64 into one fused multiply-add.

    Late, where what is computed once stands inside its user or has a name; the provider's own contraction is off.
    Preserves the value up to one rounding less, which the language allows.
    """
    carried = {v for loop in find(program, (For, While)) for v in loop.carries}  # type: ignore[arg-type]

    def inside(t: Any) -> Any:
        return replace(t, body=_placed(t.body, carried)) if isinstance(t, BODIES) else t

    def step(t: Any) -> Any:
        if not _is_sum(t):
            return t
        a, b = t.args
        plus = t.op.name == "add"
        if is_op(a, "mul"):
            return apply("fma", *a.args, b if plus else apply("neg", b))
        if is_op(b, "mul"):
            x, y = b.args
            return apply("fma", x if plus else apply("neg", x), y, a)
        return t

    return rewrite(rewrite((program,), inside), step)[0]  # type: ignore[no-any-return]


def _is_sum(t: Any) -> bool:
    return is_op(t, "add", "sub") and t.type in (f32, f64)


def _placed(body: tuple[Any, ...], carried: set[Var]) -> tuple[Any, ...]:
    """The statements with each named product inside of the sum that alone reads it."""
    at = 0
    while at < len(body):
        s, rest = body[at], body[at + 1 :]
        user: Any = _only_sum(s, rest) if isinstance(s, Let) and s.var not in carried else None
        if user is None:
            at += 1
            continue
        fused = apply(user.op.name, *(s.value if a is s.var else a for a in user.args))
        body = (*body[:at], *rewrite(rest, lambda t, u=user, f=fused: f if t is u else t))  # type: ignore[misc]
    return body


def _only_sum(s: Let, rest: tuple[Any, ...]) -> Value | None:
    """The sum that alone reads a product, if it is computed as often and from the same."""
    if not (is_op(s.value, "mul") and s.value.type in (f32, f64)) or contains(s.value, Load):
        return None
    users: list[Any] = [t for t in walk(*rest) if any(c is s.var for c in t.parts)]
    if len(users) != 1 or not _is_sum(users[0]):
        return None
    again = {t.var for t in find(rest, Let)} & {s.var, *find(s.value, Var)}
    inner = any(isinstance(e, BODIES) and users[0] in walk(e) for e in rest)
    return None if again or inner else users[0]
