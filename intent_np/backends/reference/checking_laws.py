"""The laws of combines, tried on members of the call: identity, associativity, and commutativity of reductions.

The laws are of real numbers, so a combine of floats is evaluated in f64, where rounding is far below what is compared.
Samples are the first, last, largest and smallest members and some at random, always the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...numerics import Array, storage
from ...terms.core import Term, rewrite
from ...terms.dtypes import f64
from ...terms.index import Cast, Const
from ...terms.logical import Accumulate, TensorReduce, TensorScan
from ...terms.normal import Arg, Combine
from .checking_report import Findings
from .structured import Used
from .tensors import Tensors

if TYPE_CHECKING:
    from .checking_values import CheckedTensors

TRIPLES, CALLS = 48, 16  # samples of one call, and calls of one combine that are tried
NARROW, WIDE = 2.0**-18, 2.0**-34  # relative differences: of values stored narrower than f64, and of f64

Values = tuple[Array, ...]
Function = Callable[[Values, Values], Values]


class Law(NamedTuple):
    """An equation between two ways to compute, and the sampled values that they are computed from."""

    text: str
    sides: tuple[Values, Values]
    given: tuple[tuple[str, Values], ...]
    between: tuple[Values, ...] = ()  # what was computed on the way, which bounds the rounding


def check_combine(
    t: CheckedTensors, v: TensorReduce | TensorScan, lines: Values, used: Used, findings: Findings
) -> None:
    """Try the laws of the combine of `v` on members along the first dimension of `lines`."""
    _try(t, v, tuple(i.value for i in v.identities), isinstance(v, TensorReduce), lines, used, findings)


def check_update(t: CheckedTensors, e: Accumulate, lines: Values, used: Used, findings: Findings) -> None:
    """Try the laws that let lanes be combined into one element in any order; there is no identity."""
    _try(t, e, None, True, lines, used, findings)


def check_meeting(
    t: CheckedTensors, e: Accumulate, held: Array, lanes: tuple[tuple[Array, Used], ...], findings: Findings
) -> None:
    """Try that lanes that meet at an element, each with operands of its own, may come in either order: two for each
    sample, and what the element holds."""
    if not held.size:
        return
    tested = widened(e.combine)
    (b, of_b), (c, of_c) = (((x[:TRIPLES],), _given(used, tested is not e.combine)) for x, used in lanes)

    def step(old: Values, brought: Values, used: Used) -> Values:
        return _evaluated(t, tested, old, brought, {a: x[:TRIPLES] for a, x in used.items()})

    a = (held[:TRIPLES],)
    ab, ac = step(a, b, of_b), step(a, c, of_c)
    given = [("a", a), ("b", b), *_named("m", of_b), ("c", c), *_named("n", of_c)]
    text = "combine(combine(a, b, m), c, n) == combine(combine(a, c, n), b, m)"
    law = Law(text, (step(ab, c, of_c), step(ac, b, of_b)), tuple(given), (ab, ac))
    if (found := broken(law, e.combine.dtypes)) is not None:
        findings.add("E503", e, None, key=law.text, name=e.spelled, expected=law.text, found=found)


def _named(name: str, used: Used) -> Iterator[tuple[str, Values]]:
    """The operands of a lane, all of them under one name if it has several."""
    if used:
        yield name, tuple(used.values())


def _given(used: Used, wide: bool) -> Used:
    """What a combine uses besides its sides, as one that was widened asks for it."""
    made: Used = {}
    for a, x in used.items():
        d = f64 if a.dtype.is_float and wide else a.dtype
        made[Arg(a.side, a.position, d)] = x.astype(storage(d), copy=False)
    return made


def _evaluated(t: CheckedTensors, tested: Combine, left: Values, right: Values, used: Used) -> Values:
    left, right = cast(left, tested.dtypes), cast(right, tested.dtypes)
    with np.errstate(all="ignore"):
        return Tensors.combined(t, tested, left, right, used)


def _try(
    t: CheckedTensors, v: TensorReduce | TensorScan | Accumulate, identities: tuple[Any, ...] | None, commutative: bool,
    lines: Values, used: Used, findings: Findings,
) -> None:  # fmt: skip
    combine = v.combine
    if not lines[0].size or findings.tried(v) > CALLS:
        return
    tested = widened(combine)
    lanes = sampled_lanes(lines)
    a, b, c = sampled(lines, lanes)
    start = identities and tuple(
        np.full(x.shape, i, storage(d)) for x, i, d in zip(a, identities, tested.dtypes, strict=True)
    )
    wide = {name: np.broadcast_to(x, (1, *lines[0].shape[1:])).reshape(-1)[lanes] for name, x in used.items()}
    given = _given(wide, tested is not combine)

    def f(left: Values, right: Values) -> Values:
        return _evaluated(t, tested, left, right, given)

    for law in combine_laws(f, a, b, c, start, commutative):
        if (found := broken(law, combine.dtypes)) is not None:
            findings.add("E503", v, None, key=law.text, name=v.spelled, expected=law.text, found=found)


def combine_laws(
    f: Function, a: Values, b: Values, c: Values, start: Values | None, commutative: bool
) -> Iterator[Law]:
    """The laws that make any grouping (and, if commutative, any order) of members give one result."""
    if start is not None:
        given = (("a", a),)
        yield Law("combine(identity, a) == a", (f(start, a), a), given)
        yield Law("combine(a, identity) == a", (f(a, start), a), given)
    ab, bc = f(a, b), f(b, c)
    yield Law(
        "combine(combine(a, b), c) == combine(a, combine(b, c))",
        (f(ab, c), f(a, bc)),
        (("a", a), ("b", b), ("c", c)),
        (ab, bc),
    )
    if commutative:
        yield Law("combine(a, b) == combine(b, a)", (ab, f(b, a)), (("a", a), ("b", b)))


def sampled_lanes(lines: Values) -> Array:
    """The lane of each sample: the first one for what is tried first."""
    lanes = np.random.default_rng(0).integers(0, lines[0][0].size, TRIPLES)
    lanes[:8] = 0
    return lanes


def sampled(lines: Values, lanes: Array) -> tuple[Values, Values, Values]:
    """Three members, of one lane, for each sample."""
    n = lines[0].shape[0]
    flat = [np.ascontiguousarray(np.broadcast_to(x, lines[0].shape)).reshape(n, -1) for x in lines]
    picked = np.random.default_rng(1).integers(0, n, (3, TRIPLES))
    key = flat[0][:, 0].astype(np.float64)
    ends = [0, n - 1, int(np.argmax(key)), int(np.argmin(key))]
    for k in range(8):  # the first few combine the ends, one of them twice
        picked[:, k] = ends[k % 4], ends[(k + 1) % 4], ends[(k // 2) % 4]
    picked[:, :3] = np.minimum(np.arange(3)[:, None] + np.arange(3), n - 1)  # neighbours: the smallest example
    a, b, c = (tuple(x[row, lanes] for x in flat) for row in picked)
    return a, b, c


def broken(law: Law, dtypes: Sequence[Any]) -> str | None:
    """The first sample for which a law does not hold, in words."""
    wrong = np.zeros(law.sides[0][0].shape, np.bool_)
    values = [v for _, v in law.given]
    finite = np.ones(wrong.shape, np.bool_)
    for v in values:
        for x in v:
            finite &= np.isfinite(x.astype(np.float64))
    for k, d in enumerate(dtypes):
        left, right = (side[k] for side in law.sides)
        if not d.is_float:
            wrong |= left != right
            continue
        close = NARROW if d is not f64 else WIDE
        left, right = left.astype(np.float64), right.astype(np.float64)
        scale = np.maximum(np.abs(left), np.abs(right))
        for v in (*values, *law.between):
            scale = np.fmax(scale, np.where(np.isfinite(v[k].astype(np.float64)), np.abs(v[k].astype(np.float64)), 0))
        with np.errstate(all="ignore"):
            apart = ~(np.abs(left - right) <= close * scale) & (left != right)
        if law.between:  # overflow on one way only is rounding, too
            apart &= np.isfinite(left) & np.isfinite(right)
        wrong |= apart & ~(np.isnan(left) & np.isnan(right))
    wrong &= finite
    if not wrong.any():
        return None
    k = int(np.argmax(wrong))
    given = ", ".join(f"{name} = {shown(v, k)}" for name, v in law.given)
    return f"{shown(law.sides[0], k)} and {shown(law.sides[1], k)} for {given}"


def shown(values: Values, k: int) -> str:
    """The values of lane `k`, as a message names them."""
    texts = [f"{x[k].item():.9g}" if x.dtype.kind == "f" else str(x[k].item()) for x in map(plain, values)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def plain(x: Array) -> Array:
    """bf16 and fp8 as f64, which NumPy can print."""
    return x if x.dtype.kind in "biuf" else x.astype(np.float64)


def cast(values: Values, dtypes: Sequence[Any]) -> Values:
    """Values as arrays of these dtypes."""
    return tuple(x.astype(storage(d), copy=False) for x, d in zip(values, dtypes, strict=True))


def widened(combine: Combine) -> Combine:
    """The combine with f64 in place of narrower floats; as it is where its body needs their bits."""

    def step(t: Term) -> Term:
        match t:
            case Arg(side, position, d) if d.is_float:
                return Arg(side, position, f64)
            case Const(value, d) if getattr(d, "is_float", False):
                return Const(value, f64)
            case Cast(value, d, mode) if d.is_float and mode != "bits":
                return value if value.type is f64 else Cast(value, f64)
        return t

    try:
        bodies = rewrite(combine.bodies, step)
        return Combine(tuple(f64 if d.is_float else d for d in combine.dtypes), bodies)
    except TypeError:
        return combine
