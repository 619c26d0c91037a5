"""Random values of logical programs, and what they are by the reference: for rules over what rearranges elements."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ...backends.reference.logical import run
from ...numerics import storage
from ...terms.core import find
from ...terms.dtypes import f16, f32, i8, i32, index
from ...terms.index import Const, Extent, Param, Stride, const
from ...terms.logical import (
    Along,
    At,
    Convert,
    Domain,
    Filled,
    Indices,
    LogicalProgram,
    NewAxis,
    Pointwise,
    Read,
    Reshape,
    Take,
    TensorReduce,
    TensorType,
    Transpose,
    Write,
    shape_of,
)
from ...terms.normal import View, builtin, identity
from ...terms.operators import OPERATORS
from .meaning import evaluate, samples
from .shown import Call

SIZES = {"M": 3, "N": 4}


class Maker:
    """Random terms over the extents 1, 2, 3, M and N; every access is inside."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.extents: list[Any] = [const(1), const(2), Extent("M"), Extent("N")]

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def size(self, e: Any) -> int:
        return int(e.value) if isinstance(e, Const) else SIZES[e.name]

    def scalar(self, d: Any) -> Any:
        return self.pick(Param(f"s_{d}", d), const(self.pick(0, 1, 5), d))

    def leaf(self, rank: int, d: Any) -> Any:
        shape = tuple(self.pick(*self.extents) for _ in range(rank))
        if rank == 1 and d is index:
            lo = const(self.pick(0, 2))
            return Indices(Domain(lo, self.pick(const(6), const(3)), self.pick(None, const(2))))
        if rank == 0 or self.random.random() < 0.4:
            return Filled(self.scalar(d), shape)
        return self.read(shape, d)

    def read(self, shape: tuple[Any, ...], d: Any) -> Any:
        name = f"x_{d}_" + "_".join(str(self.size(e)) for e in shape)
        extents = tuple(const(self.size(e)) if isinstance(e, Const) else e for e in shape)
        view = View(name, "in", d, extents, tuple(Stride(name, i) for i in range(len(shape))))
        return Read(view, tuple(Along(Domain(const(0), e)) for e in extents))

    def subscripts(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        out: list[Any] = []
        for e in shape:
            if self.random.random() < 0.2:
                out.append(NewAxis())
            n = self.size(e) if isinstance(e, (Const, Extent)) else None
            whole = Along(Domain(const(0), e))
            part = [] if n is None or n < 2 else [Along(Domain(const(1), e if self.pick(0, 1) else const(2)))]
            stepped = [] if n is None or n < 2 else [Along(Domain(const(0), const(2), const(2)))]
            at = [] if n == 0 else [At(const(self.pick(0, (n or 1) - 1)))]
            out.append(self.pick(whole, whole, *part, *stepped, *at))
        return tuple(out)

    def value(self, depth: int, rank: int, d: Any) -> Any:
        """A tensor; of `rank`, unless what is taken of it changes that."""
        if depth == 0:
            return self.leaf(rank, d)
        kind = self.pick("transpose", "reshape", "take", "take", "convert", "pointwise", "pointwise", "kept")
        if kind == "convert":
            return (
                Convert(self.value(depth - 1, rank, self.pick(i8, i32, f16, f32)), d)
                if d is not index
                else self.leaf(rank, d)
            )
        inner = self.value(depth - 1, rank, d)
        shape = shape_of(inner)
        if kind == "transpose":
            return Transpose(inner, tuple(self.random.sample(range(len(shape)), len(shape))))
        if kind == "take":
            taken = Take(inner, self.subscripts(shape))
            return taken if isinstance(taken.type, TensorType) else Filled(taken, self.pick((), (Extent("M"),)))
        if kind == "reshape":
            ones = [e for e in shape if not (isinstance(e, Const) and e.value == 1)]
            return Reshape(inner, self.pick(shape, (*shape, const(1)), (const(1), *shape), tuple(ones)))
        if kind == "kept" and shape and d is not index:
            dimension = self.random.randrange(len(shape))
            kept = TensorReduce((inner,), dimension, builtin("max", d), (identity("max", d),), True)
            rest = tuple(Along(Domain(const(0), e)) for e in shape)
            at_0 = (*rest[:dimension], At(const(0)), *rest[dimension + 1 :])
            less = shape[:dimension] + shape[dimension + 1 :]
            if not less:
                return kept
            return self.pick(kept, Take(kept, at_0), Reshape(kept, less))
        others = [
            self.scalar(d),
            inner,
            Filled(self.scalar(d), shape),
            Filled(self.scalar(d), (const(1),) * len(shape)),
        ]
        if shape and d is not index and all(isinstance(e, (Const, Extent)) for e in shape):
            others.append(self.read(shape[-1:], d))
        other = self.pick(*others)
        args = (inner, other) if self.pick(0, 1) else (other, inner)
        return Pointwise(OPERATORS[self.pick("add", "maximum", "sub")], args)


def evaluated(value: Any) -> Any:
    """The elements of a value of the arena in force, by the reference."""
    return left(call_of(value))


def left(call: Call) -> Any:
    """What a call leaves in its result, by the reference."""
    arrays = {name: a.copy() for name, a in call.arrays.items()}
    with np.errstate(all="ignore"):
        run(call.program, arrays, dict(call.scalars))
    return arrays["out"]


def calls(*values: Any) -> list[tuple[Call, ...]]:
    """Programs that leave the elements of these values, for one choice of extents."""
    return [tuple(map(call_of, values))]


def call_of(value: Any) -> Call:
    """A program that writes `value` to `out`, with arrays and scalars to call it with."""
    shape = shape_of(value)
    d: Any = value.type.dtype if isinstance(value.type, TensorType) else value.type
    extents = [Extent("M"), Extent("N")]
    holder = View("sizes", "in", f32, tuple(extents), (Stride("sizes", 0), Stride("sizes", 1)))
    out = View("out", "out", d, shape, tuple(Stride("out", i) for i in range(len(shape))))
    write = Write(out, tuple(Along(Domain(const(0), e)) for e in shape), value)
    views = list(dict.fromkeys(r.view for r in find(write, Read)))
    scalars = list(dict.fromkeys(find(write, Param)))
    rng = np.random.default_rng(3)
    arrays: dict[str, Any] = {"sizes": np.zeros((SIZES["M"], SIZES["N"]), np.float32)}
    for view in views:
        sizes = tuple(_number(e) for e in view.shape)
        arrays[view.name] = samples(view.dtype, int(np.prod(sizes)), rng).reshape(sizes)
    sizes = tuple(_number(e) for e in shape)
    arrays["out"] = np.zeros(sizes, storage(d))
    program = LogicalProgram("p", (holder, *views, *scalars, out), (write,))
    return Call(program, arrays, {s.name: 3 for s in scalars})


def _number(e: Any) -> int:
    return int(evaluate(e, {Extent(n): np.asarray(s) for n, s in SIZES.items()})[0])


def element(v: Any) -> Any:
    """The dtype of a value or of its elements."""
    return v.type.dtype if isinstance(v.type, TensorType) else v.type


def random_value(seed: int) -> Any:
    """A random value of the arena in force."""
    random = Random(seed)
    return Maker(random).value(
        random.randint(1, 4), random.choice([0, 1, 1, 2, 3]), random.choice([f32, i8, f16, index])
    )
