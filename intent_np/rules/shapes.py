"""Shapes: what rearranges elements composes, moves through what computes them one by one, and meets what fills.

Each rule keeps the type of its value and the value itself; the measure below falls, so that rewriting ends.
"""

from __future__ import annotations

from typing import Any

from ..terms.core import walk
from ..terms.index import Apply, Cast
from ..terms.logical import Convert, Filled, Pointwise, Reshape, Take, Transpose
from .pattern import attributes, computed, rule, structure, tensors

v, x = tensors("v x")
p, q, s, r, d, e, m, n, op, xs, ys, k, c, ids, os = attributes("p q s r d e m n op xs ys k c ids os")


def _transpose(value: Any, permutation: Any) -> Any:
    return structure("Transpose", value, permutation)


def _reshape(value: Any, shape: Any) -> Any:
    return structure("Reshape", value, shape)


def _take(value: Any, subscripts: Any) -> Any:
    return structure("Take", value, subscripts, None, None)  # of all lanes


def _filled(value: Any, shape: Any) -> Any:
    return structure("Filled", value, shape)


def _pointwise(operator: Any, args: Any) -> Any:
    return structure("Pointwise", operator, args)


def _convert(value: Any, dtype: Any, mode: Any) -> Any:
    return structure("Convert", value, dtype, mode)


def _reduced(keepdims: bool) -> Any:
    return structure("TensorReduce", xs, k, c, ids, keepdims, os)


RULES = (
    rule("transpose-identity", _transpose(v, p), v, when=[computed("is_identity", p)], why="nothing moves"),
    rule(
        "transpose-transpose", _transpose(_transpose(v, p), q), _transpose(v, computed("composed", p, q)),
        why="permutations compose",
    ),
    rule(
        "transpose-filled", _transpose(_filled(x, s), p), _filled(x, computed("permuted", s, p)),
        why="every element is the same",
    ),
    rule(
        "transpose-pointwise", _transpose(_pointwise(op, xs), p), _pointwise(op, computed("each_transposed", xs, p)),
        when=[computed("of_one_rank", xs)], why="elements are computed one by one; dimensions have one place in each",
    ),
    rule("reshape-same", _reshape(v, s), v, when=[computed("has_shape", v, s)], why="row-major order is kept"),
    rule("reshape-reshape", _reshape(_reshape(v, s), r), _reshape(v, r), why="both keep row-major order"),
    rule("reshape-filled", _reshape(_filled(x, s), r), _filled(x, r), why="every element is the same"),
    rule(
        "reshape-of-kept", _reshape(_reduced(True), s), _reduced(False),
        when=[computed("is_without", _reduced(True), k, s)], why="an extent of 1 leaves the order as it is",
    ),
    rule("convert-same", _convert(v, d, "wrap"), v, when=[computed("has_dtype", v, d)], why="the dtype is this one"),
    rule(
        "convert-convert", _convert(_convert(v, d, m), e, n), _convert(v, e, "wrap"),
        when=[computed("holds_exactly", v, d, m, n)], why="the dtype in between has every value of the first",
    ),
    rule(
        "convert-filled", _convert(_filled(x, s), d, m), _filled(computed("scalar_cast", x, d, m), s),
        why="every element is the same",
    ),
    rule("take-whole", _take(v, s), v, when=[computed("is_whole", v, s)], why="every member, in order"),
    rule(
        "take-take", _take(_take(v, s), r), _take(v, computed("through", s, r)),
        when=[computed("composes", s, r)], why="positions of positions",
    ),
    rule(
        "take-filled", _take(_filled(x, s), r), _filled(x, computed("taken", r)),
        when=[computed("keeps_a_dimension", r)], why="every element is the same",
    ),
    rule(
        "take-indices", _take(structure("Indices", d), r), structure("Indices", computed("part", d, r)),
        when=[computed("is_part", d, r)], why="coordinates are absolute, in whatever part",
    ),
    rule(
        "take-index", _take(structure("Indices", d), r), computed("member", d, r),
        when=[computed("takes_a_scalar", r)], why="position i of lo, lo + step, … is lo + i*step",
    ),
    rule(
        "take-pointwise", _take(_pointwise(op, xs), r), _pointwise(op, computed("each_taken", xs, r)),
        when=[computed("takes_each", op, xs, r)], why="elements are computed one by one; an extent 1 has one position",
    ),
    rule(
        "take-of-kept", _take(_reduced(True), r), _reduced(False),
        when=[computed("drops", k, r, _reduced(True))], why="the kept dimension has one position",
    ),
    rule(
        "pointwise-of-filled", _pointwise(op, xs),
        _filled(computed("scalar_apply", op, computed("plain", xs)), computed("joined", xs)),
        when=[computed("are_filled", xs)], why="every element is the same",
    ),
    rule(
        "pointwise-with-filled", _pointwise(op, xs), _pointwise(op, computed("plain", xs)),
        when=[computed("fill_is_broadcast", xs)], why="a scalar broadcasts to what the others have",
    ),
)  # fmt: skip


def measure(root: Any) -> int:
    """What every rule makes smaller: a polynomial in which rearranging something costs the square of it."""
    size: dict[Any, int] = {}
    for t in walk(root):
        match t:
            case Transpose() | Reshape() | Take() | Convert():
                size[t] = size[t.value] ** 2
            case Pointwise():
                size[t] = 3 + sum(size[a] for a in t.args)
            case Apply():
                size[t] = 1 + sum(size[a] for a in t.args)
            case Filled() | Cast():
                size[t] = 1 + size[t.value]
            case _:
                size[t] = 2
    return size[root]
