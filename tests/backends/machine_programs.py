"""Programs written by hand at each level, as passes would make them."""

from __future__ import annotations

from typing import Any

from intent_np.terms.blocked import BlockedGroup, BlockedProgram, Fold, Point, Slice, Tile, Traverse, Whole
from intent_np.terms.core import Term, named
from intent_np.terms.dtypes import DType, f16, f32
from intent_np.terms.gpu import ContractInto, For, Full, Kernel, Let, Range, Var, variable
from intent_np.terms.grouped import Group, GroupedProgram
from intent_np.terms.index import AxisLike, Const, Extent, Physical, Stride, Value, add, apply, const, lt, mul, select
from intent_np.terms.normal import Axis, Contract, Coord, Load, Program, Reduce, Store, View, builtin, identity


def view(name: str, mode: str, dtype: DType, *shape: Value) -> View:
    return View(name, mode, dtype, shape, tuple(Stride(name, d) for d in range(len(shape))))


def axis(extent: Value | int, name: str, lo: Value | int = 0, use: int = 0) -> Axis:
    bounds = [const(b) if isinstance(b, int) else b for b in (lo, extent)]
    return named(Axis(*bounds, use), name)


def reduction(name: str, over: AxisLike, value: Value) -> Value:
    return Reduce(over, builtin(name, value.type), (value,), (identity(name, value.type),))


def exp(x: Value) -> Value:
    return apply("exp", x)


def sub(x: Value, y: Value) -> Value:
    return apply("sub", x, y)


def div(x: Value, y: Value) -> Value:
    return apply("div", x, y)


M, N, K = (Extent(n) for n in "MNK")
X, Y = view("x", "in", f32, M, N), view("y", "out", f32, M, N)
R, C = axis(M, "r"), axis(N, "c")
PARAMETERS: tuple[Term, ...] = (X, Y, M, N)


def softmax_of(x: Value, over: AxisLike) -> Value:
    top = reduction("max", over, x)
    e = exp(sub(x, top))
    return div(e, reduction("sum", over, e))


def softmax_effect() -> Store:
    at = (Coord(R), Coord(C))
    return Store(Y, at, softmax_of(Load(X, at), C))


def softmax_normal() -> Program:
    return Program("softmax", PARAMETERS, (softmax_effect(),))


def softmax_grouped() -> GroupedProgram:
    return GroupedProgram("softmax", PARAMETERS, (Group((R,), (softmax_effect(),)),))


def one_group(name: str, parameters: tuple[Term, ...], space: tuple[AxisLike, ...], effects: Any) -> BlockedProgram:
    """A program of one execution group."""
    return BlockedProgram(name, parameters, (BlockedGroup(space, effects),))


def softmax_resident(block: int, rows: int = 1) -> BlockedProgram:
    """Rows in tiles (or one by one), a whole padded row in a fragment."""
    r: Any = Point(R) if rows == 1 else Tile(R, Physical("BR", rows))
    c = Whole(C, Physical("BC", block))
    inside = lt(Coord(c), N)
    valid = inside if rows == 1 else apply("and", inside, lt(Coord(r), M))
    x = Load(X, (Coord(r), Coord(c)), valid, 0.0)
    minus = Const(float("-inf"), f32)
    top = reduction("max", c, select(inside, x, minus))
    e = exp(sub(x, top))
    total = reduction("sum", c, select(inside, e, Const(0.0, f32)))
    return one_group("softmax", PARAMETERS, (r,), (Store(Y, (Coord(r), Coord(c)), div(e, total), valid),))


def lanewise(name: str, over: Slice, value: Value) -> Value:
    fold = Fold(over, builtin(name, value.type), (value,), (identity(name, value.type),), True)
    return reduction(name, over, fold)


def softmax_traversal(block: int) -> BlockedProgram:
    """Three loops over the columns: partial maxima per lane, partial sums per lane, the store."""
    r, c = Point(R), Slice(C, Physical("BC", block))
    inside = lt(Coord(c), N)
    x = Load(X, (Coord(r), Coord(c)), inside, float("-inf"))
    top = lanewise("max", c, x)
    e = exp(sub(x, top))
    total = lanewise("sum", c, select(inside, e, Const(0.0, f32)))
    store = Store(Y, (Coord(r), Coord(c)), div(e, total), inside)
    return one_group("softmax", PARAMETERS, (r,), (Traverse(c, store),))


def softmax_gpu(block: int) -> Kernel:
    bc = Physical("BC", block)
    r, c = Var("r", Coord(R).type), Range(bc)
    inside = lt(c, N)
    x = variable("x_v", f32, frozenset((bc,)))
    e = variable("e", f32, frozenset((bc,)))
    top, total = Var("top", f32), Var("total", f32)
    body = (
        Let(x, Load(X, (r, c), inside, float("-inf"))),
        Let(top, reduction("max", bc, x)),
        Let(e, exp(sub(x, top))),
        Let(total, reduction("sum", bc, e)),
        Store(Y, (r, c), div(e, total), inside),
    )
    return Kernel("softmax", (bc,), PARAMETERS, (M,), (r,), body)


def matmul_views(dtype: DType, acc: DType) -> tuple[View, View, View]:
    return view("A", "in", dtype, M, K), view("B", "in", dtype, K, N), view("C", "out", acc, M, N)


def matmul_normal(dtype: DType = f16, acc: DType = f32) -> Program:
    a, b, c = matmul_views(dtype, acc)
    m, n, k = axis(M, "m"), axis(N, "n", use=1), axis(K, "k", use=2)
    value = Contract(k, Load(a, (Coord(m), Coord(k))), Load(b, (Coord(k), Coord(n))), acc)
    return Program("gemm", (a, b, c, M, N, K), (Store(c, (Coord(m), Coord(n)), value),))


def matmul_grouped(dtype: DType = f16, acc: DType = f32) -> GroupedProgram:
    p = matmul_normal(dtype, acc)
    (store,) = p.effects
    m, n = (i.axis for i in store.index)  # type: ignore[attr-defined]
    return GroupedProgram(p.name, p.parameters, (Group((m, n), (store,)),))


def matmul_blocked(bm: int, bn: int, bk: int, dtype: DType = f16, acc: DType = f32) -> BlockedProgram:
    a, b, c = matmul_views(dtype, acc)
    m, n = Tile(axis(M, "m"), Physical("BM", bm)), Tile(axis(N, "n", use=1), Physical("BN", bn))
    k = Slice(axis(K, "k", use=2), Physical("BK", bk))
    inside = [lt(Coord(m), M), lt(Coord(n), N), lt(Coord(k), K)]
    zero = 0.0 if dtype.is_float else 0
    left = Load(a, (Coord(m), Coord(k)), apply("and", inside[0], inside[2]), zero)
    right = Load(b, (Coord(k), Coord(n)), apply("and", inside[1], inside[2]), zero)
    block = Contract(k, left, right, acc)
    total = Fold(k, builtin("sum", acc), (block,), (identity("sum", acc),))
    store = Store(c, (Coord(m), Coord(n)), total, apply("and", inside[0], inside[1]))
    return one_group("gemm", (a, b, c, M, N, K), (m, n), (store,))


def matmul_gpu(bm: int, bn: int, bk: int, dtype: DType = f16, acc: DType = f32) -> Kernel:
    """The listing of a GEMM over fragments: grid, accumulator, one loop, one store."""
    a, b, c = matmul_views(dtype, acc)
    pm, pn, pk = (Physical(n, s) for n, s in (("BM", bm), ("BN", bn), ("BK", bk)))
    i, j, k0 = (Var(n, M.type) for n in ("pm", "pn", "k0"))

    def let(name: str, value: Value) -> tuple[Var, Let]:
        v = variable(name, value.type, value.lanes)
        return v, Let(v, value)

    m, let_m = let("m", add(mul(i, pm), Range(pm)))
    n, let_n = let("n", add(mul(j, pn), Range(pn)))
    s, let_s = let("acc", Full(0.0 if acc.is_float else 0, acc, (pm, pn)))
    k, let_k = let("k", add(k0, Range(pk)))
    zero = 0.0 if dtype.is_float else 0
    lhs, let_lhs = let("lhs", Load(a, (m, k), apply("and", lt(m, M), lt(k, K)), zero))
    rhs, let_rhs = let("rhs", Load(b, (k, n), apply("and", lt(k, K), lt(n, N)), zero))
    step = Let(s, ContractInto(lhs, rhs, s))
    loop = For(k0, const(0), K, pk, (s,), (let_k, let_lhs, let_rhs, step))
    store = Store(c, (m, n), s, apply("and", lt(m, M), lt(n, N)))
    grid = (apply("ceil_div", M, pm), apply("ceil_div", N, pn))
    return Kernel("gemm", (pm, pn, pk), (a, b, c, M, N, K), grid, (i, j), (let_m, let_n, let_s, loop, store))
