"""A problem through the e-graph: values and facts in, rules until nothing is new, an AND-OR graph out.

egglog is imported here and at first use alone.  The schema is parsed once in a process; each problem works behind a
push, so that nothing of it stays.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

from ..passes.roles import reads_memory
from ..rules.simplify import substitute, uses
from ..terms.core import walk
from ..terms.index import Apply, Cast, Value, const
from ..terms.normal import Contract, Coord, Load, Part, Proj, Reduce, Region, Scan
from ..terms.ordered import evaluated
from .andor import Graph, decoded
from .places import Frame, facts, frames, numbers
from .problem import STRUCTURED, Problem, TooMuch, Unserved, combine_name, opaque, operands, summarized
from .schema import ROUNDS, SCHEMA

PERMITTED = {"relaxed_algebra": "algebra", "relaxed_normalization": "online"}
"""The rules of values that each permission of a program admits."""

_ONE_AT_A_TIME = threading.Lock()


class Saturated(NamedTuple):
    """The AND-OR graph of a problem, with what its numbers stand for.

    leaves:      values that are taken as they are, and summaries of slices
    lanes:       the axes along which each of them varies, as bits
    inside:      the loads of each summary, which a loop makes once for it and for others
    gathers:     loads whose addresses depend on reductions
    addresses:   the loads that each statement makes to know where it stores, or whether
    candidates:  values that may be kept in memory
    combines:    a reduction for each name in the e-graph and axis
    """

    problem: Problem
    graph: Graph
    frames: list[Frame]
    leaves: list[Value]
    lanes: list[int]
    inside: dict[int, list[int]]
    gathers: list[Load]
    addresses: list[list[int]]
    candidates: list[Value]
    combines: dict[tuple[str, int], Any]

    def reads(self, leaf: int) -> list[int]:
        """The leaves that are loads which a leaf asks for: itself, or what a summary reads of the slice in hand."""
        return self.inside.get(leaf) or ([leaf] if isinstance(self.leaves[leaf], Load) else [])


def saturate(problem: Problem, permissions: Iterable[str], keep: bool = False) -> Saturated:
    """All plans of a problem.  `Unserved` where egglog is missing or there are more e-nodes than the limit."""
    if not problem.is_open:
        raise Unserved("there is nothing to choose")
    loader = _Loader(problem, keep)
    if len(loader.names) * sum(len(f.places) for f in loader.frames) > problem.limits.executions:
        raise TooMuch(f"it has more than {problem.limits.executions} values at places")
    rules = " ".join(f"(run {name})" for p, name in PERMITTED.items() if p in permissions)
    again = f"(repeat {ROUNDS} (run exact) {rules} (saturate (run facts)))"
    place = "(run place)" if problem.order.is_plain else "(saturate (run outward)) (run place)"
    schedule = f"(run-schedule (saturate (run facts)) {again} (saturate {place}))"
    with _ONE_AT_A_TIME:
        nodes = _executed(loader.actions, schedule)
    if len(nodes) > problem.limits.nodes:
        raise TooMuch(f"it has more than {problem.limits.nodes} e-nodes")
    known = (
        loader.leaves,
        loader.lanes,
        loader.inside,
        loader.gathers,
        loader.addresses,
        loader.candidates,
        loader.combines,
    )
    return Saturated(problem, decoded(nodes, _alike_places(loader.frames)), loader.frames, *known)


def _alike_places(every: list[Frame]) -> dict[int, int]:
    """The first of the places in no loop of one body, for each: what is computed there is so once."""
    first: dict[Any, int] = {}
    places = [(f, p) for f in every for p in f.places]
    return {p.number: first.setdefault((f.number, p.path, not p.base), p.number) for f, p in places}


@cache
def _engine() -> Any:
    try:
        from egglog import bindings
    except ImportError as problem:
        raise Unserved(f"egglog can't be imported ({problem})") from None
    graph = bindings.EGraph()
    graph.run_program(*graph.parse_program(SCHEMA))
    return bindings, graph


_left_behind = False  # whether the library was used before this process was forked


def _forked() -> None:
    """In the child of a fork: waiting for threads that are not there would never end."""
    global _ONE_AT_A_TIME, _left_behind
    _ONE_AT_A_TIME = threading.Lock()
    _left_behind |= bool(_engine.cache_info().currsize)


os.register_at_fork(after_in_child=_forked)


def _executed(actions: list[Any], schedule: str) -> dict[str, Any]:
    """The serialized e-nodes behind the actions and the schedule."""
    if _left_behind:
        raise Unserved("egglog was used before this process was forked, and its threads stayed there")
    b, graph = _engine()
    where = b.RustSpan("plan", 0, 0)
    graph.run_program(b.Push(1))
    try:
        rule = b.Rule(where, [_action(b, where, a) for a in actions], [], "load", "load")
        run = b.RunSchedule(b.Run(where, b.RunConfig("load")))
        graph.run_program(b.AddRuleset(where, "load"), b.RuleCommand(rule), run)
        graph.run_program(*graph.parse_program(schedule))
        made: dict[str, Any] = json.loads(graph.serialize([b.Call(where, "Root", [])]).to_json())["nodes"]
        return made
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as problem:  # a panic of the library is no Exception
        _engine.cache_clear()
        raise Unserved(f"egglog failed: {type(problem).__name__}") from None
    finally:
        if _engine.cache_info().currsize:
            graph.run_program(b.Pop(where, 1))


def _action(b: Any, where: Any, action: tuple[Any, ...]) -> Any:
    kind, *rest = action
    if kind == "let":
        return b.Let(where, rest[0], _expression(b, where, rest[1]))
    if kind == "set":
        return b.Set(where, rest[0], [_expression(b, where, a) for a in rest[1]], _expression(b, where, rest[2]))
    if kind == "union":
        return b.Union(where, _expression(b, where, rest[0]), _expression(b, where, rest[1]))
    return b.Expr_(where, _expression(b, where, rest[0]))


def _expression(b: Any, where: Any, e: Any) -> Any:
    """`("Un", "exp", Name("v3"))`: a call; strings and integers are literals."""
    if isinstance(e, Name):
        return b.Var(where, e.text)
    if isinstance(e, tuple):
        return b.Call(where, e[0], [_expression(b, where, a) for a in e[1:]])
    return b.Lit(where, b.String(e) if isinstance(e, str) else b.Int(e))


class Name(NamedTuple):
    """What a `let` has named."""

    text: str


class _Loader:
    """The actions that make a problem's values, facts and root."""

    def __init__(self, problem: Problem, keep: bool) -> None:
        self.problem = problem
        self.leaves: list[Value] = []
        self.lanes: list[int] = []
        self.inside: dict[int, list[int]] = {}
        self.gathers: list[Load] = []
        self.addresses: list[list[int]] = []
        self.candidates: list[Value] = []
        self.combines: dict[tuple[str, int], Any] = {}
        self.numbers: dict[Value, int] = {}
        self.names: dict[Any, Name] = {}
        self.actions: list[tuple[Any, ...]] = []
        self.frames = frames(problem, numbers())
        self._values()
        if keep:
            self._keepable()
        self._facts(keep)

    def _values(self) -> None:
        entered: list[Any] = walk(*self.problem.values, below=_entered)
        for t in entered:
            self.names[t] = name = Name(f"v{len(self.names)}")
            self.actions.append(("let", name.text, self._node(t)))
            if opaque(t) or isinstance(t, Load):
                self.actions.append(("set", "lanes", (name,), self.problem.bits(t)))
            self.actions.append(("do", ("dtype", name, str(t.type))))
        for i, s in enumerate(self.problem.statements):
            values: list[Any] = [self.names[v] for v in s.values] or [self._leaf(const(0), 0)]
            self.actions.append(("do", ("stores", i, reduce(lambda a, b: ("Bin", "with", a, b), values))))
        for s in self.problem.statements:
            loads = [t for t in evaluated(*s.address) if isinstance(t, Load)]
            self.addresses.append([self._leaf(t, self.problem.bits(t))[1] for t in loads])

    def _node(self, t: Any) -> tuple[Any, ...]:
        if opaque(t):
            return self._leaf(t, self.problem.bits(t))
        if isinstance(t, STRUCTURED):
            kind, axis = "Scan" if isinstance(t, Scan) else "Red", self.problem.bit[t.axis]  # type: ignore[index]
            values: list[Any] = [self.names[x] for x in operands(t)]
            if isinstance(t, Region):  # what it reads of a slice is taken as it is
                summary = self._leaf(t, self.problem.bits(t) | 1 << axis)
                here = {Coord(Part(t.axis)): Coord(t.axis)}
                loads = [substitute(x, here) for x in summarized(t) if isinstance(x, Load)]
                self.inside[summary[1]] = [self._leaf(x, self.problem.bits(x))[1] for x in loads]
                self.actions.append(("set", "lanes", (summary,), self.lanes[summary[1]]))
                values.insert(0, summary)
            return (kind, self._combine(t), axis, reduce(lambda a, b: ("Bin", "with", a, b), values))
        if isinstance(t, Cast):
            return ("Un", f"cast {t.dtype} {t.mode}", self.names[t.value])
        if isinstance(t, Load):
            self.gathers.append(t)
            places: list[Any] = [self.names[x] for x in operands(t)]
            where = reduce(lambda a, b: ("Bin", "with", a, b), places)
            number = len(self.gathers) - 1
            return ("Un", f"load {number}", where) if self.problem.order.slots(t) is None else ("Got", number, where)
        if isinstance(t, Proj):
            return ("Un", f"proj {t.position}", self.names[t.value])
        return self._applied(t)

    def _leaf(self, t: Value, lanes: int) -> tuple[str, int]:
        if t not in self.numbers:
            self.numbers[t] = len(self.leaves)
            self.leaves.append(t)
            self.lanes.append(lanes)
        return ("Leaf" if self.problem.order.slots(t) is None else "Seen", self.numbers[t])

    def _applied(self, t: Apply) -> tuple[Any, ...]:
        args = [self.names[a] for a in t.args]
        if t.op.name == "mul" and self.problem.bits(t.args[0]).bit_count() < self.problem.bits(t.args[1]).bit_count():
            args.reverse()  # what varies less comes second, where the rules look for factors
        if t.op.arity < 0:  # a connective of several, two by two
            made: Any = args[0]
            for a in args[1:]:
                made = ("Bin", t.op.name, made, a)
            return made  # type: ignore[no-any-return]
        return ({1: "Un", 2: "Bin", 3: "Tri"}[len(args)], t.op.name, *args)

    def _combine(self, t: Any) -> str:
        """The name of a reduction: that of a builtin one where rules are about it, else one of its own."""
        name = next((name for (name, _), known in self.combines.items() if _alike(known, t)), None)
        if name is None:
            taken = {name for name, _ in self.combines}
            plain = f"dot {t.acc}" if isinstance(t, Contract) else combine_name(t)
            name = plain if plain and plain not in taken else f"combine {len(taken)}"
        self.combines.setdefault((name, self.problem.bit[t.axis]), t)
        return name

    def _keepable(self) -> None:
        """Values that several places could read: used more than once, arithmetic, and varying along a looped axis."""
        used = uses(self.problem.values)
        looped = 0
        for f in self.frames:
            looped |= f.looped
        for t in self.names:
            if (
                used[t] > 1
                and isinstance(t, (Apply, Contract, Reduce, Scan))
                and self.problem.bits(t) & looped
                and not opaque(t)
                and not any(a.lanes or a.needs or reads_memory(a) for a in t.lanes)  # memory for it has an extent
                and getattr(t.type, "is_float", False)
            ):
                self.actions.append(("do", ("cand", self.names[t], len(self.candidates))))
                self.candidates.append(t)

    def _facts(self, keep: bool) -> None:
        for name, values in facts(self.problem, self.frames, keep):
            self.actions.append(("do", (name, *values)))
        for known, terms in (("sees", self.leaves), ("gets", self.gathers)):
            for i, t in enumerate(terms):
                slots = self.problem.order.slots(t)
                for p in (p for f in self.frames for p in f.places) if slots is not None else ():
                    if p.slot in slots:  # type: ignore[operator]
                        self.actions.append(("do", (known, i, p.number)))
        for name in dict.fromkeys(name for name, _ in self.combines):
            if name.startswith("dot "):
                self.actions.append(("do", ("dot", name)))
        casts = {("f32", "f16"), ("f32", "bf16"), ("f64", "f32")}
        for wide, narrow in sorted(casts):
            self.actions.append(("do", ("widens", narrow, wide)))
        for dtype in sorted({d for pair in casts for d in pair}):
            self.actions.append(("do", ("casts", f"cast {dtype} wrap", dtype)))
        for f in self.frames:
            effects: Any = ("Eff", 0, f.number)
            for i in range(1, len(self.problem.statements)):
                effects = ("Seq", effects, ("Eff", i, f.number))
            self.actions.append(("union", ("Root",), ("XFrame", f.number, effects)))


def _alike(a: Any, b: Any) -> bool:
    """Whether two reductions combine alike."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (Contract, Region)):
        return a is b or isinstance(a, Contract) and a.acc is b.acc
    known = lambda t: (t.combine, t.identities, getattr(t, "reverse", False))  # noqa: E731
    return known(a) == known(b)  # type: ignore[no-any-return]


def _entered(t: Any) -> Sequence[Any]:
    """What enters the e-graph with a value: nothing below an opaque one."""
    return () if opaque(t) else operands(t)
