"""grouped -> grouped, by permission: a maximum and the exponential sums that hang off it become one region.

    m = reduce max over a of x;  s = reduce sum over a of exp(x - m);  o = contract over a of exp(x - m), v
    region over a, state (m, s, o), rescaled by exp(m_old - m_new) when two parts meet

A rule about reductions of one axis: it knows neither softmax nor attention.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..rules.simplify import node, substitute
from ..terms.core import arena, find, inherit, named, replace, rewrite
from ..terms.grouped import GROUPED, GroupedProgram
from ..terms.index import Cast, Const, Value, add, apply, is_op, mul, select, sub
from ..terms.normal import (
    Arg,
    Axis,
    Combine,
    Contract,
    Coord,
    Part,
    Proj,
    Reduce,
    Region,
    View,
    builtin_name,
    identity,
)  # fmt: skip
from .base import nanopass
from .roles import may_be_resident


@nanopass(GROUPED, GROUPED, permission="relaxed_normalization")
def online(program: GroupedProgram) -> GroupedProgram:
    """Co-realize a max–exp–sum–weighted-sum chain over one axis in one traversal.

    On whole reductions, before roles are chosen; only for an axis too long to be resident, of which no plan decides.
    Preserves the result for finite inputs and scores up to reassociation and rescaling: the caller's permission.
    """
    if next(_chains(program), None) is not None:
        program = promised_finite(program)
    while (found := next(_chains(program), None)) is not None:
        maximum, sums = found
        made = region(maximum, sums)
        places: dict[Any, Any] = {maximum: Proj(made, 0)}
        places |= {t: Proj(made, i) for i, t in enumerate(sums, 1)}
        program = substitute(program, places, everywhere=True)
    return program


def promised_finite(program: GroupedProgram) -> GroupedProgram:
    """The permission is the caller's promise that inputs are finite."""

    def step(t: Any) -> Any:
        return replace(t, finite=True) if isinstance(t, View) and t.mode == "in" and t.dtype.is_float else node(t)

    return rewrite((program,), step)[0]  # type: ignore[no-any-return]


def _chains(program: GroupedProgram) -> Iterator[tuple[Reduce, list[Any]]]:
    """Each maximum with the reductions over its axis that weigh by exp(x - maximum)."""
    for m in find(program, Reduce):
        if (
            len(m.values) == 1
            and builtin_name(m.combine) == "max"
            and isinstance(m.axis, Axis)
            and not m.axis.role
            and not may_be_resident(m.axis, (program,))
        ):
            sums = [t for t in find(program, (Reduce, Contract)) if t.axis is m.axis and _weighs(t, m)]  # type: ignore[arg-type]
            if sums:
                yield m, sums


def _operands(t: Any) -> tuple[Value, ...]:
    return (t.left, t.right) if isinstance(t, Contract) else t.values  # type: ignore[no-any-return]


def _weighs(t: Any, m: Reduce) -> bool:
    if isinstance(t, Reduce) and (len(t.values) > 1 or builtin_name(t.combine) != "sum"):
        return False
    return any(_is_weight(v, m) for v in _operands(t))


def _bare(v: Any) -> Any:
    while isinstance(v, Cast):
        v = v.value
    return v


def _is_weight(v: Any, m: Reduce) -> bool:
    e = _bare(v)
    return is_op(e, "exp") and is_op(e.args[0], "sub") and e.args[0].args[0] is m.values[0] and e.args[0].args[1] is m


def finite_stand_in(m: Value) -> Value:
    """`m`, or 0 where it is the maximum of nothing: x - it is then -inf, never NaN."""
    d = m.type
    return node(select(node(apply("eq", m, Const(float("-inf"), d))), Const(0.0, d), m))  # type: ignore[arg-type, no-any-return]


def region(m: Reduce, sums: list[Any]) -> Region:
    """The maximum and the sums that it weighs as one region: its components, in that order."""
    axis, x = m.axis, m.values[0]
    part = Part(axis)  # type: ignore[arg-type]
    named(part, arena().names.get(axis, "part"))
    here = {Coord(axis): Coord(part)}
    scores = substitute(x, here)
    top = Reduce(part, m.combine, (scores,), m.identities)
    weight = node(apply("exp", node(sub(scores, finite_stand_in(top)))))
    for v in (v for t in sums for v in _operands(t) if _is_weight(v, m)):
        inherit(_bare(v), weight)

    def operand(v: Any) -> Any:
        if not _is_weight(v, m):
            return substitute(v, here)
        inner = weight if v is _bare(v) else operand(v.value)
        return inherit(v, node(Cast(inner, v.dtype, v.mode)) if v is not _bare(v) else inner)

    summaries: list[Any] = [inherit(m, top)]
    for t in sums:
        new = [operand(v) for v in _operands(t)]
        made = (
            Contract(part, new[0], new[1], t.acc)
            if isinstance(t, Contract)
            else Reduce(part, t.combine, (new[0],), t.identities)
        )
        summaries.append(inherit(t, node(made)))
    dtypes = tuple(v.type for v in summaries)
    identities = (m.identities[0], *(identity("sum", d) for d in dtypes[1:]))
    return inherit(m, Region(axis, rescaling(dtypes), tuple(summaries), identities))  # type: ignore[return-value, arg-type]


def rescaling(dtypes: tuple[Any, ...]) -> Combine:
    """(m, s, …) with (n, t, …): the larger maximum, and sums rescaled to it."""
    a, b = ([Arg(side, i, d) for i, d in enumerate(dtypes)] for side in "ab")
    top = apply("maximum", a[0], b[0])
    safe = finite_stand_in(top)
    old, new = (node(apply("exp", node(sub(x[0], safe)))) for x in (a, b))
    named(old, "rescale")
    bodies = [top]
    for d, p, q in zip(dtypes[1:], a[1:], b[1:], strict=True):
        bodies.append(add(mul(p, _as(old, d)), mul(q, _as(new, d))))
    combine = Combine(dtypes, tuple(node(x) for x in bodies))
    return named(combine, "rescale")  # type: ignore[no-any-return]


def _as(v: Value, d: Any) -> Value:
    return node(Cast(v, d))  # type: ignore[no-any-return]
