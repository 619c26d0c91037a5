"""The value of structured operations on NumPy arrays: reductions, scans, order, counts, contractions.

Arrays have the batch dimensions of their scope in front, as everywhere in the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import numerics
from ...errors import error
from ...numerics import Array, storage
from ...terms.core import arena
from ...terms.dtypes import DType
from ...terms.index import Const, Value
from ...terms.logical import (
    Histogram,
    Quantize,
    QuantizedDot,
    ScaledContract,
    SparseContract,
    TensorContract,
    TensorReduce,
    TensorScan,
    TensorSort,
    element,
    shape_of,
)
from ...terms.normal import BUILTIN, Arg, Combine, builtin_name, identity
from ...terms.operators import OPERATORS, Op
from .scope import Result, Scope, lift

Arrays = tuple[Array, ...]
Used = dict[Arg, Array]  # what a combine uses besides its sides


class Structured:
    """Evaluates structured values; `Tensors` gives it the rest."""

    def value(self, v: Value, scope: Scope) -> Result:
        """The elements of a value where a scope stands."""
        raise NotImplementedError

    def aligned(self, v: Value, rank: int, s: Scope) -> Array:
        """The elements of a value with dimensions of 1 in front of its own, up to `rank`, so that NumPy aligns them."""
        raise NotImplementedError

    def size(self, extent: Value, scope: Scope) -> int:
        """The number that an extent is."""
        raise NotImplementedError

    def structured(self, v: Value, s: Scope) -> Result:
        """The value of a structured operation."""
        match v:
            case TensorReduce():
                return self._reduce(v, s)
            case TensorScan():
                return self._scan(v, s)
            case TensorSort():
                return self._sort(v, s)
            case Histogram():
                return self._histogram(v, s)
            case TensorContract():
                return self._contract(v, s)
            case ScaledContract(l, ls, r, rs, lf, rf, _, acc):
                left, right = (self.value(l, s), self.value(ls, s)), (self.value(r, s), self.value(rs, s))
                return numerics.scaled_contract(*left, *right, (lf, rf), acc=acc)
            case SparseContract():
                return self._sparse(v, s)
            case Quantize(value):
                return numerics.quantize_q8_k(self.value(value, s))
            case QuantizedDot(l, r):
                rank = max(len(shape_of(l)), len(shape_of(r)))
                return numerics.quantized_dot(self.aligned(l, rank, s), self.aligned(r, rank, s))
        raise error("E702", language="logical", found=f"a {type(v).__name__}, which has no value")

    # ---- along one axis

    def _reduce(self, v: TensorReduce, s: Scope) -> Result:
        rank = max(len(shape_of(x)) for x in v.values)
        axis = s.depth + v.dimension
        arrays = [self.aligned(x, rank, s) for x in v.values]
        if op := builtin(v):
            return numerics.reduce(op, arrays[0], axis, v.combine.dtypes[0], v.keepdims)
        used = self.operands(v, s, rank)
        results = self.folded(v.combine, in_lines(arrays, used, axis), v.identities, used)
        results = tuple(np.expand_dims(r, axis) for r in results) if v.keepdims else results
        return results[0] if len(results) == 1 else results

    def _scan(self, v: TensorScan, s: Scope) -> Result:
        rank = max(len(shape_of(x)) for x in v.values)
        axis = s.depth + v.dimension
        arrays = [self.aligned(x, rank, s) for x in v.values]
        if op := builtin(v):
            running = np.moveaxis(numerics.accumulate(op, arrays[0], axis, v.combine.dtypes[0], v.reverse), axis, 0)
            lines: Arrays = (running[::-1] if v.reverse else running,)
        else:
            used = self.operands(v, s, rank)
            lines = in_lines(arrays, used, axis)
            lines = self.scanned(v.combine, tuple(x[::-1] for x in lines) if v.reverse else lines, used)
        if v.exclusive:
            first = [
                np.full((min(1, len(x)), *x.shape[1:]), i.value, x.dtype)
                for x, i in zip(lines, v.identities, strict=True)
            ]
            lines = tuple(np.concatenate((i, x[:-1])) for i, x in zip(first, lines, strict=True))
        results = tuple(np.moveaxis(x[::-1] if v.reverse else x, 0, axis) for x in lines)
        return results[0] if len(results) == 1 else results

    def operands(self, v: TensorReduce | TensorScan, s: Scope, rank: int) -> Used:
        """What the combine uses, one number for each lane, with a dimension for the members in front."""
        made: Used = {}
        for i, o in enumerate(v.operands):
            a = self.value(o, s)
            made[Arg("c", i, element(o.type))] = a.reshape((1, *a.shape, *[1] * (rank - 1)))
        return made

    def folded(self, combine: Combine, lines: Arrays, identities: tuple[Const, ...], used: Used) -> Arrays:
        """The members along the first dimension, neighbours combined until one is left; of none, the identity."""
        if lines[0].shape[0] == 0:
            return tuple(np.full(x.shape[1:], i.value, x.dtype) for x, i in zip(lines, identities, strict=True))
        while (n := lines[0].shape[0]) > 1:
            even = n - n % 2
            pairs = self.combined(combine, tuple(x[0:even:2] for x in lines), tuple(x[1:even:2] for x in lines), used)
            lines = tuple(np.concatenate((p, x[even:])) for p, x in zip(pairs, lines, strict=True))
        return tuple(x[0] for x in lines)

    def scanned(self, combine: Combine, lines: Arrays, used: Used) -> Arrays:
        """Every prefix along the first dimension: those of pairs, and between them one more member."""
        n = lines[0].shape[0]
        if n < 2:
            return lines
        even = n - n % 2
        pairs = self.combined(combine, tuple(x[0:even:2] for x in lines), tuple(x[1:even:2] for x in lines), used)
        odd = self.scanned(combine, pairs, used)
        more = self.combined(combine, tuple(x[: (n - 1) // 2] for x in odd), tuple(x[2::2] for x in lines), used)
        made = tuple(np.array(x) for x in lines)  # the first member stays
        for x, o, m in zip(made, odd, more, strict=True):
            x[1::2], x[2::2] = o, m
        return made

    def combined(self, combine: Combine, left: Arrays, right: Arrays, used: Used) -> Arrays:
        """`combine` of arrays of one shape, elementwise."""
        scope = sided(combine, left, right, used)
        return tuple(np.broadcast_to(self.value(b, scope), left[0].shape) for b in combine.bodies)

    # ---- order and counts

    def _sort(self, v: TensorSort, s: Scope) -> Result:
        values, axis = self.value(v.value, s), s.depth + v.dimension
        places = numerics.argsort(values, axis, element(v.value.type), v.descending)
        return np.take_along_axis(values, places, axis), places

    def _histogram(self, v: Histogram, s: Scope) -> Array:
        rank, bins = len(shape_of(v.values)), self.size(v.bins, s)
        values, valid = self.value(v.values, s), np.ones((1,) * (s.depth + rank), np.bool_)
        if v.valid is not None:
            valid = self.aligned(v.valid, rank, s)
        whole = np.broadcast_shapes(values.shape, valid.shape)
        rows, members = int(np.prod(whole[: s.depth])), int(np.prod(whole[s.depth :]))
        values, valid = (np.broadcast_to(a, whole).reshape(rows, members) for a in (values, valid))
        return numerics.histogram(values, valid, bins).astype(storage(v.dtype)).reshape(*whole[: s.depth], bins)

    # ---- contractions

    def _contract(self, v: TensorContract, s: Scope) -> Array:
        return self.contracted(v, self.value(v.left, s), self.value(v.right, s), s, v.acc)

    def contracted(self, v: TensorContract, l: Array, r: Array, s: Scope, acc: DType) -> Array:
        """Batch dimensions that both sides have are batch; one that only one side has is free there."""
        both = [d for d in range(s.depth) if l.shape[d] == r.shape[d]]
        l_only = [d for d in range(s.depth) if d not in both and r.shape[d] == 1]
        l_keep = [d for d in range(l.ndim) if d >= s.depth or d in both or d in l_only]
        r_keep = [d for d in range(r.ndim) if d >= s.depth or d not in l_only and (d in both or r.shape[d] != 1)]
        l_names = [("batch", d) if d < s.depth else ("left", d - s.depth) for d in l_keep]
        r_names = [("batch", d) if d < s.depth else ("right", d - s.depth) for d in r_keep]
        batch = [(l_names.index(("batch", d)), r_names.index(("batch", d))) for d in both]
        batch += [(l_names.index(("left", i)), r_names.index(("right", j))) for i, j in v.batch]
        summed = [(l_names.index(("left", i)), r_names.index(("right", j))) for i, j in v.summed]
        result = numerics.contract(
            l.reshape([l.shape[d] for d in l_keep]), r.reshape([r.shape[d] for d in r_keep]), summed, batch, acc=acc
        )
        taken = {j for _, j in (*summed, *batch)}
        names = [n for i, n in enumerate(l_names) if i not in {i for i, _ in summed}]
        names += [n for j, n in enumerate(r_names) if j not in taken]
        order = sorted(range(len(names)), key=lambda k: ({"batch": 0, "left": 1, "right": 2}[names[k][0]], names[k][1]))
        result = result.transpose(order)
        present = {n[1] for n in names if n[0] == "batch"}
        for d in range(s.depth):
            if d not in present:
                result = np.expand_dims(result, d)
        return result

    def _sparse(self, v: SparseContract, s: Scope) -> Array:
        l, at, r = (self.value(x, s) for x in (v.left, v.at, v.right))
        wrong = (at < 0) | (at >= v.width)
        wrong[..., 1:] |= at[..., 1:] <= at[..., :-1]
        live = wrong if s.active is None else wrong & lift(s.active, s.depth, s.depth + 3)
        if live.any():
            self.misplaced(v, np.broadcast_to(at, live.shape), live)
        return numerics.sparse_contract(l, np.where(wrong, 0, at), r, acc=v.acc)

    def misplaced(self, v: SparseContract, at: Array, bad: Array) -> None:
        """What happens where the metadata in lanes `bad` names no place, or one too late."""
        places = [int(p) for p in at[tuple(np.argwhere(bad)[0][:-1])]]
        span = next(iter(arena().spans.get(v, ())), None)
        raise error("E515", span, name=arena().names.get(v.at, "metadata"), width=v.width, found=f"places {places}")


def sided(combine: Combine, left: Arrays, right: Arrays, used: Used) -> Scope:
    """A scope that binds the sides of a combine, and what else it uses."""
    sides = [Arg(side, i, d) for side in "ab" for i, d in enumerate(combine.dtypes)]
    scope = Scope(Scope(), (*sides, *used), left[0].shape)
    for name, value in (*zip(sides, (*left, *right), strict=True), *used.items()):
        scope.bind(name, value)
    return scope


def builtin(v: TensorReduce | TensorScan) -> Op | None:
    """The operator of a builtin combine from its own identity."""
    name = builtin_name(v.combine)
    if name is None or v.identities[0] is not identity(name, v.combine.dtypes[0]):
        return None
    return OPERATORS[BUILTIN[name]]


def in_lines(arrays: Sequence[Array], used: Used, axis: int) -> Arrays:
    """The members of `axis` in front, every component of one shape."""
    moved = [np.moveaxis(a, axis, 0) for a in np.broadcast_arrays(*arrays)]
    lanes = np.broadcast_shapes(moved[0].shape[1:], *(a.shape[1:] for a in used.values()))
    return tuple(np.broadcast_to(a, (len(a), *lanes)) for a in moved)
