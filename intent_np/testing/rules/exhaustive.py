"""All values of a narrow type: what z3 leaves undecided, and types that no theory is of.

Integers of 8 bits stand for index arithmetic: nothing may leave them on the right that stays inside on the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from ... import numerics
from ...rules.pattern import Expr, Rule, nodes
from ...terms.dtypes import DTYPES, DType, bool_
from ...terms.operators import OPERATORS
from .instances import dtypes, metavariables
from .meaning import same

LIMIT = 1 << 25
"""So many rows are tried of one rule at most."""
NARROW = ("f8e4m3fn", "f8e5m2", "i8", "u8", "bool")


def index_counterexample(r: Rule) -> dict[str, Any] | None:
    """Values of 8 bits at which a rule of index arithmetic is wrong; None when there are none.

    A bound that a guard asks for is tried as tight as it can be, and with slack.  `OverflowError` if there are too
    many values to try.
    """
    asked = {n.args[1].args[0] for g in r.when for n in nodes(g) if n.head == "fact"}
    names = [*metavariables(r.left), *sorted(f"{w} {n}" for n in asked for w in ("lower", "upper"))]
    if 256 ** len(metavariables(r.left)) > LIMIT:
        raise OverflowError(r.name)
    sides = [range(-128, 128) if not n.startswith(("lower", "upper")) else (0, 1, 9) for n in names]
    first = next(iter(metavariables(r.left)))
    outer = [n for n in names if n != first]
    row = np.arange(-128, 128)
    for choice in product(*(s for n, s in zip(names, sides, strict=True) if n != first)):
        env: dict[str, Any] = {**dict(zip(outer, choice, strict=True)), first: row}
        for n in asked:
            env[f"lower {n}"] = env[n] - env[f"lower {n}"]
            env[f"upper {n}"] = env[n] + env[f"upper {n}"]
        if (at := _wrong(r, env)) is not None:
            values = {n: np.broadcast_to(env[n], row.shape)[at] for n in metavariables(r.left)}
            return {n: int(v) for n, v in values.items()}
    return None


def _wrong(r: Rule, env: dict[str, Any]) -> int | None:
    shape = (256,)
    holds = np.ones(shape, np.bool_)
    for g in r.when:
        value, fine = _integers(g, env)
        holds &= np.broadcast_to(value & fine, shape)
    before, inside = _integers(r.left, env)
    after, stays = _integers(r.right, env)
    bad = holds & np.broadcast_to(inside, shape) & ~np.broadcast_to(stays & (before == after), shape)
    return int(np.argmax(bad)) if bad.any() else None


def _integers(e: Expr, env: dict[str, Any]) -> tuple[Any, Any]:
    """The value of a tree over the integers, and where all of it is defined and fits 8 bits."""
    if e.head in ("var", "literal"):
        return env[e.args[0]], np.bool_(True)
    if e.head == "const":
        return np.asarray(e.args[0]), np.bool_(True)
    if e.head == "fact":
        return env[f"{e.args[0]} {e.args[1].args[0]}"], np.bool_(True)
    if e.head == "proved":
        return _integers(e.args[0], env)
    if e.head == "multiple":
        x, c = (np.asarray(env[a.args[0]]) for a in e.args)
        return (c > 0) & (x % np.where(c > 0, c, 1) == 0), np.bool_(True)
    pairs = [_integers(a, env) for a in e.args]
    args, fine = [np.asarray(v) for v, _ in pairs], pairs[0][1]
    for _, f in pairs[1:]:
        fine = fine & f
    if e.head in ("floordiv", "mod", "ceil_div"):
        fine = fine & (args[1] != 0)
        args[1] = np.where(args[1] == 0, 1, args[1])
    value = _INTEGERS[e.head](*args)
    return value, fine & (True if value.dtype == np.bool_ else (value >= -128) & (value <= 127))


_INTEGERS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.abs,
    "floordiv": np.floor_divide, "mod": np.mod, "ceil_div": lambda a, b: -np.floor_divide(-a, b),
    "minimum": np.minimum, "maximum": np.maximum, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "select": np.where,
}  # fmt: skip


def narrow_counterexample(r: Rule, d: DType) -> dict[str, Any] | None:
    """Values of a type of 8 bits at which a rule is wrong, literals included; `OverflowError` if they are too many."""
    variables = metavariables(r.left)
    own = {n: bool_ if v.args[1] == "b" else d for n, v in variables.items()}
    if np.prod([2.0 if t is bool_ else 256.0 for t in own.values()]) > LIMIT or r.when:
        raise OverflowError(r.name)
    every = {t: _every(t) for t in set(own.values())}
    for env in _blocks(own, every):
        before, poison = _evaluated(r.left, env, d)
        after, worse = _evaluated(r.right, env, d)
        result = bool_ if before.dtype == np.bool_ else d
        bad = ~poison & ~(same(before, after, result) & ~worse)
        if bad.any():
            shape = np.broadcast_shapes(bad.shape, *(v.shape for v in env.values()))
            at = np.unravel_index(int(np.argmax(np.broadcast_to(bad, shape))), shape)
            return {n: np.broadcast_to(v, shape)[at].item() for n, v in env.items()}
    return None


def _blocks(own: dict[str, DType], every: dict[DType, Any]) -> Iterator[dict[str, Any]]:
    """All values of all metavariables: the last two as rows and columns, the others one by one."""
    names = list(own)
    inner, outer = names[-2:], names[:-2]
    grid = {n: every[own[n]].reshape((-1, 1) if i == 0 and len(inner) == 2 else (1, -1)) for i, n in enumerate(inner)}
    for choice in product(*(every[own[n]] for n in outer)):
        yield {**{n: np.asarray(c).reshape(1, 1) for n, c in zip(outer, choice, strict=True)}, **grid}


def _every(d: DType) -> Any:
    if d is bool_:
        return np.array([False, True])
    return np.arange(256, dtype=np.uint8).view(numerics.storage(d))


def _evaluated(e: Expr, env: dict[str, Any], d: DType) -> tuple[Any, Any]:
    """The value of a tree at one dtype, and where it is poison."""
    if e.head in ("var", "literal"):
        return env[e.args[0]], np.bool_(False)
    if e.head == "const":
        v = e.args[0]
        return np.asarray(v, np.bool_ if isinstance(v, bool) else numerics.storage(d)), np.bool_(False)
    pairs = [_evaluated(a, env, d) for a in e.args]
    values, poison = [v for v, _ in pairs], [p for _, p in pairs]
    if e.head in ("and", "or"):
        fold = np.logical_and if e.head == "and" else np.logical_or
        return fold.reduce(np.broadcast_arrays(*values)), np.logical_or.reduce(np.broadcast_arrays(*poison))
    op = OPERATORS[e.head]
    like = bool_ if values[-1].dtype == np.bool_ else d
    bad = np.asarray(numerics.invalid(op, *values, dtype=like))
    if e.head == "select":
        bad = poison[0] | np.where(values[0], poison[1], poison[2])
    else:
        for p in poison:
            bad = bad | p
    return numerics.apply(op, *values, dtype=like), bad


def narrow_types(r: Rule) -> list[DType]:
    """The types of 8 bits, or fewer, that the rule may fire at."""
    return [DTYPES[n] for n in NARROW if DTYPES[n] in dtypes(r)]


__all__ = ["index_counterexample", "narrow_counterexample", "narrow_types"]
