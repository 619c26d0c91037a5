"""blocked -> blocked: algebra on loop steps.

max over k of (c * x), c > 0          c * max over k of x                              exact: rounding is monotone
select(p, c * x, -inf), c > 0         c * select(p, x, -inf)                           exact: c * -inf is -inf
w * contract(exp(x - m), v)           contract(exp(x - m) * w, v)                      under relaxed_normalization
exp(x - m) * exp(m - n)               exp(x - n)
exp(x * c - m)                        exp2_approx(x * (c * log2 e) - m * log2 e)
"""

from __future__ import annotations

import math
from typing import Any

from ..rules.simplify import node
from ..terms.blocked import BLOCKED, BlockedProgram, Branch, Loop
from ..terms.core import inherit, named, replace, rewrite
from ..terms.dtypes import f32
from ..terms.index import Apply, Cast, Const, Value, add, apply, const, is_const, is_op, mul, representable, sub
from ..terms.normal import Combine, Contract, Reduce, builtin_name
from .base import nanopass
from .online import finite_stand_in, rescaling

LOG2E = 1.4426950408889634


@nanopass(BLOCKED, BLOCKED)
def scale_out_of_maximum(program: BlockedProgram) -> BlockedProgram:
    """Move a positive constant factor out of a maximum, and out of a select whose other side is -inf, so that a maximum
    and what is relative to it share one.

    On loop steps, where it saves a product an element; late, since it hides what narrowing reads.
    Preserves the value bit for bit: rounding is monotone, so max fl(c*x) = fl(c * max x).
    """

    def step(t: Any) -> Any:
        if isinstance(t, Reduce) and len(t.values) == 1 and builtin_name(t.combine) == "max":
            bare = _without_factor(t.values[0])
            if bare is not None:
                inner, factor = bare
                return node(mul(node(Reduce(t.axis, t.combine, (inner,), t.identities)), factor))
        if (is_op(t, "select") or isinstance(t, Branch)) and (bare := _without_factor(t)) is not None:
            return node(mul(*bare))
        return node(t)

    return rewrite((program,), step, (Reduce, Apply, Branch))[0]  # type: ignore[no-any-return]


def _without_factor(v: Any) -> tuple[Value, Const] | None:
    if is_op(v, "mul") and v.type.is_float and isinstance(v.args[1], Const) and 0 < v.args[1].value < math.inf:  # type: ignore[operator]
        return v.args[0], v.args[1]
    if is_op(v, "select") and is_const(v.args[2], -math.inf):
        inner = _without_factor(v.args[1])
        return None if inner is None else (node(apply("select", v.args[0], inner[0], v.args[2])), inner[1])
    if isinstance(v, Branch) and (sides := [_without_factor(x) for x in (v.value, v.otherwise)]):
        if None not in sides and sides[0][1] is sides[1][1]:  # type: ignore[index]
            return Branch(v.condition, sides[0][0], sides[1][0]), sides[0][1]  # type: ignore[index]
    return None


@nanopass(BLOCKED, BLOCKED, permission="relaxed_normalization")
def fold_exponentials(program: BlockedProgram) -> BlockedProgram:
    """Fold rescaling factors into the exponentials that they multiply, and exponentials into powers of two.

    On loop steps, where summary and state meet: a step becomes one accumulation.
    Preserves values within the caller's permission; nothing happens without it.
    """
    return _in_steps(_in_steps(program, _product), _power_of_two)


def _in_steps(program: Any, step: Any) -> Any:
    """Rewrite the states of co-realized chains, and nothing else: the permission is for them alone."""

    def loop(t: Any) -> Any:
        t = node(t)
        if not isinstance(t, Loop):
            return t
        online = [_rescales(c) for c in t.combines for _ in c.dtypes]
        return replace(t, segments=tuple(segment(s, online) for s in t.segments)) if any(online) else t

    def segment(s: Any, online: list[bool]) -> Any:
        new = rewrite([v for v, chosen in zip(s.values, online, strict=True) if chosen], lambda u: step(node(u)))
        rest = iter(new)
        return replace(s, values=tuple(next(rest) if chosen else v for v, chosen in zip(s.values, online, strict=True)))

    return rewrite((program,), loop, Loop)[0]


def _rescales(c: Combine) -> bool:
    """Whether summaries are a maximum, which has an identity, with sums that are rescaled to it."""
    floats = len(c.dtypes) > 1 and all(d.is_float for d in c.dtypes)
    return floats and representable(-math.inf, c.dtypes[0]) and c is rescaling(c.dtypes)


def _product(t: Any) -> Any:
    return _pushed(*t.args) if is_op(t, "mul") and t.type.is_float else t


def _strong(v: Any) -> bool:
    """A summary that can take a factor inside."""
    return isinstance(v, Contract) or (isinstance(v, Reduce) and builtin_name(v.combine) == "sum")


def _pushed(x: Any, w: Any) -> Any:
    if _strong(x):
        return _into(x, w)
    return _into(w, x) if _strong(w) else node(mul(x, w))


def _into(x: Any, w: Any) -> Any:
    """x * w with the factor moved towards the exponential that absorbs it."""
    if is_op(x, "select") and is_const(x.args[2], 0):
        return node(apply("select", x.args[0], _into(x.args[1], w), x.args[2]))
    if isinstance(x, Cast) and is_op(w, "exp"):
        return node(Cast(_into(x.value, w), x.dtype, x.mode))
    if isinstance(x, Reduce) and builtin_name(x.combine) == "sum" and x.axis not in w.lanes and _absorbs(x.values[0]):
        return node(Reduce(x.axis, x.combine, (_into(x.values[0], w),), x.identities))
    if isinstance(x, Contract) and x.axis not in w.lanes:
        for i, side in enumerate((x.left, x.right)):
            if w.lanes <= side.lanes and _absorbs(side):
                sides = [x.left, x.right]
                sides[i] = _into(side, w)
                return node(Contract(x.axis, sides[0], sides[1], x.acc))
    if is_op(x, "exp") and is_op(w, "exp"):
        a, b = x.args[0], w.args[0]
        if is_op(a, "sub") and is_op(b, "sub") and a.args[1] in (b.args[0], finite_stand_in(b.args[0])):
            return inherit(x, node(apply("exp", node(sub(a.args[0], b.args[1])))))
        return node(apply("exp", node(add(a, b))))
    return node(mul(x, w))


def _absorbs(v: Any) -> bool:
    while isinstance(v, Cast) or (is_op(v, "select") and is_const(v.args[2], 0)):
        v = v.value if isinstance(v, Cast) else v.args[1]
    return is_op(v, "exp")


def _power_of_two(t: Any) -> Any:
    """exp(x * c - m): one fused multiply-add an element, since m varies less than x."""
    if is_op(t, "exp") and t.type is f32 and is_op(t.args[0], "sub"):
        x, m = t.args[0].args
        return node(apply("exp2_approx", node(sub(_scaled(x), named(_scaled(m), "shift")))))
    return t


def _scaled(v: Any) -> Any:
    """v * log2 e, with the factor joined to one that is there already."""
    if is_op(v, "select") and is_const(v.args[2], -math.inf):
        return node(apply("select", v.args[0], _scaled(v.args[1]), v.args[2]))
    log2e = const(LOG2E, f32)
    if is_op(v, "mul"):
        for x, c in (v.args, v.args[::-1]):
            if not c.lanes and not c.needs and x.lanes:
                return node(mul(x, node(mul(c, log2e))))
    return node(mul(v, log2e))
