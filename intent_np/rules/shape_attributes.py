"""What rules about shapes compute and ask: named functions of permutations, extents, subscripts and operands."""

from __future__ import annotations

from typing import Any

from ..terms.dtypes import DType, index
from ..terms.index import Cast, Const, Value, add, apply, is_const, mul
from ..terms.logical import (
    Along,
    At,
    AtEach,
    Domain,
    Filled,
    NewAxis,
    Pointwise,
    Subscript,
    Take,
    TensorType,
    Transpose,
    placed,
    shape_of,
)
from ..terms.logical import broadcast as joint_shape
from ..terms.operators import Op
from .scalar_attributes import has_all
from .simplify import node

Shape = tuple[Value, ...]
Subscripts = tuple[Subscript, ...]


# ---- permutations and extents


def is_identity(permutation: tuple[int, ...]) -> bool:
    """Whether every dimension stays where it is."""
    return permutation == tuple(range(len(permutation)))


def composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that is `second` behind `first`."""
    return tuple(first[i] for i in second)


def permuted(shape: Shape, permutation: tuple[int, ...]) -> Shape:
    """The extents in the order of a permutation."""
    return tuple(shape[i] for i in permutation)


def has_shape(v: Value, shape: Shape) -> bool:
    """Whether `v` is a tensor of these very extents."""
    return isinstance(v.type, TensorType) and v.type.shape == shape


def has_dtype(v: Value, dtype: DType) -> bool:
    """Whether the elements of a tensor are of this dtype."""
    return isinstance(v.type, TensorType) and v.type.dtype is dtype


def holds_exactly(v: Value, middle: DType, mode: str, after: str) -> bool:
    """Whether `middle` has every value that the dtype of `v` has, so that a conversion through it loses nothing."""
    d: DType = v.type.dtype if isinstance(v.type, TensorType) else v.type  # type: ignore[assignment]
    return (mode, after) == ("wrap", "wrap") and has_all(d, middle)


# ---- subscripts


def is_whole(v: Value, subscripts: Subscripts) -> bool:
    """Whether the subscripts take every dimension of `v` as it is; there is one, since none give a scalar."""
    pairs = zip(subscripts, shape_of(v), strict=False)
    return 0 < len(subscripts) == len(shape_of(v)) and all(_all_of(s, e) for s, e in pairs)


def _all_of(s: Subscript, extent: Value) -> bool:
    return isinstance(s, Along) and s.domain.step is None and is_const(s.domain.lo, 0) and s.domain.hi is extent


def keeps_a_dimension(subscripts: Subscripts) -> bool:
    """Whether the result is a tensor."""
    return any(not isinstance(s, At) for s in subscripts)


def takes_a_scalar(subscripts: Subscripts) -> bool:
    """Whether every subscript is one coordinate."""
    return not keeps_a_dimension(subscripts)


def taken(subscripts: Subscripts) -> Shape:
    """The extents of what the subscripts take."""
    return placed(subscripts).shape


def _has_tensors(subscripts: Subscripts) -> bool:
    """Whether some coordinates come from a tensor."""
    return any(isinstance(s, AtEach) for s in subscripts)


def position(d: Domain, at: Value) -> Any:
    """The absolute coordinate of a member of a domain that is given by its position."""
    return node(add(at if d.step is None else node(mul(at, d.step)), d.lo))


def through(first: Subscripts, second: Subscripts) -> Subscripts | None:
    """The subscripts that take at once what `second` takes of what `first` takes; None where there are none.

    A part of a dimension stays one where its extent is seen to be the same.
    """
    if _has_tensors(first) or _has_tensors(second):
        return None
    rest, out = list(second), []
    for s in first:
        while rest and not isinstance(s, At) and isinstance(rest[0], NewAxis):
            out.append(rest.pop(0))
        if isinstance(s, At):
            out.append(s)
            continue
        inner = rest.pop(0)
        if isinstance(s, NewAxis):
            if isinstance(inner, Along):
                if not _all_of(inner, taken((s,))[0]):
                    return None
                out.append(s)
            elif not is_const(inner.value, 0):  # type: ignore[attr-defined]
                return None
        elif isinstance(inner, At):
            out.append(At(position(s.domain, inner.value)))  # type: ignore[attr-defined]
        else:
            part = _part(s.domain, inner.domain)  # type: ignore[attr-defined]
            if part is None:
                return None
            out.append(Along(part))
    return (*out, *rest)


def _part(outer: Domain, inner: Domain) -> Domain | None:
    """The members of `outer` at the positions of `inner`, as absolute coordinates."""
    if inner.step is None and is_const(inner.lo, 0) and inner.hi is outer.extent:
        return outer
    if outer.step is not None or inner.step is not None:
        return None
    found = Domain(position(outer, inner.lo), position(outer, inner.hi), None, outer)
    return found if found.extent is inner.extent else None


def composes(first: Subscripts, second: Subscripts) -> bool:
    """Whether `through` finds subscripts."""
    return through(first, second) is not None


def is_part(d: Domain, subscripts: Subscripts) -> bool:
    """Whether the one subscript takes a part of the domain that is a domain itself."""
    return len(subscripts) == 1 and isinstance(subscripts[0], Along) and _part(d, subscripts[0].domain) is not None


def part(d: Domain, subscripts: Subscripts) -> Any:
    """That part."""
    return _part(d, subscripts[0].domain)  # type: ignore[attr-defined]


def member(d: Domain, subscripts: Subscripts) -> Any:
    """The coordinate that one position of a domain stands for."""
    return position(d, subscripts[0].value)  # type: ignore[attr-defined]


def drops(dimension: int, subscripts: Subscripts, v: Value) -> bool:
    """Whether the subscripts take one kept dimension at 0 and all others whole."""
    others = subscripts[:dimension] + subscripts[dimension + 1 :]
    extents = shape_of(v)[:dimension] + shape_of(v)[dimension + 1 :]
    if not (len(subscripts) == len(shape_of(v)) and isinstance(subscripts[dimension], At)):
        return False
    at_0 = is_const(subscripts[dimension].value, 0)  # type: ignore[attr-defined]
    return at_0 and all(_all_of(s, e) for s, e in zip(others, extents, strict=True))


def without(v: Value, dimension: int) -> Shape:
    """The extents of `v` but one."""
    return shape_of(v)[:dimension] + shape_of(v)[dimension + 1 :]


def is_without(v: Value, dimension: int, shape: Shape) -> bool:
    """Whether a shape is that of `v` without one dimension, and not of rank 0 (a full reduction is a scalar)."""
    return bool(shape) and without(v, dimension) == shape


# ---- operands


def are_scalars(args: tuple[Value, ...]) -> bool:
    """Whether no operand is a tensor."""
    return not any(isinstance(a.type, TensorType) for a in args)


def scalar_apply(op: Op, args: tuple[Value, ...]) -> Any:
    """The operator on scalars."""
    return node(apply(op, *args))


def scalar_cast(v: Value, dtype: DType, mode: str) -> Any:
    """A scalar in another dtype."""
    return node(Cast(v, dtype, mode))


def plain(args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The operands with the scalars that filled ones hold."""
    return tuple(a.value if isinstance(a, Filled) else a for a in args)


def fill_is_broadcast(args: tuple[Value, ...]) -> bool:
    """Whether some operand is a filled tensor, and the others have the extents of the result without it."""
    rest = plain(args)
    if rest == args or are_scalars(rest):
        return False
    return joint_shape(tuple(map(shape_of, rest))) == joint_shape(tuple(map(shape_of, args)))


def are_filled(args: tuple[Value, ...]) -> bool:
    """Whether every operand is a scalar or a filled tensor, and one of them a tensor."""
    return not are_scalars(args) and are_scalars(plain(args))


def joined(args: tuple[Value, ...]) -> Shape:
    """The extents that the operands broadcast to."""
    return joint_shape(tuple(map(shape_of, args)))


def of_one_rank(args: tuple[Value, ...]) -> bool:
    """Whether every operand that is a tensor has the rank of the result, so that dimensions have one place."""
    tensors = {len(shape_of(a)) for a in args if isinstance(a.type, TensorType)}
    return len(tensors) == 1 and tensors != {0}


def each_transposed(args: tuple[Value, ...], permutation: tuple[int, ...]) -> tuple[Value, ...]:
    """Every tensor among the operands, transposed."""
    return tuple(Transpose(a, permutation) if isinstance(a.type, TensorType) else a for a in args)


def each_taken(args: tuple[Value, ...], subscripts: Subscripts) -> tuple[Value, ...] | None:
    """What the subscripts take of each operand; None where a dimension of extent 1 would have to be stretched.

    Operands of fewer dimensions have the last ones; along those of extent 1 there is one position.
    """
    tensors = [a for a in args if isinstance(a.type, TensorType)]
    rank = len(joined(args))
    used = [i for i, s in enumerate(subscripts) if not isinstance(s, NewAxis)]
    full = joined(args)
    found: list[Value] = []
    for a in args:
        if a not in tensors:
            found.append(a)
            continue
        shape = shape_of(a)
        own: list[Subscript] = []
        for i, s in enumerate(subscripts):
            dimension = used.index(i) if i in used else None
            at = None if dimension is None else dimension - (rank - len(shape))
            if at is None:
                if any(isinstance(o, (Along, At, NewAxis)) for o in own) or _in_front(used, i, rank - len(shape)):
                    own.append(s)
            elif at >= 0:
                if is_const(shape[at], 1) and not is_const(full[dimension], 1):  # type: ignore[index]
                    own.append(At(Const(0, index)) if isinstance(s, At) else Along(Domain(Const(0, index), shape[at])))
                else:
                    own.append(s)
        found.append(Take(a, tuple(own)))
    return tuple(found)


def _in_front(used: list[int], place: int, missing: int) -> bool:
    """Whether a new axis at `place` stands behind every dimension that the operand lacks."""
    return all(i < place for i in used[:missing])


def takes_each(op: Op, args: tuple[Value, ...], subscripts: Subscripts) -> bool:
    """Whether taking of the operands gives what taking of the result does: a tensor of the same extents."""
    if not keeps_a_dimension(subscripts) or are_scalars(args) or _has_tensors(subscripts):
        return False
    return shape_of(Pointwise(op, each_taken(args, subscripts) or ())) == taken(subscripts)


FUNCTIONS = {name: f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__}
"""By name, for the matchers."""
