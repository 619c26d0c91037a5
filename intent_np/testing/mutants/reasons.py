"""Why some place has no mutant, and why some mutant survives: a promise that somebody has looked."""

from __future__ import annotations

from typing import Final

NO_MUTANT: Final[dict[str, str]] = {
    "choose_launch": "warps and stages: whatever they are, results are the same",
}
"""By pass, or by rule and guard: nothing that is wrong there changes a result."""

SURVIVORS: Final[dict[str, str]] = {}
"""By the beginning of a mutant's name."""


def reason(name: str) -> str:
    """Why a mutant of this name survives; empty where nobody says so."""
    return next((why for begin, why in SURVIVORS.items() if name.startswith(begin)), "")
