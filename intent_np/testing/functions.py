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


def _quarter_turns(rng: np.random.Generator, count: int) -> Array:
    """The numbers nearest to multiples of pi/2, small and huge, and their neighbours: there sin and cos cancel most."""
    turns = [*range(1, count), *(int(2.0**e) for e in rng.uniform(4, 900, count))]
    with mp.workprec(2400):
        near = np.array([float(k * mp.pi / 2) for k in turns])
    return np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, 0)])


CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    # intervals where an implementation changes its formula, cancels, or comes to an end of the range
    "exp": ((-745, -700), (80, 89), (-104, -80)),
    "exp2": ((-1074, -1000), (-150, -120)),
    "log": ((0.5, 2), (0, 1e-310), (0, 1e-38)),
    "log2": ((0.5, 2), (0, 1e-310), (0, 1e-38)),
    "log1p": ((-0.6, 1.5), (-1, -0.999), (-1, -1 + 1e-9)),
    "asin": ((0.45, 0.6), (0.999, 1), (1 - 1e-9, 1)),
    "tanh": ((-1, 1),),
    "erf": ((-1.1, 1.1),),
    "erfc": ((0, 27.2), (8, 10.1)),
    "sigmoid": ((-744, -700), (-104, -80)),
    "rsqrt": ((1, 4), (0, 1e-310), (0, 1e-38)),
    "i0": ((3, 9), (80, 92), (690, 713)),
    "lgamma": ((0.5, 3.1), (2 - 1e-6, 2 + 1e-6), (-2.25, 0), (-60, -11), (-3.001, -3)),
}


def _corners(name: str, rng: np.random.Generator, count: int) -> Array:
    if name in ("sin", "cos"):
        return _quarter_turns(rng, count)
    return np.concatenate([np.empty(0), *(rng.uniform(low, high, count) for low, high in CORNERS.get(name, ()))])


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
        _corners(name, rng, count),
    ])  # fmt: skip
    x = narrow(x, dtype).astype(np.float64)
    low, high = DOMAIN.get(name, (-math.inf, math.inf))
    x = np.unique(x[np.isfinite(x) & (x != 0) & (x > low) & (x < high)])
    return x[(x > 0) | (x % 1 != 0)] if name == "lgamma" else x  # not at its poles


def power_samples(dtype: DType, count: int, seed: int = 5) -> tuple[Array, Array]:
    """Bases and exponents of `pow` whose result fits `dtype` (f32 or wider), as f64 that `dtype` holds: moderate ones,
    bases close to 1 under large exponents, results near both ends of the range, and negative bases."""
    rng = np.random.default_rng(seed)
    top = 127.0 if dtype.bits <= 32 else 1023.0
    base = np.concatenate([
        2.0 ** rng.uniform(-20, 20, count),
        1 + rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-20, -3, count),
        2.0 ** rng.uniform(-3, 3, count),
    ])  # fmt: skip
    base = narrow(base, dtype).astype(np.float64)
    # the binary logarithm of the result, down to the subnormal ones
    wanted = np.concatenate([rng.uniform(-top, top, 2 * count), -top + rng.uniform(-20, 2, count)])
    exponent = narrow(wanted / np.log2(base), dtype).astype(np.float64)
    whole = np.rint(exponent)
    return np.concatenate([base, -base[:count]]), np.concatenate([exponent, whole[:count]])


def rounded(name: str, dtype: DType, *operands: Iterable[float]) -> Array:
    """The values of `name` at these arguments, from 160 bits, correctly rounded to `dtype`."""
    with mp.workprec(160):
        exact = [float(EXACT[name](*map(mp.mpf, lane))) for lane in zip(*operands, strict=True)]
    return narrow(np.array(exact), dtype)
