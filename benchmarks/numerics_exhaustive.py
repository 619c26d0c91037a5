"""Every f32 bit pattern through every f32 function of one operand: how many results are how many steps from the
correctly rounded one.

What is right is the function in f64 on the same device, rounded; `benchmarks.numerics` judges that one by mpmath.  Off
by a unit of f64 it is on the wrong side of a tie for one argument in half a billion, which can make a step of none or
one more or less, but no bound of 2 look kept that is not, except there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from intent_np.numerics import bound_holds
from intent_np.numerics.ulps import BOUNDS
from intent_np.terms.dtypes import f32
from intent_np.terms.operators import OPERATORS

CHUNK = 1 << 26
SMALLEST, SUBNORMAL = 2.0**-126, 2.0**-149
SHOWN = 4  # the steps that are counted apart; more are counted together

Run = Callable[[Any], Any]
"""A function on one array of the device."""


@dataclass
class Count:
    """How many lanes are 0, 1, 2, ... steps off; the most steps and the largest error in units of the exact value, and
    an argument of each."""

    lanes: list[int] = field(default_factory=lambda: [0] * (SHOWN + 1))
    steps: float = 0.0
    steps_at: float = 0.0
    error: float = 0.0
    error_at: float = 0.0


def every_pattern(xp: Any, name: str, function: Run, exact: Run, stop: int = 1 << 32, chunk: int = CHUNK) -> Count:
    """The count for the operator `name`: `function` on f32, `exact` on f64; `xp` is the arrays' module."""
    count = Count()
    for start in range(0, stop, chunk):
        codes = xp.arange(min(chunk, stop - start), dtype=np.uint32) + np.uint32(start)
        x = codes.view(np.float32)
        _add(xp, count, name, x, function(x), exact(widened(xp, x)))
    return count


def _add(xp: Any, count: Count, name: str, x: Any, got: Any, exact: Any) -> None:
    off, error = steps(xp, got, exact), errors(xp, got, exact)
    if name in BOUNDS and BOUNDS[name].holds is not None:  # known on the host; lanes within a step need no excuse
        doubtful = xp.nonzero((off > 1) | (error > 1))[0]
        lanes = x[doubtful] if xp is np else xp.asnumpy(x[doubtful])
        ignored = doubtful[xp.asarray(~bound_holds(OPERATORS[name], lanes, dtype=f32))]
        off[ignored], error[ignored] = 0.0, 0.0
    for k in range(SHOWN):
        count.lanes[k] += int((off == k).sum())
    count.lanes[SHOWN] += int((off >= SHOWN).sum())
    for what, values in (("steps", off), ("error", error)):
        worst = int(values.argmax())
        if float(values[worst]) > getattr(count, what):
            setattr(count, what, float(values[worst]))
            setattr(count, f"{what}_at", float(x[worst]))


def steps(xp: Any, got: Any, exact: Any) -> Any:
    """Representable values between `got` (f32) and `exact` (f64) rounded to f32: inf where one is NaN, or where the
    exact value is a zero of the other sign."""
    right, small = exact.astype(np.float32), xp.abs(exact) < SMALLEST
    # the number of a subnormal is how many of the smallest it is
    number = xp.where(small, xp.rint(xp.where(small, exact, 0.0) / SUBNORMAL).astype(np.int64), _ordinal(xp, right))
    off = xp.abs(_ordinal(xp, got) - number).astype(np.float64)
    off = xp.where((exact == 0) & (_ordinal(xp, got) == 0) & (xp.signbit(exact) != xp.signbit(got)), np.inf, off)
    one, other = xp.isnan(got), xp.isnan(right)
    return xp.where(one & other, 0.0, xp.where(one | other, np.inf, off))


def widened(xp: Any, x: Any) -> Any:
    """f32 as f64.  CuPy's own kernels flush subnormals, so these are taken from their bits."""
    number = _ordinal(xp, x)
    subnormal = (xp.abs(number) < 1 << 23) & (number != 0)
    return xp.where(subnormal, number.astype(np.float64) * SUBNORMAL, x.astype(np.float64))


def _ordinal(xp: Any, x: Any) -> Any:
    raw = x.view(np.int32).astype(np.int64)
    return xp.where(raw < 0, -(raw & 0x7FFFFFFF), raw)


def errors(xp: Any, got: Any, exact: Any) -> Any:
    """The distance from the exact value in units of its last place in f32; 0 where one of them is not finite."""
    _, exponent = xp.frexp(exact)
    unit = xp.ldexp(xp.ones_like(exact), xp.maximum(exponent - 24, -149))
    error = xp.abs(widened(xp, got) - exact) / unit
    return xp.where(xp.isfinite(error), error, 0.0)


def table(counts: dict[str, Count], bounds: dict[str, float]) -> str:
    """A row a function; `> n` marks a bound that is exceeded."""
    head = ["function", *(str(k) for k in range(SHOWN)), "more", "most steps", "at", "largest error", "at"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, c in counts.items():
        mark = f" > {bounds[name]:g}" if c.steps > bounds[name] else ""
        cells = [name, *map(str, c.lanes), f"{c.steps:g}{mark}", f"{c.steps_at!r}", f"{c.error:.3f}", f"{c.error_at!r}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(["every f32 bit pattern: lanes by steps to the correctly rounded value", "", *lines])
