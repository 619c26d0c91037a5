"""Scans: every prefix along an axis, in order; and the order itself: sorting, and counting into bins."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType, bool_
from intent_np.terms.index import Value, const
from intent_np.terms.logical import Histogram, TensorScan, TensorSort, broadcast, element, shape_of
from intent_np.terms.normal import Proj, builtin, identity

from . import bounds
from .combines import combined
from .context import fail, static
from .declare import intrinsic
from .elaborate import Operand, describe, extent_text, index_value, is_literal, shape_text, show
from .elaborate import value as term
from .indexing import Slice, known, read
from .products import refilled
from .reductions import accumulated, flag, one_axis
from .shapes import extents, tensor


@intrinsic
def scan(
    value: Any,
    axis: Any = None,
    *,
    identity: Any,
    combine: Any,
    inclusive: bool,
    reverse: bool = False,
    combine_operands: Any = (),
) -> Any:
    """Every prefix along `axis`, members kept in order: with each member, or (`inclusive=False`) without it.

    `combine(a, b, *combine_operands)` is associative; each side is one scalar, tuple or record, like `value` and
    `identity`.  `reverse` scans the reversed sequence and reads it backwards: r[i] = x[n-1] ∘ … ∘ x[i]."""
    flag("scan", "inclusive", inclusive)
    flag("scan", "reverse", reverse)
    c = combined("I.scan", value, identity, combine, combine_operands)
    a = one_axis("scan", axis, len(c.shape))
    made = TensorScan(c.values, a, c.combine, c.identities, not inclusive, reverse, c.operands)
    return refilled(value, [made] if len(c.values) == 1 else [Proj(made, i) for i in range(len(c.values))])


def _running(
    name: str, kind: str, value: Operand, axis: Any, inclusive: Any, reverse: Any, acc_dtype: Any = None
) -> Value:
    v = accumulated(name, kind, tensor(name, value), acc_dtype)
    flag(name, "inclusive", inclusive)
    flag(name, "reverse", reverse)
    d = element(v.type)
    a = one_axis(name, axis, len(shape_of(v)))
    return TensorScan((v,), a, builtin(kind, d), (identity(kind, d),), not inclusive, reverse)


@intrinsic
def cumsum(
    value: Operand,
    axis: Any = None,
    *,
    inclusive: bool = True,
    reverse: bool = False,
    acc_dtype: DType | None = None,
) -> Value:
    """Running sum along an axis; narrow types accumulate in 32 bits unless `acc_dtype` says otherwise."""
    return _running("cumsum", "sum", value, axis, inclusive, reverse, acc_dtype)


@intrinsic
def cumprod(
    value: Operand,
    axis: Any = None,
    *,
    inclusive: bool = True,
    reverse: bool = False,
    acc_dtype: DType | None = None,
) -> Value:
    """Running product along an axis, in the value's dtype or `acc_dtype`."""
    return _running("cumprod", "prod", value, axis, inclusive, reverse, acc_dtype)


@intrinsic
def cummax(value: Operand, axis: Any = None, *, inclusive: bool = True, reverse: bool = False) -> Value:
    """Largest member so far along an axis; NaN propagates; of nothing, -inf or the smallest integer."""
    return _running("cummax", "max", value, axis, inclusive, reverse)


@intrinsic
def cummin(value: Operand, axis: Any = None, *, inclusive: bool = True, reverse: bool = False) -> Value:
    """Smallest member so far along an axis; NaN propagates; of nothing, inf or the largest integer."""
    return _running("cummin", "min", value, axis, inclusive, reverse)


# ---- order


def _sorted(name: str, value: Operand, axis: Any, descending: Any) -> tuple[TensorSort, int]:
    v = tensor(name, value)
    if element(v.type) is bool_:
        raise fail("E202", operation=f"I.{name}", dtype=bool_, found=show(v), fix="cast it, for example to I.u8")
    flag(name, "descending", descending)
    a = one_axis(name, axis, len(shape_of(v)))
    return TensorSort(v, a, descending), a


@intrinsic
def sort(value: Operand, axis: Any = -1, *, descending: bool = False) -> Value:
    """The members along an axis in order: equal ones (the zeros are) as they came, NaN last."""
    return Proj(_sorted("sort", value, axis, descending)[0], 0)


@intrinsic
def argsort(value: Operand, axis: Any = -1, *, descending: bool = False) -> Value:
    """The positions that put the members along an axis in order: those of equal ones ascend, those of NaN are last."""
    return Proj(_sorted("argsort", value, axis, descending)[0], 1)


@intrinsic
def topk(value: Operand, k: Any, axis: Any = -1) -> tuple[Value, Value]:
    """(values, positions) of the `k` largest members along an axis, the largest first: the lowest positions of equal
    ones, NaN last.  0 < k <= extent, provably."""
    made, a = _sorted("topk", value, axis, True)
    extent, count = shape_of(made.value)[a], static(k)
    if is_literal(count) and (isinstance(count, bool) or not isinstance(count, int)):
        raise fail("E113", name="I.topk", signature="I.topk(value, k, axis=-1)", found=f"k={describe(k)}")
    n, facts = index_value(count), known()
    if not (bounds.below(const(0), n, facts) and bounds.at_most(n, extent, facts)):
        raise fail("E210", k=extent_text(n), extent=extent_text(extent), found=f"k = {extent_text(n)}")
    first = (*[Slice(None, None, None)] * a, Slice(None, count, None))
    return read(Proj(made, 0), first), read(Proj(made, 1), first)


# ---- counts


@intrinsic
def histogram(values: Operand, *, bins: Any, count_dtype: DType, valid: Any = None) -> Value:
    """How many members, over all axes, are 0, 1, … up to `bins`: a tensor of that many counts.  Members outside, and
    those that are not `valid`, are not counted; counts wrap."""
    v = tensor("histogram", values)
    if not element(v.type).is_integer:
        raise fail("E202", operation="I.histogram", dtype=element(v.type), found=show(v), fix="cast to I.i32")
    if not isinstance(count_dtype, DType) or not count_dtype.is_integer:
        raise fail(
            "E202",
            operation="I.histogram with count_dtype",
            dtype=describe(count_dtype),
            expected="an integer type",
            found=f"count_dtype={describe(count_dtype)}",
            fix="count_dtype=I.i32",
        )
    counted = None if valid is None else term(valid, bool_)
    if counted is not None:
        if element(counted.type) is not bool_:
            raise fail(
                "E202", operation="valid of I.histogram", dtype=show(counted), expected="bool", found=show(counted)
            )
        shape = shape_of(v)
        try:
            fits = broadcast((shape, shape_of(counted))) == shape
        except TypeError:
            fits = False
        if not fits:
            given = shape_text(shape_of(counted))
            raise fail("E204", left=shape_text(shape), right=given, found=f"values where a tensor of {given} holds")
    (count,) = extents((bins,))
    return Histogram(v, count, count_dtype, counted)
