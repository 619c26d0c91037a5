"""The library functions to as many bits as are asked for, by mpmath: what implementations of them are measured by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath as mp
import numpy as np

from ..numerics import Array, narrow
from ..terms.dtypes import DType

EXACT: dict[str, Callable[..., Any]] = {
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "log": mp.log,
    "log1p": mp.log1p,
    "log2": lambda x: mp.log(x) / mp.ln2,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sin": mp.sin,
    "cos": mp.cos,
    "asin": mp.asin,
    "tanh": mp.tanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "i0": lambda x: mp.besseli(0, x),
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 200 else mp.loggamma(x).real,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "pow": mp.power,
}

DOMAIN: dict[str, tuple[float, float]] = {
    # where the function is real, its result fits f64, and evaluating it takes no more than milliseconds
    "exp": (-745, 709.7),
    "exp2": (-1074, 1023.9),
    "log": (0, math.inf),
    "log1p": (-1, math.inf),
    "log2": (0, math.inf),
    "rsqrt": (0, math.inf),
    "asin": (-1, 1),
    "tanh": (-25, 25),
    "erf": (-6.5, 6.5),
    "erfc": (-6.5, 27.2),
    "i0": (-713, 713),
    "lgamma": (-150, 1e300),
    "sigmoid": (-744, math.inf),
}


def samples(name: str, dtype: DType, patterns: Array, count: int, seed: int = 11) -> Array:
    """Arguments of `name` inside its domain, as f64 that `dtype` holds: `count` of each of several kinds.

    patterns:  arbitrary f64 values to take along, those of random bits for instance
    """
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], count)
    x = np.concatenate([
        patterns,
        signs * 2.0 ** rng.uniform(-40, 10, count),
        rng.uniform(-3, 3, count),
        rng.uniform(-30, 30, count),
        1 + signs * 2.0 ** rng.uniform(-30, -1, count),
    ])  # fmt: skip
    x = narrow(x, dtype).astype(np.float64)
    low, high = DOMAIN.get(name, (-math.inf, math.inf))
    x = np.unique(x[np.isfinite(x) & (x != 0) & (x > low) & (x < high)])
    return x[(x > 0) | (x % 1 != 0)] if name == "lgamma" else x  # not at its poles


def rounded(name: str, dtype: DType, *operands: Iterable[float]) -> Array:
    """The values of `name` at these arguments, from 160 bits, correctly rounded to `dtype`."""
    with mp.workprec(160):
        exact = [float(EXACT[name](*map(mp.mpf, lane))) for lane in zip(*operands, strict=True)]
    return narrow(np.array(exact), dtype)
