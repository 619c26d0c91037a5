"""Contractions: sums of products over paired axes, in an accumulator that the author names."""

from __future__ import annotations

from typing import Any

from intent_np.terms.dtypes import DType, bool_
from intent_np.terms.index import Value
from intent_np.terms.logical import Along as _Along
from intent_np.terms.logical import NewAxis, Take, TensorContract, Transpose, element, shape_of

from .context import fail
from .declare import intrinsic
from .elaborate import Operand, convert, describe, pointwise, shape_text, show
from .indexing import whole
from .shapes import axis_of, tensor

Pairs = tuple[tuple[int, int], ...]


def _contract(name: str, left: Value, right: Value, summed: Pairs, batch: Pairs, acc: Any) -> Value:
    """The contraction, once its operands are known to fit."""
    d = element(left.type)
    if element(right.type) is not d:
        raise fail(
            "E201", operator=f"I.{name}", left=d, right=element(right.type), found=f"{show(left)} and {show(right)}"
        )
    if d is bool_:
        raise fail("E202", operation=f"I.{name}", dtype=d, found=show(left), fix="cast both sides, for example to I.i8")
    accumulator(name, d, acc)
    ls, rs = shape_of(left), shape_of(right)
    for i, j in (*summed, *batch):
        if ls[i] is not rs[j]:
            raise fail(
                "E208",
                operation=f"I.{name}",
                suggestion="give both extents one name, or transpose an operand",
                expected=f"axis {i} of the left side and axis {j} of the right side of one extent",
                found=f"{shape_text(ls)} and {shape_text(rs)}",
            )
    if not summed:
        return _product(left, right, batch, acc)
    return TensorContract(left, right, summed, batch, acc)


def accumulator(name: str, d: DType, acc: Any) -> None:
    """E202 for an accumulator of elements of `d` that is none."""
    if not isinstance(acc, DType) or acc is bool_ or acc.is_float != d.is_float or acc.bits < d.bits:
        fits = ("f64" if d.bits == 64 else "f32") if d.is_float else ("i64" if d.bits == 64 else "i32")
        raise fail(
            "E202",
            operation=f"I.{name} of {d} with acc_dtype",
            dtype=describe(acc),
            expected="an accumulator of the same kind, no narrower",
            found=f"acc_dtype={describe(acc)}",
            fix=f"name the accumulator: acc_dtype=I.{fits}",
        )


def _product(left: Value, right: Value, batch: Pairs, acc: DType) -> Value:
    """Nothing is summed: every product of a left and a right element, in the accumulator."""
    order = [j for _, j in sorted(batch)] + [j for j in range(len(shape_of(right))) if j not in {b for _, b in batch}]
    if order != list(range(len(order))):
        right = Transpose(right, tuple(order))
    ls, rs = shape_of(left), shape_of(right)
    batched, free = {i for i, _ in batch}, len(rs) - len(batch)
    l_entries = [_Along(whole(e)) for e in ls] + [NewAxis() for _ in range(free)]
    place = iter(_Along(whole(e)) for e in rs)
    r_entries = [next(place) if i in batched else NewAxis() for i in range(len(ls))] + list(place)
    return pointwise("mul", Take(convert(left, acc), tuple(l_entries)), Take(convert(right, acc), tuple(r_entries)))


def ranked(name: str, v: Any, rank: int) -> Value:
    """An operand of this rank."""
    v = tensor(name, v)
    if len(shape_of(v)) != rank:
        raise fail(
            "E208",
            operation=f"I.{name}",
            suggestion=f"index an operand of rank {rank}, or use I.contract",
            expected=f"an operand of rank {rank}",
            found=f"one of shape {shape_text(shape_of(v))}",
        )
    return v


@intrinsic
def contract(left: Operand, right: Operand, *, reduce: Any, batch: Any = (), acc_dtype: DType) -> Value:
    """Sum of products over the axis pairs `reduce`, elementwise along the pairs `batch`.  Axes of the result: the left
    side's that are not summed, then the right side's free ones."""
    l, r = tensor("contract", left), tensor("contract", right)
    summed, batched = _pairs(l, r, "reduce", reduce), _pairs(l, r, "batch", batch)
    for side in (0, 1):
        axes = [p[side] for p in (*summed, *batched)]
        if len(set(axes)) != len(axes):
            raise fail(
                "E208",
                operation="I.contract",
                suggestion="pair each axis once",
                found=f"reduce={reduce}, batch={batch}",
            )
    return _contract("contract", l, r, summed, batched, acc_dtype)


def _pairs(l: Value, r: Value, name: str, v: Any) -> Pairs:
    if not isinstance(v, tuple) or not all(isinstance(p, tuple) and len(p) == 2 for p in v):
        raise fail(
            "E113",
            name="I.contract",
            signature="I.contract(l, r, reduce=((1, 0),), acc_dtype=I.f32)",
            found=f"{name}={describe(v)}",
        )
    return tuple((axis_of(i, len(shape_of(l))), axis_of(j, len(shape_of(r)))) for i, j in v)


@intrinsic
def matmul(
    left: Operand, right: Operand, *, transpose_lhs: bool = False, transpose_rhs: bool = False, acc_dtype: DType
) -> Value:
    """Matrix product of [..., M, K] and [..., K, N] (or their transposes); leading axes are batch, of equal extents."""
    l, r = tensor("matmul", left), tensor("matmul", right)
    rank = len(shape_of(l))
    if rank < 2 or len(shape_of(r)) != rank:
        raise fail(
            "E208",
            operation="I.matmul",
            suggestion="use I.matvec, I.vecmat, I.dot, or I.contract with batch pairs",
            expected="two operands of one rank, 2 or more",
            found=f"{shape_text(shape_of(l))} and {shape_text(shape_of(r))}",
        )
    for flag in (transpose_lhs, transpose_rhs):
        if not isinstance(flag, bool):
            raise fail(
                "E113",
                name="I.matmul",
                signature="I.matmul(l, r, transpose_rhs=True, acc_dtype=I.f32)",
                found=describe(flag),
            )
    batch = tuple((i, i) for i in range(rank - 2))
    summed = ((rank - 2 if transpose_lhs else rank - 1, rank - 1 if transpose_rhs else rank - 2),)
    return _contract("matmul", l, r, summed, batch, acc_dtype)


@intrinsic
def dot(left: Operand, right: Operand, *, acc_dtype: DType) -> Value:
    """Sum of products of two vectors: a scalar."""
    return _contract("dot", ranked("dot", left, 1), ranked("dot", right, 1), ((0, 0),), (), acc_dtype)


@intrinsic
def matvec(matrix: Operand, vector: Operand, *, acc_dtype: DType) -> Value:
    """[M, K] times [K]."""
    return _contract("matvec", ranked("matvec", matrix, 2), ranked("matvec", vector, 1), ((1, 0),), (), acc_dtype)


@intrinsic
def vecmat(vector: Operand, matrix: Operand, *, acc_dtype: DType) -> Value:
    """[K] times [K, N]."""
    return _contract("vecmat", ranked("vecmat", vector, 1), ranked("vecmat", matrix, 2), ((0, 0),), (), acc_dtype)


@intrinsic
def outer(left: Operand, right: Operand, *, acc_dtype: DType) -> Value:
    """Every product of a member of [M] and one of [N]."""
    return _contract("outer", ranked("outer", left, 1), ranked("outer", right, 1), (), (), acc_dtype)
