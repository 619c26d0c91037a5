"""The cheapest choice of alternatives, where what several share is paid once.

Each class with a choice has options, and an option forces items and leads to further choices; a pick gives each choice
one of its options.  The search is exact where it may look long enough: it branches over what is met and not yet
decided, and leaves a branch that costs more than the best pick even with nothing but what all its options force.  Else
groups of picks are moved from a few starts while that helps (one way to have a value, at all places alike), then single
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Pick = dict[int, int]

Cost = Callable[[int], float]
"""Of a set of items; an item never makes a set cheaper."""

Moves = Sequence[Sequence[tuple[int, int]]]
"""Choices with options that are tried together."""

BETTER = 1 - 1e-9
"""A pick is taken where it is better than this share, so that ties stay as they are."""


class Option(NamedTuple):
    """What an option forces: items as a set of bits, and further choices."""

    items: int
    choices: tuple[int, ...]


class Found(NamedTuple):
    """A pick with its cost; `exact` where none is cheaper."""

    cost: float
    pick: Pick
    exact: bool


class Choices:
    """The choices that are met from the top; `options` has those that an option leads to behind the choice."""

    def __init__(self, top: Option, options: Mapping[int, Sequence[Option]]) -> None:
        self.top, self.options = top, options

    def reached(self, pick: Pick) -> tuple[int, list[int]]:
        """The items that a pick pays for, and the choices that it meets."""
        items, stack, met = self.top.items, list(self.top.choices), dict.fromkeys(self.top.choices)
        while stack:
            c = stack.pop()
            o = self.options[c][pick[c]]
            items |= o.items
            new = [k for k in o.choices if k not in met]
            met.update(dict.fromkeys(new))
            stack.extend(new)
        return items, list(met)

    def every(self, limit: int) -> Iterable[Pick]:
        """All picks that differ in what they reach, up to a limit."""
        stack: list[tuple[Pick, list[int]]] = [({}, list(self.top.choices))]
        first = dict.fromkeys(self.options, 0)
        while stack and limit:
            pick, waiting = stack.pop()
            waiting = [c for c in waiting if c not in pick]
            if not waiting:
                limit -= 1
                yield {**first, **pick}
                continue
            c, *rest = waiting
            stack += [({**pick, c: i}, [*rest, *o.choices]) for i, o in enumerate(self.options[c])]

    def best(
        self,
        cost: Cost,
        open_: Mapping[int, Sequence[int]],
        moves: Moves,
        starts: Sequence[Pick],
        limit: int,
        exact: int,
    ) -> Found:
        """The cheapest pick of options that are `open_`, which is none of the `limit` sets that it prices at most; of
        these `exact` are for the exact search."""
        search = _Exact(self, cost, open_, min(limit, exact))
        search.branch({}, self.top.items, self.top.choices)
        if search.left >= 0 and search.found is not None:
            return Found(search.cost, {**starts[0], **search.found}, True)
        left = max(0, limit - exact)
        found: Found | None = None
        for start in [*starts, {**starts[0], **(search.found or {})}]:
            moved, left = self._moved(start, cost, moves, left)
            if found is None or moved.cost < found.cost * BETTER:
                found = moved
        assert found is not None
        return found

    def _moved(self, pick: Pick, cost: Cost, moves: Moves, left: int) -> tuple[Found, int]:
        items, met = self.reached(pick)
        least, improved = cost(items), True
        while improved:
            improved = False
            for move in moves:
                if left <= 0:
                    return Found(least, pick, False), 0
                if not any(c in met and pick[c] != i for c, i in move):
                    continue
                tried = {**pick, **dict(move)}
                reached = self.reached(tried)
                new, left = cost(reached[0]), left - 1
                if new < least * BETTER:
                    least, pick, improved, met = new, tried, True, reached[1]
        return Found(least, pick, False), left


class _Exact:
    """Branch and bound."""

    def __init__(self, choices: Choices, cost: Cost, open_: Mapping[int, Sequence[int]], left: int) -> None:
        self.options, self.open, self.price, self.left = choices.options, open_, cost, left
        self.forced: dict[int, int] = {}
        self.cost = float("inf")
        self.found: Pick | None = None

    def always(self, c: int) -> int:
        """The items that all options of a choice force."""
        if c not in self.forced:
            made = -1
            for i in self.open[c]:
                o = self.options[c][i]
                items = o.items
                for k in o.choices:
                    items |= self.always(k)
                made &= items
            self.forced[c] = made
        return self.forced[c]

    def branch(self, pick: Pick, items: int, waiting: Sequence[int]) -> None:
        waiting = [c for c in dict.fromkeys(waiting) if c not in pick]
        if not waiting:
            if (cost := self._priced(items)) < self.cost * BETTER:
                self.cost, self.found = cost, pick
            return
        c, *rest = waiting
        least = 0
        for k in rest:
            least |= self.always(k)
        bounds = []
        for i in self.open[c]:
            o = self.options[c][i]
            below = items | o.items
            bound = below | least
            for k in o.choices:
                if k not in pick:
                    bound |= self.always(k)
            bounds.append((self._priced(bound), i, below, o.choices))
        for lower, i, below, more in sorted(bounds):
            if self.left < 0:
                return
            if lower < self.cost * BETTER:
                self.branch({**pick, c: i}, below, (*rest, *more))

    def _priced(self, items: int) -> float:
        self.left -= 1
        return self.price(items)
