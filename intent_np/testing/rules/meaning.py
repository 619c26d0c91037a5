"""A small evaluator of scalar terms, and values that find out what a rule forgot."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ... import numerics
from ...terms.core import walk
from ...terms.dtypes import DType, bool_, index
from ...terms.index import Apply, Cast, Const

Array = np.ndarray[Any, Any]


def evaluate(t: Any, env: Mapping[Any, Array]) -> tuple[Array, Array]:
    """The value of `t` for each row of `env` (arrays of leaves), and where it is poison."""
    done: dict[Any, tuple[Array, Array]] = {}
    no = np.zeros((), np.bool_)
    for u in walk(t):
        if u in env:
            done[u] = env[u], no
        elif isinstance(u, Const):
            done[u] = np.asarray(u.value, numerics.storage(u.dtype)), no
        elif isinstance(u, Apply):
            d: Any = u.args[-1].type
            values = [done[a][0] for a in u.args]
            poison = np.logical_or.reduce(
                np.broadcast_arrays(numerics.invalid(u.op, *values, dtype=d), *(done[a][1] for a in u.args))
            )
            if u.op.name == "select":  # the side that is not taken may be anything
                c, (_, x), (_, y) = (done[a] for a in u.args)
                poison = c[1] | np.where(c[0], x, y)
            found = values[0] if len(values) == 1 else None
            if u.op.arity < 0:
                fold = np.logical_and if u.op.name == "and" else np.logical_or
                found = fold.reduce(np.broadcast_arrays(*values))
            else:
                found = numerics.apply(u.op, *values, dtype=d)
            done[u] = found, poison
        elif isinstance(u, Cast):
            v, poison = done[u.value]
            source: Any = u.value.type
            done[u] = converted(v, u.dtype, source, u.mode), poison | lost(v, u.dtype, source, u.mode)
    return done[t]


def converted(v: Array, to: DType, source: DType, mode: str) -> Array:
    """A conversion of values."""
    kinds = {"wrap": numerics.cast, "saturate": numerics.saturate_cast, "bits": numerics.bitcast}
    return kinds[mode](v, to, source)


def lost(v: Array, to: DType, source: DType, mode: str) -> Array:
    """Where a conversion is an invalid operation."""
    return numerics.invalid_cast(v, to, source) if mode == "wrap" else np.zeros((), np.bool_)


def same(a: Array, b: Array, d: DType) -> Array:
    """Equality bit for bit, where all NaNs are one."""
    a, b = np.broadcast_arrays(a, b)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if not d.is_float:
        return np.asarray(a == b)
    with np.errstate(all="ignore"):
        nan = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    return np.asarray(nan | (a.view(numerics.bits(d)) == b.view(numerics.bits(d))))


@cache
def specials(d: DType) -> Array:
    """The values at which types begin, end and differ."""
    if d is bool_:
        return np.array([False, True])
    if d.is_float:
        form = numerics.FORMATS[d.name]
        tiny, one = 2.0**form.least, 2.0 ** (1 - form.precision)
        values = [
            0.0,
            tiny,
            3 * tiny,
            2.0 ** (form.least + form.precision - 1),
            0.1,
            0.5,
            1.0,
            1 + one,
            1.5,
            3.0,
            7.0,
            form.largest,
        ]
        values += [form.largest / 2, 2.0 ** (form.least // 2), *([np.inf] if form.infinite else []), np.nan]
        return np.array([*values, *(-v for v in values)]).astype(numerics.storage(d))
    low, high = (-(2**20), 2**20) if d is index else d.range
    near = [0, 1, 2, 3, 5, 7, 8, 16, 31, 100, high // 2, high - 1, high, low, low + 1, low // 2]
    values = sorted({v for n in near for v in (n, -n) if low <= v <= high})
    return np.array(values, numerics.storage(d))


def samples(d: DType, count: int, rng: np.random.Generator) -> Array:
    """Specials, small integers and random bits.  Index values are small: index arithmetic does not wrap."""
    some = rng.choice(specials(d), count)
    if d is bool_:
        return some
    small = rng.integers(0 if d.kind == "uint" else -9, 10, count).astype(numerics.storage(d))
    if d is index:
        wide = rng.integers(-(2**20), 2**20, count)
    else:
        wide = rng.integers(0, 256, (count, d.bits // 8), np.uint8).view(numerics.storage(d))[:, 0]
    return np.where(rng.random(count) < 0.4, some, np.where(rng.random(count) < 0.5, small, wide))
