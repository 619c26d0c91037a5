"""The program machine: executes grouped, blocked and gpu programs, all instances at once.

`run` takes a program of any level that has one, `normal` included, and writes its result into the arrays given.
"""

from ..arrays.counters import Counters
from .machine import run

__all__ = ["Counters", "run"]
