"""Running error analysis: a formula's value together with how far a rounding machine may be from it.

An oracle is written once, over `Approx` numbers, as the kernel's mathematics.  Each operation computes the value in
f64 and carries an absolute error bound, by the language's own rules: every operation rounds to its format, library
functions have their stated ULP, sums run in any order, a product may be fused into an addition.  So every bound is a
condition number, computed from the data: cancellation widens it and small integers, whose sums are exact, make it 0.

f64 itself has nothing wider to be computed in: its bounds count the oracle's own rounding beside the machine's.
"""

from ..formats import FORMATS
from .elementwise import concatenated, erf, exp, larger, library, log, rsqrt, select, sigmoid, sqrt, tanh
from .number import Approx, Number, exact, finite, is_integral, times
from .sums import accumulated, in_memory, matmul, matmul_add, maximum, mean, online, products, running_total, total

__all__ = [
    "FORMATS",
    "Approx",
    "Number",
    "accumulated",
    "concatenated",
    "erf",
    "exact",
    "exp",
    "finite",
    "in_memory",
    "is_integral",
    "larger",
    "library",
    "log",
    "matmul",
    "matmul_add",
    "maximum",
    "mean",
    "online",
    "products",
    "rsqrt",
    "running_total",
    "select",
    "sigmoid",
    "sqrt",
    "tanh",
    "times",
    "total",
]
