"""Weights relative to a maximum: what is no member need not be masked out of their sums if it is out of the maximum.

    m = max of select(c < N, x, -inf);  sum of select(c < N, exp(x - m), 0)
    m = max of select(c < N, x, -inf);  sum of exp(select(c < N, x, -inf) - m)

One mask serves both.  Where `m` is a number above -inf, exp(-inf - m) is 0, which is what the mask would leave.  Where
it is NaN, every weight is NaN; where it is -inf, so is the x of every member, and exp(-inf + inf) is NaN: a sum that
has a member at all is NaN with the one mask and with the other, in the end if not in each lane of it.

Used by `block_axes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..rules.facts import at_most
from ..rules.simplify import node, substitute
from ..terms.blocked import Slice
from ..terms.core import children, inherit, replace, walk
from ..terms.index import Cast, Const, apply, is_const, is_op, representable
from ..terms.normal import Axis, Contract, Coord, Reduce, builtin_name

NOTHING = float("-inf")
"""What weighs nothing relative to any maximum that is a number."""

EXPONENTIALS = ("exp", "exp2", "exp_approx", "exp2_approx")


def weights(effects: Iterable[Any]) -> dict[Any, Any]:
    """The exponentials that are weights of members of an axis in sums over it, and nothing else, with that axis: what
    is made of one elsewhere would have to be computed twice."""
    parents: dict[Any, list[Any]] = {}
    for t in walk(*effects):
        for c in children(t):
            parents.setdefault(c, []).append(t)
    found = {}
    for t in parents:
        if is_op(t, *EXPONENTIALS) and is_op(t.args[0], "sub") and representable(NOTHING, t.type):
            axes = set(_summed(t, parents))
            x, m = t.args[0].args
            if len(axes) == 1 and (axis := axes.pop()) is not None and _at_least(m, x, axis):
                found[t] = axis
    return found


def _summed(v: Any, parents: dict[Any, list[Any]]) -> Iterable[Any]:
    """The axes of the sums that `v` is in, as it is or converted; None for anything else that it is in."""
    for user in parents.get(v, ()):
        match user:
            case Cast() if user.dtype.is_float:
                yield from _summed(user, parents)
            case Contract() if user.acc.is_float:
                yield user.axis
            case Reduce() if len(user.values) == 1 and builtin_name(user.combine) == "sum":
                yield user.axis
            case _:
                yield None


def _at_least(m: Any, x: Any, axis: Any) -> bool:
    """Whether `m` is NaN or at least `x` at each member of the axis; or finite, where all of those are -inf."""
    if isinstance(m, Reduce):
        return builtin_name(m.combine) == "max" and m.values == (_along(x, axis, m.axis),)
    if is_op(m, "maximum"):
        return any(_at_least(side, x, axis) for side in m.args)
    if is_op(m, "select") and is_op(m.args[0], "eq"):  # 0 in the place of -inf
        asked, stand_in, other = m.args[0].args, m.args[1], m.args[2]
        finite = isinstance(stand_in, Const) and abs(stand_in.value) < float("inf")
        return finite and other in asked and any(is_const(a, NOTHING) for a in asked) and _at_least(other, x, axis)
    return False


def _along(x: Any, axis: Any, other: Any) -> Any:
    """`x` at the coordinate of another occurrence of the same domain; None if it is one of another domain."""
    if axis is other:
        return x
    same = isinstance(axis, Axis) and isinstance(other, Axis) and (axis.lo, axis.hi) == (other.lo, other.hi)
    return substitute(x, {Coord(axis): Coord(other)}) if same else None


def has_members(s: Any) -> bool:
    """Whether each block of a fragment axis that is walked or held has a member in it."""
    return isinstance(s, Slice) or at_most(s.axis.lo, s.axis.hi, 1)


def exponential(v: Any) -> Any:
    """What a conversion of an exponential is of."""
    while isinstance(v, Cast):
        v = v.value
    return v


def relative(v: Any, masked: Callable[[Any], Any]) -> Any:
    """A conversion of exp(x - m) with what `masked` makes of x."""
    if isinstance(v, Cast):
        return inherit(v, node(replace(v, value=relative(v.value, masked))))
    x, m = v.args[0].args
    return inherit(v, node(apply(v.op, node(apply("sub", masked(x), m)))))
