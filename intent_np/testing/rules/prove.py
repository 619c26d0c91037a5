"""Proofs of scalar rules by z3: that both sides are one value wherever the guards hold and the left side is defined.

Index rules are proved over the integers, and besides that nothing on the right leaves 64 bits where nothing on the
left does (index arithmetic never wraps).  Other integers are proved modulo 2^w, floats in IEEE arithmetic, and rules
about values of any type also as elements of an unknown sort.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import z3

from ...rules.pattern import Expr, Rule
from ...terms.dtypes import DType, bool_
from ...terms.dtypes import index as index_dtype
from .instances import dtypes, heads, kinds, literal_only, metavariables
from .theory import FLOATS, Bools, Floats, Integers, Modular, Theory, Wrapping

EFFORT = 4_000_000
"""What a question may cost, counted by z3 (some seconds): the same answer on a slow machine as on a fast one."""

SEEDS = 4
"""How often a question is asked."""


@dataclass(frozen=True)
class Found:
    """What z3 says of one rule in one theory: proved, refuted by `model` (values by name), or undecided."""

    theory: str
    outcome: str
    model: dict[str, Any] | None = None
    wraps: bool = False


def theories(r: Rule) -> list[Theory]:
    """The theories in which a rule is proved; they cover its dtypes, but for those that no theory is of."""
    if any("computed" in heads(e) for e in (r.right, *r.when)):  # by a function of Python
        return []
    if "x" in kinds(r):
        return [Integers()]
    if kinds(r) <= {"any", "b"} and not interprets(heads(r.left) | heads(r.right)):
        return [Theory(z3.DeclareSort("Value"))]
    found: list[Theory] = [t for d in dtypes(r) if (t := theory_of(d)) is not None]
    return found


def interprets(names: Iterable[str]) -> bool:
    """Whether some of these operators do something to values that depends on their type."""
    plain = {"var", "literal", "const", "fact", "and", "or", "not", "select", "eq", "ne"}
    return not set(names) <= plain


def theory_of(d: DType) -> Theory | None:
    """The theory of one dtype; None for floats of 8 bits.  Index counts as 64 bits here: rules of integers hold
    modulo 2^w."""
    if d is bool_:
        return Bools()
    if d.is_integer:
        return Modular(d.name, 64 if d is index_dtype else d.bits, d.is_signed)
    return Floats(d.name) if d.name in FLOATS else None


class Encoding:
    """A rule in a theory: its sides, what its guards say, and what its operators need."""

    def __init__(self, r: Rule, theory: Theory) -> None:
        self.theory = theory
        self.facts: list[Any] = []
        self.parts: dict[str, list[Any]] = {"left": [], "right": [], "guard": []}
        self.needs: dict[str, list[Any]] = {"left": [], "right": [], "guard": []}
        self.computed: list[Any] = []  # constants that the right side computes: the matcher asks that they fit
        self.guards = [self.value(g, "guard") for g in r.when]
        self.left, self.right = self.value(r.left, "left"), self.value(r.right, "right")
        self.names = {n: self.leaf(v) for n, v in metavariables(r.left).items()}

    def leaf(self, e: Expr) -> Any:
        name, kind = e.args
        return z3.Const(name, z3.BoolSort() if kind == "b" else self.theory.sort)

    def value(self, e: Expr, side: str) -> Any:
        if e.head in ("var", "literal"):
            return self.leaf(e)
        if e.head == "const":
            return self.theory.constant(e.args[0])
        if e.head == "fact":  # sound and slack: some bound, no better than it has to be
            which, of = e.args
            bound, value = z3.Const(f"{which}_{of.args[0]}", self.theory.sort), self.leaf(of)
            self.facts.append(bound <= value if which == "lower" else bound >= value)
            return bound
        if e.head == "proved":
            return self.value(e.args[0], "guard")
        if e.head == "multiple":
            x, c = map(self.leaf, e.args)
            return z3.And(c > 0, self.theory.apply("mod", [x, c]) == 0)
        args, needs = [], []
        for a in e.args:
            before = len(self.needs[side])
            args.append(self.value(a, side))
            needs.append(self.needs[side][before:])
        if e.head == "select":  # the side that is not taken may be undefined
            kept = self.needs[side][: len(self.needs[side]) - sum(map(len, needs))]
            taken = [z3.If(args[0], z3.And(*needs[1], True), z3.And(*needs[2], True))]
            self.needs[side] = [*kept, *needs[0], *(taken if needs[1] or needs[2] else [])]
        self.needs[side].append(self.theory.valid(e.head, args))
        result = self.theory.apply(e.head, args)
        if side == "right" and z3.is_int(result) and literal_only(e):
            self.computed.append(z3.And(result >= -(2**63), result < 2**63))
        elif side != "guard":
            self.parts[side].append(result)
        return result


def proofs(r: Rule) -> list[Found]:
    """What z3 says of a rule, theory by theory."""
    return [_decided(r, theory) for theory in theories(r)]


def _decided(r: Rule, theory: Theory) -> Found:
    e = Encoding(r, theory)
    given = [*e.guards, *e.facts, *e.needs["left"], *e.needs["guard"]]
    if isinstance(theory, Integers) and not isinstance(theory, Modular):
        whole = [*e.names.values(), *e.parts["left"]]
        given += [z3.And(v >= -(2**63), v < 2**63) for v in whole if z3.is_int(v)]
    right = z3.And(*e.needs["right"], theory.same(e.left, e.right))
    found, model = _refuted(given, right)
    if found == z3.sat:
        return Found(theory.name, "refuted", _values(e, model))
    if found == z3.unknown:
        return Found(theory.name, "undecided")
    wide = [z3.And(v >= -(2**63), v < 2**63) for v in e.parts["right"] if z3.is_int(v)]
    if wide:
        found, model = _refuted([*given, *e.computed], z3.And(*wide))
        if found == z3.unknown:
            return Found(theory.name, "undecided", wraps=True)
        if found == z3.sat:  # rather values at which one sees it: what wraps on the way may come out right
            seen, better = _refuted([*given, *e.computed], e.left == Encoding(r, Wrapping()).right)
            return Found(theory.name, "refuted", _values(e, better if seen == z3.sat else model), wraps=True)
    return Found(theory.name, "proved")


def _refuted(given: list[Any], claim: Any) -> tuple[Any, Any]:
    """Whether z3 finds a model of `given` without `claim`, and that model.

    Each question has a context of its own: what was asked before it would change the model, or what it costs.  What one
    seed of the search does not decide, another one may.
    """
    for seed in range(SEEDS):
        solver = z3.Solver(ctx=z3.Context())
        solver.set("rlimit", EFFORT)
        solver.set("random_seed", seed)
        solver.add(*(g.translate(solver.ctx) for g in (*given, z3.Not(claim))))
        found = solver.check()
        if found != z3.unknown:
            break
    return found, solver.model() if found == z3.sat else None


def _values(e: Encoding, model: Any) -> dict[str, Any]:
    """The metavariables in a model, as Python values; what has none (of an unknown sort) is named as z3 names it."""
    out = {}
    for name, leaf in e.names.items():
        v = model.eval(leaf.translate(model.ctx), model_completion=True)
        if z3.is_int_value(v):
            out[name] = v.as_long()
        elif z3.is_bv_value(v):
            signed = isinstance(e.theory, Modular) and e.theory.signed
            out[name] = v.as_signed_long() if signed else v.as_long()
        elif z3.is_bool(v):
            out[name] = z3.is_true(v)
        elif z3.is_fp(v):
            out[name] = _float(v)
        else:
            out[name] = str(v)
    return out


def _float(v: Any) -> float:
    if v.isNaN():
        return float("nan")
    if v.isInf():
        return float("-inf") if v.isNegative() else float("inf")
    size = float(z3.simplify(z3.fpToReal(z3.fpAbs(v))).as_fraction())
    return -size if v.isNegative() else size
