"""Distributions of input values: what hides a bug in one of them shows it in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .formats import FORMATS, numpy_dtype

KINDS: Final = {
    "normal": "standard normal; integers over their whole range",
    "unit": "uniform in [0, 1)",
    "integers": "whole numbers in [-8, 8]: sums of them are exact, so reductions compare for equality",
    "negative": "below -1/2: a padding of 0 wins each maximum",
    "special": "normal with zeros of both signs, subnormals and large finite numbers",
    "extreme": "special with the largest numbers, infinities and NaN",
}


def draw(kind: str, shape: Sequence[int], dtype: str, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """An array of `shape` with element type `dtype` whose elements are distributed as `KINDS` says."""
    target = numpy_dtype(dtype)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype not in FORMATS:
        limits = np.iinfo(target)
        low, high = (limits.min, limits.max) if kind != "integers" else (max(limits.min, -8), 8)
        return rng.integers(low, high, shape, target, endpoint=True)
    match kind:
        case "normal":
            drawn = rng.standard_normal(shape)
        case "unit":
            drawn = rng.random(shape)
        case "integers":
            drawn = rng.integers(-8, 8, shape, endpoint=True).astype("f8")
        case "negative":
            drawn = -0.5 - np.abs(rng.standard_normal(shape))
        case "special" | "extreme":
            drawn = _mixed(kind, shape, dtype, rng)
        case _:
            raise ValueError(f"no values are called {kind!r}; there are {', '.join(KINDS)}")
    return FORMATS[dtype].round(drawn).astype(target)


def _mixed(kind: str, shape: Sequence[int], dtype: str, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    f = FORMATS[dtype]
    tiny, large = f.smallest, min(30000.0, f.largest / 2)
    salt = [0.0, -0.0, 1.0, -1.0, tiny, -tiny, 2.0**f.lowest, large, -large]
    if kind == "extreme":
        salt += [f.largest, -f.largest, np.nan, *([np.inf, -np.inf] if f.infinities else [])]
    return np.where(rng.random(shape) < 0.3, rng.choice(salt, shape), rng.standard_normal(shape))
