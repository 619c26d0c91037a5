"""Where a generator's decisions come from: a seed, or hypothesis, which shrinks them.

Smaller numbers and earlier options are simpler, so that what hypothesis shrinks to is what a reader wants to see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Decisions, all made of `integer`."""

    def __init__(self, integer: Callable[[int, int], int]) -> None:
        self.integer = integer
        """A number between two, both included."""

    def choice(self, options: Sequence[T]) -> T:
        """One of several, the simplest first."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True so often; False is simpler."""
        return self.integer(0, 99) >= 100 - percent

    def weighted(self, options: Sequence[tuple[T, int]]) -> T:
        """One of several, each as often as its weight says."""
        drawn = self.integer(0, sum(weight for _, weight in options) - 1)
        for option, weight in options:
            drawn -= weight
            if drawn < 0:
                return option
        raise AssertionError("weights add up")

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All of them in some order."""
        rest, made = list(options), []
        while rest:
            made.append(rest.pop(self.integer(0, len(rest) - 1)))
        return made


def seeded(seed: int) -> Choices:
    """The decisions of a seed, the same in every process."""
    return Choices(Random(seed).randint)
