"""The page on numbers: every operator and conversion by element type, from the tables of `numerics`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from intent_np import numerics
from intent_np.numerics import casts, invalidity
from intent_np.numerics.formats import CODECS
from intent_np.numerics.literals import FORMATS
from intent_np.numerics.ulps import BOUNDS
from intent_np.terms.dtypes import DTYPES, DType, bool_, f32
from intent_np.terms.operators import OPERATORS, Op

TYPES = list(DTYPES.values())
POINTS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def operators() -> str:
    """A row for each operator and set of element types of which the same is said."""
    rows = []
    for op in OPERATORS.values():
        approximate = op.name.endswith("_approx")  # f32 alone
        accepted = [d for d in TYPES if op.accepts(d) and (d is f32 or not approximate)]
        said = _grouped(accepted, lambda d, op=op: (_bound(op, d), invalidity.about(op, d)))
        for k, (types, (bound, invalid)) in enumerate(said):
            rows.append((f"`{op.name}`" if k == 0 else "", op.about if k == 0 else "", _types(types), bound, invalid))
    return _table(("operator", "value", "element types", "steps off", "invalid operands"), rows)


def promises() -> str:
    """Where a bound is not promised for all operands."""
    rows = [(f"`{name}`", bound.where) for name, bound in BOUNDS.items() if bound.where]
    return _table(("operator", "the bound holds"), rows)


def conversions() -> str:
    """A row for each pair of sets of element types between which the same happens."""
    rows = []
    for mode, name in (("wrap", "`I.cast`"), ("saturate", "`I.saturate_cast`")):
        pairs = [(s, d) for s in TYPES for d in TYPES]

        def said(pair: tuple[DType, DType], mode: str = mode) -> tuple[str, str]:
            source, dst = pair
            return casts.about(dst, source, mode), invalidity.about_cast(dst, source) if mode == "wrap" else ""

        by_target: list[tuple[Any, Any]] = []
        for d in TYPES:
            mine = [p for p in pairs if p[1] is d]
            by_target += [((tuple(s for s, _ in group), d), what) for group, what in _grouped(mine, said)]
        # targets that say the same of the same sources share a row
        merged: dict[Any, list[DType]] = {}
        for (sources, d), what in by_target:
            merged.setdefault((sources, what), []).append(d)
        rows += [(name, _types(s), _types(d), value, invalid) for (s, (value, invalid)), d in merged.items()]
    return _table(("conversion", "from", "to", "value", "invalid operands"), rows)


def special_values() -> str:
    """What functions of one operand give at the special points, on f32."""
    rows = []
    x = np.array(POINTS, np.float32)
    for op in OPERATORS.values():
        if op.arity == 1 and op.accepts(f32) and not op.name.endswith("_approx"):
            rows.append((f"`{op.name}`", *map(_number, numerics.apply(op, x, dtype=f32).tolist())))
    return _table(("operator", *map(_number, POINTS)), rows)


def special_powers() -> str:
    """`a ** b` at pairs of special points: a down, b across."""
    bases = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan)
    exponents = (0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan)
    a, b = np.array(bases, np.float32)[:, None], np.array(exponents, np.float32)
    result = numerics.apply(OPERATORS["pow"], a, b, dtype=f32).tolist()
    rows = [(_number(v), *map(_number, row)) for v, row in zip(bases, result, strict=True)]
    return _table(("a ** b", *map(_number, exponents)), rows)


def float_types() -> str:
    """The float element types."""
    rows = [
        (name, str(f.precision), f"2^{f.least}", f"{f.largest:.8g}", "yes" if f.infinite else "no")
        for name, f in FORMATS.items()
    ]
    return _table(("type", "significant bits", "least positive", "largest finite", "infinities"), rows)


def codecs() -> str:
    """The numbers without an element type of their own."""
    rows = []
    for c in CODECS.values():
        finite = [v for v in c.values if abs(v) < np.inf]
        special = ["infinities"] * (np.inf in c.values) + ["NaN"] * any(v != v for v in c.values)
        span = f"{_number(min(finite))} to {_number(max(finite))}"
        rows.append((c.name, str(c.bits), span, ", ".join(special) or "none", c.decoded.name))
    return _table(("format", "bits", "numbers", "special", "decoded as"), rows)


def accumulators() -> str:
    """What a sum accumulates in where the author says nothing."""
    from intent_np.language.reductions import ACCUMULATORS

    groups = _grouped(
        TYPES, lambda d: ACCUMULATORS.get(d.name, "its own; say `acc_dtype`" if d is bool_ else "its own")
    )
    return _table(("values", "accumulator"), [(_types(types), said) for types, said in groups])


# --- parts


def _bound(op: Op, dtype: DType) -> str:
    bound = numerics.ulp_bound(op, dtype)
    return {0.0: "exact", 0.5: "0"}.get(bound, f"{bound:g}")


def _grouped(items: Iterable[Any], said: Callable[..., Any]) -> list[tuple[list[Any], Any]]:
    """Items of which the same is said, in the order of their first."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(said(item), []).append(item)
    return [(found, what) for what, found in groups.items()]


def _types(types: Iterable[DType]) -> str:
    """Element types by name, or what they are together."""
    names = [d.name for d in types]
    for word, every in (
        ("integers", [d.name for d in TYPES if d.is_integer]),
        ("floats", [d.name for d in TYPES if d.is_float]),
    ):
        if set(every) <= set(names):
            names = [n for n in names if n not in every] + [word]
    return " ".join(names)


def _number(v: float | bool) -> str:
    if isinstance(v, bool):
        return "true" if v else "false"
    return "NaN" if v != v else f"{v:.6g}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines)
