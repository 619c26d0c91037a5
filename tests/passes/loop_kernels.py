"""Kernels with ordered loops, each with arguments: what the tests of every level and of every backend run."""

from . import loop_effects, loop_values

CASES = {**loop_values.CASES, **loop_effects.CASES}
"""By name: a kernel, and its launch arguments in order."""
