"""Trying a rule: build its left side in all ways that its metavariables allow, rewrite, and compare the meanings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from intent_np.rules.matcher import compile_rules
from intent_np.rules.pattern import Expr, Rule
from intent_np.terms.dtypes import DTYPES, DType, bf16, bool_, f16, f32, f64, i8, i32, i64, index, u8, u32, u64
from intent_np.terms.index import Const, Extent, Param, Value, add, apply, const, sub
from intent_np.terms.operators import OPERATORS

from .meaning import evaluate, same, samples

DTYPES_OF: dict[str, tuple[DType, ...]] = {
    "i": (i8, u8, i32, u32, i64, u64, index),
    "x": (index,),
    "f": (f16, bf16, f32, f64, DTYPES["f8e5m2"], DTYPES["f8e4m3fn"]),
    "b": (bool_,),
    "any": (bool_, i8, u8, i32, index, f16, f32, f64),
}
LITERALS = (0, 1, 2, 3, 4, 7, 8, 12, 100, 127, -1, -2, -3, -8, -128)
BOUNDS = ((0, 0), (0, 6), (0, 7), (0, 8), (3, 12), (-4, 3), (-9, -1), (100, 127))
"""Least and greatest value of a bounded operand; the facts about it are these, its values need not reach them."""
ROWS = 400


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


class Refuted(AssertionError):
    """A rule that changes a value."""


def metavariables(e: Expr) -> dict[str, Expr]:
    """The metavariables of a pattern by name, in order."""
    if e.head in ("var", "literal"):
        return {e.args[0]: e}
    found: dict[str, Expr] = {}
    for a in e.args:
        if isinstance(a, Expr):
            found |= metavariables(a)
    return found


def bounded(r: Rule) -> set[str]:
    """The metavariables that guards know bounds of."""
    found: set[str] = set()
    stack = list(r.when)
    while stack:
        e = stack.pop()
        if e.head == "fact":
            found.add(e.args[1].args[0])
        stack.extend(a for a in e.args if isinstance(a, Expr))
    return found


def built(e: Expr, leaves: dict[str, Value], like: DType) -> Value:
    """The term that a pattern stands for."""
    if e.head in ("var", "literal"):
        return leaves[e.args[0]]
    if e.head == "const":
        v = e.args[0]
        return Const(v, bool_) if isinstance(v, bool) else const(v, like)
    return apply(e.head, *(built(a, leaves, like) for a in e.args))


def instances(r: Rule, rng: np.random.Generator) -> Iterator[tuple[Value, dict[Value, Any]]]:
    """Left sides with values for their leaves.  All operands of one kind have one dtype, as far as it is free."""
    variables = metavariables(r.left)
    kinds = {v.args[1] for v in variables.values() if v.args[1] != "b"} or {"b"}
    common = set.intersection(*({*DTYPES_OF[k]} for k in kinds))
    facts = bounded(r)
    literals = [n for n, v in variables.items() if v.head == "literal"]
    ranges = [n for n in variables if n in facts]
    for d in sorted(common, key=lambda d: d.name):
        allowed = [v for v in LITERALS if d.is_integer and d.range[0] <= v <= d.range[1]] or [0]
        for choice in product(allowed if literals else [0], repeat=len(literals) or 1):
            for bounds in product(BOUNDS if ranges else [(0, 0)], repeat=len(ranges) or 1):
                leaves: dict[str, Value] = {}
                env: dict[Value, Any] = {}
                for name, v in variables.items():
                    if name in literals:
                        leaves[name] = const(choice[literals.index(name)], d)
                    elif name in ranges:
                        low, high = bounds[ranges.index(name)]
                        extent = Extent(name, high - low)
                        leaves[name] = (
                            add(extent, const(low)) if low > 0 else sub(extent, const(-low)) if low else extent
                        )
                        env[extent] = rng.integers(0, high - low + 1, ROWS)
                    else:
                        own = bool_ if v.args[1] == "b" else d
                        leaves[name] = Param(name, own)
                        env[leaves[name]] = samples(own, ROWS, rng)
                for pattern in orders(r.left):
                    try:
                        yield built(pattern, leaves, d), env
                    except (TypeError, OverflowError):  # no constant, or no operator, of this type
                        continue


def orders(e: Expr) -> list[Expr]:
    """The left side, and with the operands of a commutative root exchanged."""
    swapped = OPERATORS[e.head].commutative and len(e.args) == 2
    return [e, Expr(e.head, e.args[::-1])] if swapped else [e]


def examine(r: Rule, seed: int = 0) -> int:
    """How many instances the rule fired on; `Refuted` with the first that changed its value."""
    rng = np.random.default_rng(seed)
    (step,) = compile_rules([r]).values()
    fired = 0
    for left, env in instances(r, rng):
        found = step(left, lambda t: t)
        if found is None:
            continue
        fired += 1
        right = found[0]
        if right.type is not left.type:
            raise Refuted(f"{r.name}: {left} of {left.type} becomes {right} of {right.type}")
        (before, poison), (after, worse) = evaluate(left, env), evaluate(right, env)
        d: Any = left.type
        wrong = np.broadcast_to(~(same(before, after, d) & ~worse) & ~poison, (ROWS,))
        if wrong.any():
            i = int(np.argmax(wrong))
            row = {str(k): v[i] for k, v in env.items()}
            pair = [np.broadcast_to(x, (ROWS,))[i] for x in (before, after)]
            raise Refuted(f"{r.name}: {left} is {pair[0]}, {right} is {pair[1]}, at {row}")
    return fired
