"""Random effects of normal programs, and what they do on the program machine: for rules over memory and folds."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ...backends.program import run
from ...numerics import storage
from ...terms.core import find
from ...terms.dtypes import DType, bool_, f32, i32
from ...terms.index import Const, Extent, Param, Stride, Value, apply, const, select
from ...terms.normal import Axis, Contract, Coord, Load, Program, Reduce, Store, Update, View, builtin, identity
from .shown import Call

SIZES = {"M": 3, "N": 5}
KINDS = {f32: (1.5, -2.0, 0.0, -0.0, np.inf, -np.inf, np.nan), i32: (1, -2, 0, 7, 2**31 - 1)}


def view(name: str, mode: str, d: DType, shape: tuple[Value, ...], finite: bool = False) -> View:
    """A view of an array of its own."""
    return View(name, mode, d, shape, tuple(Stride(name, i) for i in range(len(shape))), finite)


def random_effect(seed: int) -> Any:
    """A store or an update along an axis of M members, of values that have what rules about folds look for."""
    random = Random(seed)
    pick = random.choice
    d = pick((f32, i32))
    m, n = (Axis(const(0), Extent(e)) for e in "MN")
    p = Param("p", bool_)
    truth = lambda: pick((Const(True, bool_), Const(False, bool_), p, None))  # noqa: E731

    def element(axis: Axis) -> Value:
        finite = random.random() < 0.5
        x = view(f"x_{axis.hi.name}{'_finite' * finite}", "in", d, (axis.hi,), finite and d.is_float)  # type: ignore[attr-defined]
        return Load(x, (Coord(axis),), truth(), pick((0, 0, 1, -2)))

    def value(axis: Axis, depth: int) -> Value:
        kind = pick(("element", "constant", "reduce", "contract", "sum", "mask")) if depth else "element"
        name = pick(("sum", "prod", "max", "min"))
        match kind:
            case "constant":
                return const(pick((0, 1, -2)), d)
            case "reduce" if axis is m:
                inner = pick((value(n, depth - 1), identity(name, d), const(pick((0, 3)), d)))
                return Reduce(n, builtin(name, d), (inner,), (identity(name, d),))
            case "contract" if axis is m:
                zero = pick((const(0, d), value(n, 0)))
                sides = (zero, value(n, 0)) if random.random() < 0.5 else (value(n, 0), zero)
                return Contract(n, *sides, d)
            case "sum":
                return apply("add", value(axis, depth - 1), value(axis, depth - 1))
            case "mask":
                return select(truth() or p, value(axis, depth - 1), const(0, d))
        return element(axis)

    out = view("out", "inout", d, (Extent("M"),))
    if random.random() < 0.2:
        return Update(out, (Coord(m),), "add", (value(m, 1),), (m,), valid=truth())
    return Store(out, (Coord(m),), value(m, 3), truth())


def calls(*roots: Any) -> list[tuple[Call, ...]]:
    """Programs that leave what each of these effects stores, or each of these values is, along all axes that one of
    them varies along: for sizes with and without members, and both truths of parameters."""
    sizes = [{**SIZES, "N": size} for size in (SIZES["N"], 1, 0)]
    axes = frozenset().union(*(t.lanes for t in roots if isinstance(t, Value)))
    along = sorted((a for a in axes if isinstance(a, Axis)), key=lambda a: a.hi.name)  # type: ignore[attr-defined]
    return [tuple(_call(t, along, n, holds) for t in roots) for n in sizes for holds in (True, False)]


def _call(t: Any, along: list[Axis], sizes: dict[str, int], holds: bool) -> Call:
    effect = t
    if isinstance(t, Value):
        shape = tuple(a.hi for a in along) or (const(1),)
        index: tuple[Any, ...] = tuple(Coord(a) for a in along) or (const(0),)
        effect = Store(view("out", "inout", t.type, shape), index, t)  # type: ignore[arg-type]
    views = list(dict.fromkeys([effect.view, *(s.view for s in find(effect, Load))]))
    holders = [view(f"size_{e}", "in", f32, (Extent(e),)) for e in sizes]
    parameters = (*holders, *views, *dict.fromkeys(find(effect, Param)))
    rng = np.random.default_rng(5)
    arrays: dict[str, Any] = {h.name: np.zeros(sizes[h.name[-1]], np.float32) for h in holders}
    for v in views:
        extents = tuple(sizes.get(getattr(e, "name", ""), 1) for e in v.shape)
        kinds = [x for x in KINDS.get(v.dtype, (0, 1)) if not v.finite or np.isfinite(x)]
        arrays[v.name] = rng.choice(np.array(kinds, storage(v.dtype)), extents)
    return Call(Program("p", parameters, (effect,)), arrays, {q.name: holds for q in find(effect, Param)})


def left(call: Call) -> Any:
    """What a call leaves in its result, on the program machine."""
    arrays = {name: a.copy() for name, a in call.arrays.items()}
    with np.errstate(all="ignore"):
        run(call.program, arrays, dict(call.scalars))
    return arrays["out"]
