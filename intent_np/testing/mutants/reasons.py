"""Mutants that change no result, and why: a promise that somebody has looked, in the place of a proof."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, str]] = {}
"""By the beginning of a mutant's name."""


def reason(name: str) -> str:
    """Why a mutant of this name is equivalent; empty where nobody says so."""
    return next((why for begin, why in REASONS.items() if name.startswith(begin)), "")
