"""What a frame's picks cost: its executions as items, each paid once, and what leads from one to the next.

Classes without a choice are folded into what needs them: an option is the set of items that it forces, and the choices
that it leads to.  Items that always come together are priced as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..terms.normal import Contract, Load
from .andor import Node
from .cheapest import Choices, Found, Option, Pick
from .machine import UNITS, Work, seconds
from .saturate import Saturated
from .work import Item, Point


class Search:
    """The choices below the root of a frame."""

    def __init__(self, s: Saturated, frame: int, evaluations: int) -> None:
        self.s, self.limit, self.evaluations = s, evaluations, 0
        self.classes = s.graph.classes
        self.root = s.graph.roots[frame]
        self.paths = {p.number: p.path for f in s.frames if f.number == frame for p in f.places}
        self.numbers: dict[Any, int] = {}
        for number, path in self.paths.items():
            self.numbers.setdefault(path, number)
        self.items: dict[tuple[Item, tuple[int, ...]], int] = {}
        self._closed: dict[int, Option] = {}
        self.choices = [c for c in self._reached() if len(self.classes[c]) > 1]
        top = self._closure(self.root)
        options = {c: [self._option(n) for n in self.classes[c]] for c in self.choices}
        self.graph = Choices(top, options)
        self._together = _together(len(self.items), [top, *(o for own in options.values() for o in own)])
        self.weights: list[tuple[int, Work]] = []

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
            key = self._taken((leaf, *self.s.reads(leaf)), place)
        if n.op == "XUn" and n.literals[0].startswith("load "):
            op, d, _ = n.literals
            key += _visit(self.s.gathers[int(op.removeprefix("load "))], d)
        if n.op == "XStore":
            key += self._taken(self.s.addresses[n.literals[0]], n.literals[1])
        if (body := self._product(n)) is not None:
            key.append((Item("pipelined", (body,)), ()))
        if n.op == "XWeighed":
            (top,) = {alternative.literals for alternative in self.classes[n.classes[0]]}
            key.append((Item("weights", top), n.classes[:1]))
        bits = 0
        for k in key:
            bits |= 1 << self.items.setdefault(k, len(self.items))
        return bits

    def _taken(self, leaves: Iterable[int], place: int) -> list[tuple[Item, tuple[int, ...]]]:
        """The items of leaves at a place: once for all loops along which they stay."""
        key: list[tuple[Item, tuple[int, ...]]] = []
        for i in dict.fromkeys(leaves):
            t, d = self.s.leaves[i], self.s.lanes[i]
            key.append((Item("XLeaf", (i, self._home(d, place))), ()))
            key += _visit(t, d) if isinstance(t, Load) else []
        return key

    def _product(self, n: Node) -> int | None:
        """The place of the loop around a product, if a node is one."""
        match n.op, n.literals:
            case ("XFold", (combine, axis, _, body)) | ("XHold", (combine, axis, _, body)):
                by = self.s.combines[combine, axis]
            case "XWeighed", (what, _, body) if what != "sum":
                by = self.s.combines[what.partition(" cast ")[0], self.paths[body][-1][0]]
            case _:
                return None
        return body if isinstance(by, Contract) else None

    def _home(self, d: int, place: int) -> int:
        """The place of the innermost loop along which a value varies."""
        path = self.paths[place]
        while path and not d >> path[-1][0] & 1:
            path = path[:-1]
        return self.numbers[path]

    # ---- cost

    def price(self, point: Point) -> None:
        """Take the costs of a point."""
        self.point, self.launch = point, point.launch(point.registers())
        own = [point.price(item) for item, _ in self.items]
        self.weights = [(1 << m[0], [sum(x) for x in zip(*(own[i] for i in m), strict=True)]) for m in self._together]

    def reached(self, pick: Pick) -> tuple[int, list[int]]:
        """The items that a pick pays for, and the choices that it meets."""
        return self.graph.reached(pick)

    def work(self, pick: Pick) -> Work:
        """The work of all items that a pick pays for."""
        return self._sum(self.reached(pick)[0])

    def _sum(self, items: int) -> Work:
        paid = [w for bit, w in self.weights if items & bit]
        return [sum(x) for x in zip(*paid, strict=True)] if paid else [0.0] * len(UNITS)

    def cost(self, pick: Pick) -> float:
        """The seconds of a pick."""
        return self._cost(self.reached(pick)[0])

    def _cost(self, items: int) -> float:
        self.evaluations += 1
        return seconds(self._sum(items), self.launch, self.point.processors)

    def is_reciprocal(self, n: Node) -> bool:
        """Whether a node multiplies by a reciprocal where it could divide."""
        return (
            n.op == "XBin"
            and n.literals[0] == "mul"
            and any(k.op == "XUn" and k.literals[0] == "rcp" for c in n.classes for k in self.classes[c])
        )

    def is_modest(self, pick: Pick, point: Point) -> bool:
        """Whether what a pick keeps has no more elements than some argument, whatever the extents are."""
        items = self.reached(pick)[0]
        space = sum(1 << i for i, r in enumerate(point.frame.roles) if r == "space")
        ordered = self.s.problem.ordered
        kept = [
            i.literals[1] & ~ordered | space
            for n, (i, _) in enumerate(self.items)
            if items >> n & 1 and i.op == "XWrite"
        ]
        read = [i.literals[1] for i, _ in self.items if i.op == "touch"]
        arguments = [*read, *(self.s.problem.bits(e) for e in self.s.problem.stores)]
        return all(any(d & ~a == 0 for a in arguments) for d in kept)

    # ---- search

    def best(self, allowed: Callable[[Node], bool] = lambda n: True) -> Found:
        """The cheapest pick that is found, of alternatives that are `allowed` where there are any."""
        open_ = {
            c: [i for i, n in enumerate(self.classes[c]) if allowed(n)] or [*range(len(self.classes[c]))]
            for c in self.choices
        }
        left = self.limit - self.evaluations
        return self.graph.best(
            self._cost, open_, self._groups(open_), self._starts(open_), left, self.s.problem.limits.exact
        )

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


def _visit(t: Load, d: int) -> list[tuple[Item, tuple[int, ...]]]:
    """The first visit of what a load reads."""
    return [(Item("touch", (t.view.name, d, t.type.bytes)), ()), (Item("arrival", (d,)), ())]  # type: ignore[union-attr]


def _together(count: int, options: Sequence[Option]) -> list[list[int]]:
    """The items that the same options force: one costs what all of them do."""
    found: dict[tuple[int, ...], list[int]] = {}
    for item in range(count):
        found.setdefault(tuple(i for i, o in enumerate(options) if o.items >> item & 1), []).append(item)
    return list(found.values())


def _kind(n: Node, classes: list[list[Node]]) -> Any:
    """What an alternative is, whatever its place: its operator and literals without places; of a result, that of its
    loop."""
    if n.op == "Get":
        made = classes[n.classes[0]][0]
        return ("Get", made.op, *made.literals)
    places = {"XLeaf": 1, "XUn": 1, "XBin": 1, "XTri": 1, "XHold": 1, "XRead": 2, "XStore": 1}.get(n.op, 1)
    return (n.op, *n.literals[:-places])
