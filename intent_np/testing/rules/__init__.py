"""Checking rules: proofs by z3, all values of narrow types, samples of wide ones, and programs for rules over terms."""

from importlib.util import find_spec

from ...errors import error


def needed() -> None:
    """E805 where z3 is not installed."""
    if find_spec("z3") is None:
        raise error("E805", package="z3-solver")
