"""Contractions of operands in fewer bits: scaled groups, sparse groups, quantized records."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType, bool_, f32, u8
from intent_np.terms.index import Value, const, mul
from intent_np.terms.logical import (
    Quantize,
    QuantizedDot,
    Reshape,
    ScaledContract,
    SparseContract,
    broadcast,
    element,
    shape_of,
)
from intent_np.terms.logical.contractions import PACKED, Q4_K, Q8_K, carries

from .context import fail, static
from .contractions import accumulator, ranked
from .declare import intrinsic
from .elaborate import Operand, describe, shape_text, show
from .formats import MicroscalingFormat, SparseFormat, quant
from .polynomials import polynomial
from .shapes import quotient, tensor

# ---- scaled groups


@intrinsic
def scaled_contract(
    left: Operand,
    left_scale: Operand,
    right: Operand,
    right_scale: Operand,
    *,
    lhs_format: Any,
    rhs_format: Any,
    lhs_group_size: int,
    rhs_group_size: int,
    acc_dtype: DType,
) -> Value:
    """[M, G, C] scaled by [M, G], times [G, C, N] scaled by [N, G]: [M, N], summed over groups and their members.

    Formats are `I.e2m1`, `I.e4m3` or `I.e5m2`, in u8 or in the fp8 dtype of the name; scales are `I.e8m0` in u8.  Group
    sizes count numbers; `I.e2m1` holds two in a byte along C, the earlier in the low bits."""
    name = "scaled_contract"
    operands = [ranked(name, v, r) for v, r in ((left, 3), (left_scale, 2), (right, 3), (right_scale, 2))]
    formats = [_format(name, p, f) for p, f in (("lhs_format", lhs_format), ("rhs_format", rhs_format))]
    sizes = [_size(name, p, s) for p, s in (("lhs_group_size", lhs_group_size), ("rhs_group_size", rhs_group_size))]
    if sizes[0] != sizes[1]:
        raise _unfit(name, "groups of one size on both sides", f"{sizes[0]} and {sizes[1]}", "pair equal groups")
    return _scaled(name, operands, formats, sizes[0], acc_dtype)


@intrinsic
def scaled_matmul(
    left: Operand,
    left_scale: Operand,
    right: Operand,
    right_scale: Operand,
    *,
    lhs_format: Any,
    rhs_format: Any,
    group_size: int,
    acc_dtype: DType,
) -> Value:
    """[M, K] times [K, N], each `group_size` numbers along K with a scale: [M, K / group_size] and
    [N, K / group_size].  Formats as in `I.scaled_contract`; K counts bytes where two numbers share one."""
    name = "scaled_matmul"
    l, ls, r, rs = (ranked(name, v, 2) for v in (left, left_scale, right, right_scale))
    formats = [_format(name, p, f) for p, f in (("lhs_format", lhs_format), ("rhs_format", rhs_format))]
    size = _size(name, "group_size", group_size)
    groups = shape_of(ls)[1]
    l = _grouped(name, l, 1, groups, size // PACKED[formats[0]])
    r = _grouped(name, r, 0, groups, size // PACKED[formats[1]])
    return _scaled(name, [l, ls, r, rs], formats, size, acc_dtype)


def _format(name: str, parameter: str, v: Any) -> str:
    if not isinstance(v, MicroscalingFormat) or v.value not in PACKED:
        raise fail(
            "E113",
            name=f"I.{name}",
            signature=f"I.{name}(l, l_scale, r, r_scale, lhs_format=I.e2m1, rhs_format=I.e4m3, ..., acc_dtype=I.f32)",
            found=f"{parameter}={describe(v)}",
            expected="I.e2m1, I.e4m3 or I.e5m2",
        )
    return str(v.value)


def _size(name: str, parameter: str, v: Any) -> int:
    v = static(v)
    if not isinstance(v, int) or isinstance(v, bool) or v < 2 or v % 2:
        raise fail(
            "E113",
            name=f"I.{name}",
            signature=f"I.{name}(..., {parameter}=32)",
            found=f"{parameter}={describe(v)}",
            expected="an even number of members that is known when compiling",
        )
    return v


def _unfit(name: str, expected: str, found: str, suggestion: str) -> Exception:
    return fail("E208", operation=f"I.{name}", suggestion=suggestion, expected=expected, found=found)


def _grouped(name: str, v: Value, axis: int, groups: Value, members: int) -> Value:
    """An axis taken apart into groups of so many members."""
    shape = shape_of(v)
    if polynomial(shape[axis]) != polynomial(mul(groups, const(members))):
        raise _unfit(
            name,
            f"{members} elements along axis {axis} for each group, {shape_text((groups,))} groups",
            f"an operand of {shape_text(shape)}",
            f'name the extent of the axis as a multiple of the groups, for example "{members} * G"',
        )
    return Reshape(v, (*shape[:axis], groups, const(members), *shape[axis + 1 :]))


def _scaled(name: str, operands: list[Value], formats: list[str], size: int, acc: Any) -> Value:
    l, ls, r, rs = operands
    for v, form in ((l, formats[0]), (r, formats[1])):
        if not carries(element(v.type), form):
            raise fail(
                "E202",
                operation=f"I.{name} of {form}",
                dtype=element(v.type),
                expected="u8" + {"e4m3": " or f8e4m3fn", "e5m2": " or f8e5m2"}.get(form, ""),
                found=show(v),
                fix="bitcast the operand to I.u8",
            )
    for v in (ls, rs):
        if element(v.type) is not u8:
            raise fail(
                "E202", operation=f"a scale of I.{name}", dtype=element(v.type), expected="e8m0 in u8", found=show(v),
                fix="bitcast the scales to I.u8",
            )  # fmt: skip
    if not isinstance(acc, DType) or not acc.is_float or acc.bits < 32:
        raise fail(
            "E202", operation=f"I.{name} with acc_dtype", dtype=describe(acc), expected="f32 or f64",
            found=f"acc_dtype={describe(acc)}", fix="name the accumulator: acc_dtype=I.f32",
        )  # fmt: skip
    (m, g, _), (_, _, n) = shape_of(l), shape_of(r)
    wanted = [(m, g, const(size // PACKED[formats[0]])), (m, g), (g, const(size // PACKED[formats[1]]), n), (n, g)]
    for v, shape in zip(operands, wanted, strict=True):
        if shape_of(v) != shape:
            raise _unfit(
                name,
                f"[M, G, {static(wanted[0][2])}], [M, G], [G, {static(wanted[2][1])}, N], [N, G]: groups of {size}",
                ", ".join(shape_text(shape_of(o)) for o in operands),
                "give M, G and N one name each",
            )
    return ScaledContract(l, ls, r, rs, formats[0], formats[1], size, acc)


# ---- sparse groups


@intrinsic
def sparse_contract(compressed: Operand, metadata: Operand, right: Operand, *, format: Any, acc_dtype: DType) -> Value:
    """[M, G, kept] times [G, width, N]: [M, N].  Of the `width` members of a group those at the positions `metadata`
    (integers, shaped like `compressed`, ascending in a group) were kept; the others are 0 and meet nothing."""
    name = "sparse_contract"
    l, at, r = ranked(name, compressed, 3), ranked(name, metadata, 3), ranked(name, right, 3)
    kept, width = _sparsity(name, format)
    return _sparse(name, l, at, r, kept, width, acc_dtype)


@intrinsic
def sparse_matmul(compressed: Operand, metadata: Operand, right: Operand, *, format: Any, acc_dtype: DType) -> Value:
    """[M, K kept / width] times [K, N]: [M, N], in groups of `width` neighbours along K, as in `I.sparse_contract`."""
    name = "sparse_matmul"
    l, at, r = ranked(name, compressed, 2), ranked(name, metadata, 2), ranked(name, right, 2)
    kept, width = _sparsity(name, format)
    _same_shape(name, l, at)
    groups = quotient(shape_of(l)[1:], (const(kept),))
    if groups is None:
        raise _unfit(
            name,
            f"a multiple of {kept} along axis 1",
            f"compressed values of {shape_text(shape_of(l))}",
            f'name the extents by their groups, for example ("M", "{kept} * G") and ("{width} * G", "N")',
        )
    l, at = (_grouped(name, v, 1, groups, kept) for v in (l, at))
    return _sparse(name, l, at, _grouped(name, r, 0, groups, width), kept, width, acc_dtype)


def _sparsity(name: str, v: Any) -> tuple[int, int]:
    if not isinstance(v, SparseFormat):
        raise fail(
            "E113",
            name=f"I.{name}",
            signature=f"I.{name}(compressed, metadata, rhs, format=I.sparse.two_of_four(), acc_dtype=I.f32)",
            found=f"format={describe(v)}",
        )
    return v.value


def _same_shape(name: str, l: Value, at: Value) -> None:
    d = element(at.type)
    if not d.is_integer:
        raise fail(
            "E202", operation=f"metadata of I.{name}", dtype=d, found=show(at), fix="cast it, for example to I.u8"
        )
    if shape_of(l) != shape_of(at):
        raise _unfit(
            name, "metadata of the shape of the compressed values",
            f"{shape_text(shape_of(l))} and {shape_text(shape_of(at))}", "give the extents one name each",
        )  # fmt: skip


def _sparse(name: str, l: Value, at: Value, r: Value, kept: int, width: int, acc: Any) -> Value:
    d = element(l.type)
    if element(r.type) is not d:
        raise fail("E201", operator=f"I.{name}", left=d, right=element(r.type), found=f"{show(l)} and {show(r)}")
    if d is bool_:
        raise fail("E202", operation=f"I.{name}", dtype=d, found=show(l), fix="cast both sides, for example to I.i8")
    accumulator(name, d, acc)
    _same_shape(name, l, at)
    (m, g, _), (_, _, n) = shape_of(l), shape_of(r)
    if shape_of(l) != (m, g, const(kept)) or shape_of(r) != (g, const(width), n):
        raise _unfit(
            name,
            f"[M, G, {kept}] and [G, {width}, N]",
            f"{shape_text(shape_of(l))} and {shape_text(shape_of(r))}",
            "give the groups one name in both operands",
        )
    return SparseContract(l, at, r, width, acc)


# ---- records


@intrinsic
def quantize(value: Operand, *, format: Any = quant.q8_k) -> Value:
    """The last axis of f32 [..., 256 G] as `I.quant.q8_k` records: u8 [..., G, 292], ggml's `block_q8_K` byte by byte:
    f32 d, 256 × i8, and of each 16 of them the sum in i16, little endian."""
    v = tensor("quantize", value)
    if format is not quant.q8_k:
        raise fail(
            "E113", name="I.quantize", signature="I.quantize(value, format=I.quant.q8_k)",
            found=f"format={describe(format)}", expected="I.quant.q8_k; other records are made outside of a kernel",
        )  # fmt: skip
    if element(v.type) is not f32:
        raise fail(
            "E202", operation="I.quantize", dtype=element(v.type), expected="f32", found=show(v),
            fix="cast the value: I.cast(value, I.f32)",
        )  # fmt: skip
    shape = shape_of(v)
    groups = quotient(shape[-1:], (const(256),)) if shape else None
    if groups is None:
        raise _unfit(
            "quantize", "a multiple of 256 along the last axis", f"a value of {shape_text(shape)}",
            'name the extent by its records, for example "256 * G"',
        )  # fmt: skip
    return Quantize(v, groups)


@intrinsic
def quantized_dot(left: Operand, right: Operand, lhs_format: Any = quant.q4_k, rhs_format: Any = quant.q8_k) -> Value:
    """Dot products in f32 of `I.quant.q4_k` records, u8 [..., G, 144], with `I.quant.q8_k` records, u8 [..., G, 292];
    leading axes broadcast.

    A q4_k record is ggml's `block_q4_K`: f16 d and dmin, 12 bytes of scales and minima of 6 bits, 128 bytes of 4-bit
    numbers.  Of each pair of records the integer sums are exact; their products with d · d' and dmin · d' are rounded
    to f32, one of them perhaps with their difference alone, and the records summed as by `I.reduce.sum`."""
    name = "quantized_dot"
    if lhs_format is not quant.q4_k or rhs_format is not quant.q8_k:
        raise fail(
            "E113", name=f"I.{name}", signature=f"I.{name}(left, right, I.quant.q4_k, I.quant.q8_k)",
            found=f"{describe(lhs_format)} and {describe(rhs_format)}",
        )  # fmt: skip
    l, r = tensor(name, left), tensor(name, right)
    for v, size in ((l, Q4_K), (r, Q8_K)):
        if element(v.type) is not u8:
            raise fail("E202", operation=f"I.{name}", dtype=element(v.type), expected="u8", found=show(v))
        if len(shape_of(v)) < 2 or shape_of(v)[-1] is not const(size):
            raise _unfit(
                name, f"records of [..., G, {size}]", shape_text(shape_of(v)), "give the bytes an axis of their own"
            )
    if shape_of(l)[-2] is not shape_of(r)[-2]:
        found = f"{shape_text(shape_of(l))} and {shape_text(shape_of(r))}"
        raise _unfit(name, "as many records on both sides", found, "give both extents one name")
    leading = shape_of(l)[:-2], shape_of(r)[:-2]
    try:
        broadcast(leading)
    except TypeError:
        found = f"leading axes of {shape_text(shape_of(l))} and {shape_text(shape_of(r))}"
        raise fail("E204", left=shape_text(leading[0]), right=shape_text(leading[1]), found=found) from None
    return QuantizedDot(l, r)
