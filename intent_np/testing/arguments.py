"""Arguments for a kernel: shapes from extents, values from a distribution, memory from a layout.

Outputs arrive poisoned (NaN, or 0xCD bytes) so that an element nobody writes cannot pass, and every view has guard
memory around it (`views.py`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from intent_np.parsing import parse

from .formats import FORMATS, numpy_dtype
from .values import draw
from .views import guarded

Arguments = dict[str, Any]
"""Every launch argument by name in the order of declaration: NumPy views, and scalars by value."""


def launched(kernel: Any) -> list[Any]:
    """The parameters that a launch takes, in order: views (with `.mode`, `.dtype`, `.shape`) and scalars (`.dtype`)."""
    return [p for p in kernel.parameters if p.kind != "constexpr"]


def arguments(
    source: Any,
    extents: Mapping[str, int],
    seed: int = 0,
    layout: str = "contiguous",
    values: str | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    scalars: Mapping[str, float | int | bool] | None = None,
) -> Arguments:
    """Arguments for `source`, a `Case` or a kernel, at `extents` (every name that its shapes use).

    `values` is a distribution of `values.KINDS` for all float inputs; `inputs` names one per parameter and prevails;
    otherwise inputs are normal.  `layout` is one of `views.LAYOUTS`.  `scalars` fixes scalar parameters; the others are
    drawn, whole ones where `values` is "integers".  A case brings its own constexprs, `inputs`, `scalars` and
    `structured` arrays; a kernel the defaults of its constexprs.
    """
    constexprs = getattr(source, "constexprs", ())
    names = {**(constexprs if isinstance(constexprs, Mapping) else {p.name: p.default for p in constexprs}), **extents}
    chosen = {**({} if values else getattr(source, "inputs", {})), **(inputs or {})}
    fixed = {**getattr(source, "scalars", {}), **(scalars or {})}
    rng = np.random.default_rng(seed)
    structured = source.structured(extents, rng) if hasattr(source, "structured") else {}
    result: Arguments = {}
    for parameter in launched(getattr(source, "kernel", source)):
        name, dtype = parameter.name, str(parameter.dtype)
        if parameter.kind == "scalar":
            drawn = rng.integers(-8, 8, endpoint=True) if values == "integers" else rng.standard_normal()
            result[name] = _scalar(dtype, fixed[name] if name in fixed else float(drawn))
            continue
        sizes = tuple(extent(entry, names) for entry in parameter.shape)
        if min(sizes, default=0) < 0:
            raise ValueError(f"'{name}' cannot have the shape {sizes}")
        view = guarded(sizes, numpy_dtype(dtype), layout, rng, writable=parameter.mode != "in" or name in structured)
        if name in structured:
            view[...] = structured[name]
        elif parameter.mode != "out":
            view[...] = draw(chosen.get(name, values or "normal"), sizes, dtype, rng)
        result[name] = view
    return result


def _scalar(dtype: str, value: float | int | bool) -> float | int | bool:
    """`value` as a Python number that the dtype holds exactly."""
    if dtype == "bool":
        return bool(value)
    if dtype in FORMATS:
        return float(FORMATS[dtype].round(np.float64(value)))
    return abs(int(value)) if dtype.startswith("u") else int(value)


def _ceiling(a: int, b: int) -> int:
    return -(-a // b)


_OPERATORS: Final[dict[type[ast.operator], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_FUNCTIONS: Final[dict[str, Any]] = {"cdiv": _ceiling, "min": min, "max": max}


def extent(entry: Any, names: Mapping[str, int]) -> int:
    """The size that a shape entry declares: an int, a name, or integer arithmetic over names such as `"2 * N + 1"`."""

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(int(number)):
                return number
            case ast.Name(name) if name in names:
                return int(names[name])
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                return int(_OPERATORS[type(op)](value(left), value(right)))
            case ast.UnaryOp(ast.USub(), operand):
                return -value(operand)
            case ast.Call(ast.Name(name), operands) if name in _FUNCTIONS:
                return int(_FUNCTIONS[name](*map(value, operands)))
        raise ValueError(
            f"cannot size {ast.unparse(node)!r} of shape entry {entry!r}; known: {', '.join(names) or 'none'}"
        )

    return value(parse(str(entry), "eval").body)
