"""Terms that a scalar rule may meet: its left side with leaves of every type and literals, and with values for them.

What guards ask about is bounded by facts that are sound and no better: an extent with a bound that its values need
not reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from ...rules.matcher import orders
from ...rules.pattern import Expr, Rule, nodes
from ...terms.core import Arena
from ...terms.dtypes import DTYPES, DType, bf16, bool_, f16, f32, f64, i8, i32, i64, index, u8, u32, u64
from ...terms.index import Cast, Const, Extent, Param, Value, add, apply, const, mul, sub
from .meaning import samples

DTYPES_OF: dict[str, tuple[DType, ...]] = {
    "i": (i8, u8, i32, u32, i64, u64, index),
    "x": (index,),
    "f": (f16, bf16, f32, f64, DTYPES["f8e5m2"], DTYPES["f8e4m3fn"]),
    "b": (bool_,),
    "any": (bool_, i8, u8, i32, u32, i64, u64, index, f16, bf16, f32, f64, DTYPES["f8e5m2"], DTYPES["f8e4m3fn"]),
}
"""The dtypes that a kind of metavariable stands for."""
LITERALS = (0, 1, 2, 3, 4, 7, 8, 12, 100, 127, -1, -2, -3, -8, -128)
BOUNDS = ((3, 12), (100, 127), (0, 6), (0, 7), (0, 8), (-4, 3), (-9, -1), (0, 0))
"""Least and greatest value of a bounded operand."""
FLOAT_LITERALS = (2.0, -0.25, 64.0, 2.0**-14, 2.0**-130, 3.0, 0.0, 0.1)
ROWS = 400


def metavariables(e: Expr) -> dict[str, Expr]:
    """The metavariables of a pattern by name, in order."""
    return {n.args[0]: n for n in nodes(e) if n.head in ("var", "literal")}


def heads(e: Expr) -> set[str]:
    """The heads of all nodes."""
    return {n.head for n in nodes(e)}


def literal_only(e: Expr) -> bool:
    """Whether a tree is computed from literals alone, while rewriting."""
    below = [a for a in e.args if isinstance(a, Expr)]
    return e.head in ("literal", "const") or bool(below) and e.head != "fact" and all(map(literal_only, below))


def kinds(r: Rule) -> set[str]:
    """The kinds of the metavariables that share one dtype: of all but predicates, if there are any."""
    found = {v.args[1] for v in metavariables(r.left).values()}
    return found - {"b"} or found or {"b"}


def dtypes(r: Rule) -> tuple[DType, ...]:
    """The dtypes at which the rule may fire: those of its kinds that its operators take."""
    common = set.intersection(*({*DTYPES_OF[k]} for k in kinds(r)))
    return tuple(sorted((d for d in common if _typed(r, d)), key=lambda d: d.name))


def _typed(r: Rule, d: DType) -> bool:
    leaves: dict[str, Value] = {}
    for name, v in metavariables(r.left).items():
        leaves[name] = Param(name, bool_ if v.args[1] == "b" else d)
    try:
        with Arena():
            built(r.left, leaves, d)
    except (TypeError, OverflowError):
        return False
    return True


def bounded(r: Rule) -> set[str]:
    """The metavariables that guards know bounds of."""
    facts = [n for g in r.when for n in nodes(g) if n.head in ("fact", "proved")]
    return {v.args[0] for f in facts for v in nodes(f) if v.head == "var"}


def typed(r: Rule) -> bool:
    """Whether the values of a rule are of several types, or it asks for types."""
    asked = any(n.head == "computed" and not literal_only(n) for g in r.when for n in nodes(g))
    return asked or "cast" in heads(r.left) | heads(r.right)


def built(e: Expr, leaves: dict[str, Value], like: DType) -> Value:
    """The term that a pattern stands for."""
    if e.head in ("var", "literal"):
        return leaves[e.args[0]]
    if e.head == "const":
        v = e.args[0]
        return Const(v, bool_) if isinstance(v, bool) else const(v, like)
    if e.head == "cast":
        value, to, mode = e.args
        element: Any = DTYPES[to.args[0]] if to.args[1] == "named" else leaves[to.args[0]]
        return Cast(built(value, leaves, like), element, mode)
    return apply(e.head, *(built(a, leaves, like) for a in e.args))


def instances(r: Rule, rng: np.random.Generator) -> Iterator[tuple[Value, dict[Value, Any], dict[str, Value]]]:
    """Left sides, values for their leaves, and the leaves by name.

    All operands of one kind have one dtype, as far as it is free.
    """
    variables = metavariables(r.left)
    facts = bounded(r)
    literals = [n for n, v in variables.items() if v.head == "literal"]
    ranges = [n for n in variables if n in facts]
    multiples = {g.args[0].args[0]: g.args[1].args[0] for g in r.when if g.head == "multiple"}
    for d in dtypes(r):
        allowed: Any = [v for v in LITERALS if d.is_integer and d.range[0] <= v <= d.range[1]]
        allowed = allowed or (FLOAT_LITERALS if d.is_float else [0])
        for choice in product(allowed if literals else [0], repeat=len(literals) or 1):
            for bounds in product(BOUNDS if ranges else [(0, 0)] * (20 if r.opaque else 1), repeat=len(ranges) or 1):
                leaves: dict[str, Value] = {}
                env: dict[Value, Any] = {}
                for name, v in variables.items():
                    if name in literals:
                        leaves[name] = const(choice[literals.index(name)], d)
                    elif name in ranges:
                        leaves[name], extent, size = between(name, *bounds[ranges.index(name)])
                        env[extent] = rng.integers(0, size + 1, ROWS)
                    elif name in multiples:
                        by = max(1, int(choice[literals.index(multiples[name])]))
                        leaves[name] = Extent(name, None, by)
                        env[leaves[name]] = by * rng.integers(0, 50, ROWS)
                    elif r.opaque and v.args[1] == "x":
                        leaves[name], parts = _sum(name, int(choice[0]), rng)
                        env |= parts
                    else:
                        own = bool_ if v.args[1] == "b" else d
                        leaves[name] = Param(name, own)
                        env[leaves[name]] = samples(own, ROWS, rng)
                for pattern in orders(r.left):
                    try:
                        yield built(pattern, leaves, d), env, leaves
                    except (TypeError, OverflowError):  # no constant, or no operator, of this type
                        continue


def between(name: str, low: int, high: int) -> tuple[Value, Value, int]:
    """An index that is known to be between two numbers, the extent in it, and the most that this may be."""
    extent = Extent(name, high - low)
    value = add(extent, const(low)) if low > 0 else sub(extent, const(-low)) if low else extent
    return value, extent, high - low


def _sum(name: str, by: int, rng: np.random.Generator) -> tuple[Value, dict[Value, Any]]:
    """A sum of terms, of which some are multiples of a number."""
    a, b = Param(f"{name}0", index), Param(f"{name}1", index)
    terms = [mul(a, const(by * int(rng.integers(-3, 4)))), mul(b, const(int(rng.integers(-9, 10))))]
    total = add(add(terms[0], terms[1]), const(int(rng.integers(-40, 41))))
    return total, {v: samples(index, ROWS, rng) for v in (a, b)}
