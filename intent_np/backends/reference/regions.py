"""The value of region operations: an axis in slices, their summaries combined in order."""

from __future__ import annotations

from .structured import Structured


class Regions(Structured):
    """Evaluates region operations."""
