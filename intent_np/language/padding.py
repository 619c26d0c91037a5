"""Padding: a tensor with more of itself, or with constants, around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.index import Value, add, const
from intent_np.terms.logical import Along, AtEach, Domain, Indices, Take, element, shape_of

from . import bounds, indexing
from .context import fail, static
from .declare import intrinsic
from .elaborate import Operand, describe, extent_text, index_value, is_literal, select
from .elaborate import pointwise as apply
from .elaborate import value as term
from .indexing import Slice, known, whole
from .shapes import tensor

WHOLE = Slice(None, None, None)
SIGNATURE = 'I.pad(value, ((1, 1), (0, 2)), mode="constant", constant_values=0)'


def _edge(i: Value, n: Value) -> Value:
    return apply("minimum", apply("maximum", i, 0), apply("sub", n, 1))


def _reflect(i: Value, n: Value) -> Value:
    """There and back, the ends once; of a single member always that one."""
    period = apply("maximum", apply("sub", apply("mul", n, 2), 2), 1)
    there = apply("mod", i, period)
    return apply("minimum", there, apply("sub", period, there))


def _symmetric(i: Value, n: Value) -> Value:
    period = apply("mul", n, 2)
    there = apply("mod", i, period)
    return apply("minimum", there, apply("sub", apply("sub", period, 1), there))


def _wrap(i: Value, n: Value) -> Value:
    return apply("mod", i, n)


# The member that stands at a position outside (or inside) of an extent above 0: always one of it.
MODES: dict[str, Callable[[Value, Value], Value]] = {
    "edge": _edge,
    "reflect": _reflect,
    "symmetric": _symmetric,
    "wrap": _wrap,
}


@intrinsic
def pad(value: Operand, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Value:
    """The tensor with more around it: `pad_width` is one number for all, (before, after), or a pair for each axis.

    `mode` says what stands there: "constant" the `constant_values`, given as `pad_width` is; "edge" the first and last
    member; "reflect" and "symmetric" the members backwards, without and with the one at the edge; "wrap" those of the
    other end.  All but "constant" need extents that are provably above 0 where they pad."""
    v = tensor("pad", value)
    widths = _pairs(pad_width, len(shape_of(v)))
    if mode not in ("constant", *MODES):
        choices = ", ".join(f'"{m}"' for m in ("constant", *MODES))
        raise fail(
            "E113", name="I.pad", signature=SIGNATURE, expected=f"a mode of {choices}", found=f"mode={describe(mode)}"
        )
    fills = _pairs(constant_values, len(shape_of(v)))
    for d, (around, fill) in enumerate(zip(widths, fills, strict=True)):
        before, after = (_width(w) for w in around)
        n = shape_of(v)[d]
        i = apply("sub", Indices(Domain(const(0), simplify(add(add(n, before), after)))), before)
        if mode == "constant":
            v = _filled(v, d, i, fill)
        elif before is not const(0) or after is not const(0):
            if not bounds.below(const(0), n, known()):
                raise fail(
                    "E208", operation=f'I.pad with mode="{mode}"', expected="an extent above 0, provably",
                    found=f"the extent {extent_text(n)} of axis {d}",
                    suggestion=f'pad where it is known, as under if {extent_text(n)} > 0, or with mode="constant"',
                )  # fmt: skip
            rest = shape_of(v)
            entries = [AtEach(MODES[mode](i, n)) if k == d else Along(whole(e)) for k, e in enumerate(rest)]
            v = Take(v, tuple(entries))
    return v


def _pairs(given: Any, rank: int) -> tuple[tuple[Any, Any], ...]:
    """(before, after) of each axis, from one value for all, one pair for all, or a pair for each."""
    pair = given if isinstance(given, tuple) else (given, given)
    pairs = pair if pair and all(isinstance(p, tuple) for p in pair) else (pair,) * rank
    if len(pairs) == 1:
        pairs = pairs * rank
    if len(pairs) != rank or any(len(p) != 2 or any(isinstance(x, tuple) for x in p) for p in pairs):
        raise fail("E113", name="I.pad", signature=SIGNATURE, found=f"{describe(given)} for {rank} axes")
    return pairs


def _width(w: Any) -> Value:
    w = static(w)
    if is_literal(w) and isinstance(w, int) and w < 0:
        raise fail("E203", value=w, dtype="a width", expected="a width of 0 or more", found=f"the width {w}")
    return index_value(w)


def _filled(v: Value, axis: int, place: Value, fill: tuple[Any, Any]) -> Value:
    n, d = shape_of(v)[axis], element(v.type)
    before, after = (term(f, d) for f in fill)  # type: ignore[arg-type]
    column = lambda x: indexing.read(x, (WHOLE, *[None] * (len(shape_of(v)) - axis - 1)))  # noqa: E731
    low = apply("le", 0, place)
    inside = apply("and", low, apply("lt", place, n))
    outside = before if before is after else select(column(low), after, before)
    return indexing.read(v, (*[WHOLE] * axis, place), column(inside), outside)
