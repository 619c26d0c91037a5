"""How `intent_np/numerics/coefficients.py` is made: `python tests/numerics/fit_special.py > that file`.

Each table is the Chebyshev interpolant, in 60 digits, of a smooth factor of a special function over `t` in [-1, 1],
written as a polynomial in `t` from the highest power down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

Smooth = Callable[[Any], Any]

HEADER = '''"""Polynomials of the special functions, highest power first; made by `tests/numerics/fit_special.py`."""

from __future__ import annotations

'''


def polynomial(f: Smooth, terms: int) -> list[float]:
    """Coefficients in `t`, highest first, of the interpolant of `f` at the Chebyshev nodes."""
    angles = [mp.pi * (2 * k + 1) / (2 * terms) for k in range(terms)]
    values = [f(mp.cos(a)) for a in angles]
    weights = [
        2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True)) / terms for j in range(terms)
    ]
    weights[0] /= 2
    result = [mp.mpf(0)] * terms
    previous, current = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]  # T0 and T1, lowest power first
    for j, weight in enumerate(weights):
        if j > 1:
            after = [mp.mpf(0)] + [2 * c for c in current]
            for i, c in enumerate(previous):
                after[i] -= c
            previous, current = current, after
        for i, c in enumerate([mp.mpf(1)] if j == 0 else current):
            result[i] += weight * c
    return [float(c) for c in reversed(result)]


def between(low: Any, high: Any, t: Any) -> Any:
    """The point of [low, high] at `t` in [-1, 1]."""
    return (mp.mpf(low) + high) / 2 + t * (mp.mpf(high) - low) / 2


def erf_small(t: Any) -> Any:
    """erf(x) / x over x^2 in [0, 1]."""
    square = between(0, 1, t)
    return 2 / mp.sqrt(mp.pi) if square == 0 else mp.erf(mp.sqrt(square)) / mp.sqrt(square)


def erfc_scaled(t: Any) -> Any:
    """(1 + 2x) exp(x^2) erfc(x) over u = (x-4)/(x+4) for x in [1/2, 28]."""
    u = between(mp.mpf(-7) / 9, mp.mpf(3) / 4, t)
    x = 4 * (1 + u) / (1 - u)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def i0_middle(t: Any) -> Any:
    """exp(-x) i0(x) over x in [4, 8]."""
    x = between(4, 8, t)
    return mp.besseli(0, x) * mp.exp(-x)


def i0_large(t: Any) -> Any:
    """exp(-x) sqrt(x) i0(x) over 1/x in [0, 1/8]."""
    x = 1 / between(0, mp.mpf(1) / 8, t)
    return mp.besseli(0, x) * mp.exp(-x) * mp.sqrt(x)


def lgamma_one(t: Any) -> Any:
    """lgamma(x) / (x-1)(x-2) over x in [5/8, 13/8]."""
    x = between(mp.mpf(5) / 8, mp.mpf(13) / 8, t)
    return mp.euler if x == 1 else mp.loggamma(x) / ((x - 1) * (x - 2))


def lgamma_two(t: Any) -> Any:
    """lgamma(x) / (x-1)(x-2) over x in [13/8, 3]."""
    x = between(mp.mpf(13) / 8, 3, t)
    return 1 - mp.euler if x == 2 else mp.loggamma(x) / ((x - 1) * (x - 2))


def lgamma_stirling(t: Any) -> Any:
    """x (lgamma(x) - Stirling's leading terms) over 1/x^2 in [0, 1/64]."""
    x = 1 / mp.sqrt(between(0, mp.mpf(1) / 64, t))
    return x * (mp.loggamma(x) - ((x - mp.mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))


TABLES: dict[str, tuple[Smooth, int]] = {
    "ERF_SMALL": (erf_small, 12),
    "ERFC_SCALED": (erfc_scaled, 22),
    "I0_MIDDLE": (i0_middle, 22),
    "I0_LARGE": (i0_large, 24),
    "LGAMMA_ONE": (lgamma_one, 24),
    "LGAMMA_TWO": (lgamma_two, 20),
    "LGAMMA_STIRLING": (lgamma_stirling, 8),
}


def tables() -> dict[str, list[float]]:
    """Every table by name."""
    with mp.workdps(60):
        return {name: polynomial(f, terms) for name, (f, terms) in TABLES.items()}


def source() -> str:
    """The text of `coefficients.py`."""
    text = HEADER
    for name, values in tables().items():
        about = (TABLES[name][0].__doc__ or "").strip()
        rows = [", ".join(map(repr, values[i : i + 4])) for i in range(0, len(values), 4)]
        text += f"# {about}\n{name} = (\n" + "".join(f"    {row},\n" for row in rows) + ")  # fmt: skip\n\n"
    return text.rstrip("\n") + "\n"


if __name__ == "__main__":
    print(source(), end="")
