"""The cheapest choice of alternatives, where an execution that several share is paid once.

A pick gives each class with several alternatives one of them.  Classes without a choice are folded into what needs
them: an alternative is the set of items that it forces, and the choices that it leads to.  From a few starts, whole
groups of picks are moved while that helps (one way to have a value, at all places alike), then single ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..terms.normal import Load
from .andor import Node
from .machine import UNITS, Work, seconds
from .saturate import Saturated
from .work import Item, Point

Pick = dict[int, int]

BETTER = 1 - 1e-9
"""A move is taken where it is better than this share, so that ties stay as they are."""


class Option(NamedTuple):
    """What an alternative forces: items as a set of bits, and further choices."""

    items: int
    choices: tuple[int, ...]


class Search:
    """The choices below the root of a frame."""

    def __init__(self, s: Saturated, frame: int, evaluations: int) -> None:
        self.s, self.limit, self.evaluations = s, evaluations, 0
        self.classes = s.graph.classes
        self.root = s.graph.roots[frame]
        self.paths = {p.number: p.path for f in s.frames if f.number == frame for p in f.places}
        self.numbers = {path: number for number, path in self.paths.items()}
        self.items: dict[tuple[Item, tuple[int, ...]], int] = {}
        self._closed: dict[int, Option] = {}
        reached = self._reached()
        self.choices = [c for c in reached if len(self.classes[c]) > 1]
        self.top = self._closure(self.root)
        self.options = {c: [self._option(n) for n in self.classes[c]] for c in self.choices}
        self.weights: list[Work] = []

    # ---- the condensed graph

    def _reached(self) -> list[int]:
        seen = {self.root}
        stack = [self.root]
        while stack:
            for n in self.classes[stack.pop()]:
                stack.extend(k for k in n.classes if k not in seen)
                seen.update(n.classes)
        return sorted(seen, reverse=True)  # users first

    def _closure(self, c: int) -> Option:
        if len(self.classes[c]) > 1:
            return Option(0, (c,))
        if c not in self._closed:
            self._closed[c] = self._option(self.classes[c][0])
        return self._closed[c]

    def _option(self, n: Node) -> Option:
        items = self._own(n)
        choices: dict[int, None] = {}
        for k in n.classes:
            below = self._closure(k)
            items |= below.items
            choices |= dict.fromkeys(below.choices)
        return Option(items, tuple(choices))

    def _own(self, n: Node) -> int:
        """The item of a node; equal literals at one place are one execution only over equal operands."""
        key: list[tuple[Item, tuple[int, ...]]] = [(Item(n.op, n.literals), n.classes)]
        if n.op == "XLeaf":
            leaf, place = n.literals
            t, d = self.s.leaves[leaf], self.s.problem.bits(self.s.leaves[leaf])
            key = [(Item(n.op, (leaf, self._home(d, place))), ())]  # read once for all loops along which it stays
            if isinstance(t, Load):
                key.append((Item("touch", (t.view.name, d, t.type.bytes)), ()))  # type: ignore[union-attr]
        if n.op == "XWeighed":
            (top,) = {alternative.literals for alternative in self.classes[n.classes[0]]}
            key.append((Item("weights", top), n.classes[:1]))
        bits = 0
        for k in key:
            bits |= 1 << self.items.setdefault(k, len(self.items))
        return bits

    def _home(self, d: int, place: int) -> int:
        """The place of the innermost loop along which a value varies."""
        path = self.paths[place]
        while path and not d >> path[-1][0] & 1:
            path = path[:-1]
        return self.numbers[path]

    # ---- cost

    def price(self, point: Point) -> None:
        """Take the costs of a point."""
        self.point = point
        self.weights = [point.price(item) for item, _ in self.items]
        self.launch = point.launch()

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

    def work(self, pick: Pick) -> Work:
        items, total = self.reached(pick)[0], [0.0] * len(UNITS)
        while items:
            low = items & -items
            items ^= low
            total = [a + b for a, b in zip(total, self.weights[low.bit_length() - 1], strict=True)]
        return total

    def cost(self, pick: Pick) -> float:
        self.evaluations += 1
        return seconds(self.work(pick), self.launch, self.point.processors)

    def is_modest(self, pick: Pick, point: Point) -> bool:
        """Whether what a pick keeps has no more elements than some argument, whatever the extents are."""
        items = self.reached(pick)[0]
        space = sum(1 << i for i, r in enumerate(point.frame.roles) if r == "space")
        kept = [i.literals[1] | space for n, (i, _) in enumerate(self.items) if items >> n & 1 and i.op == "XWrite"]
        read = [i.literals[1] for i, _ in self.items if i.op == "touch"]
        arguments = [*read, *(self.s.problem.bits(e) for e in self.s.problem.stores)]
        return all(any(d & ~a == 0 for a in arguments) for d in kept)

    # ---- search

    def best(self, allowed: Callable[[Node], bool] = lambda n: True) -> tuple[float, Pick]:
        """The cheapest pick that is found, of alternatives that are `allowed` where there are any."""
        open_ = {
            c: [i for i, n in enumerate(self.classes[c]) if allowed(n)] or [*range(len(self.classes[c]))]
            for c in self.choices
        }
        groups = self._groups(open_)
        found: tuple[float, Pick] | None = None
        for start in self._starts(open_):
            cost, pick = self._moved(start, groups, open_)
            if found is None or cost < found[0] * BETTER:
                found = cost, pick
        assert found is not None
        return found

    def _starts(self, open_: dict[int, list[int]]) -> list[Pick]:
        kept = {c: next((i for i in own if self.classes[c][i].op == "XRead"), own[0]) for c, own in open_.items()}
        plain = {c: next((i for i in own if self.classes[c][i].op != "XRead"), own[0]) for c, own in open_.items()}
        last = {c: own[-1] for c, own in open_.items()}
        starts = [plain, last, kept]
        return [p for i, p in enumerate(starts) if p not in starts[:i]]

    def _groups(self, open_: dict[int, list[int]]) -> list[list[tuple[int, int]]]:
        """Moves: one kind of alternative in all classes that offer it, then each alternative by itself."""
        kinds: dict[Any, list[tuple[int, int]]] = {}
        single: list[list[tuple[int, int]]] = []
        for c, own in open_.items():
            for i in own:
                n = self.classes[c][i]
                kinds.setdefault(_kind(n, self.classes), []).append((c, i))
                single.append([(c, i)])
        return [m for m in kinds.values() if len(m) > 1] + single

    def _moved(self, pick: Pick, moves: list[list[tuple[int, int]]], open_: dict[int, list[int]]) -> tuple[float, Pick]:
        cost = self.cost(pick)
        improved = True
        while improved:
            improved = False
            met = set(self.reached(pick)[1])
            for move in moves:
                if self.evaluations >= self.limit:
                    return cost, pick
                if not any(c in met and pick[c] != i for c, i in move):
                    continue
                tried = {**pick, **dict(move)}
                new = self.cost(tried)
                if new < cost * BETTER:
                    cost, pick, improved = new, tried, True
                    met = set(self.reached(pick)[1])
        return cost, pick

    def every(self, limit: int = 100_000) -> Iterable[Pick]:
        """All picks that differ in what they reach, up to a limit: the oracle of small problems."""
        stack: list[tuple[Pick, list[int]]] = [({}, list(self.top.choices))]
        first = dict.fromkeys(self.choices, 0)
        while stack and limit:
            pick, waiting = stack.pop()
            waiting = [c for c in waiting if c not in pick]
            if not waiting:
                limit -= 1
                yield {**first, **pick}
                continue
            c, *rest = waiting
            stack += [({**pick, c: i}, [*rest, *o.choices]) for i, o in enumerate(self.options[c])]


def _kind(n: Node, classes: list[list[Node]]) -> Any:
    """What an alternative is, whatever its place: its operator and literals without places; of a result, that of its
    loop."""
    if n.op == "Get":
        made = classes[n.classes[0]][0]
        return ("Get", made.op, *made.literals)
    places = {"XLeaf": 1, "XUn": 1, "XBin": 1, "XTri": 1, "XHold": 1, "XRead": 2, "XStore": 1}.get(n.op, 1)
    return (n.op, *n.literals[:-places])
