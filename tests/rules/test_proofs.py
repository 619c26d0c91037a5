"""Rules of integers, indices and predicates, proved for all values: indices over the integers, whose arithmetic does
not wrap, other integers modulo 2^w, and values of any type as elements of an unknown sort."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from intent_np.rules.pattern import Expr, Rule, call, indices, integers, literal, lo, predicates, rule
from intent_np.rules.simplify import TABLES

from .harness import metavariables

z3 = pytest.importorskip("z3")


PRODUCTS = {"mod-nest"}
"""Rules that multiply two literals in a way that is not decided: proved for all values and small literals instead."""


class Theory:
    """The sort that values are elements of, and what operators mean there."""

    def __init__(self, sort: Any, signed: bool = True) -> None:
        self.sort, self.signed = sort, signed
        self.vectors = isinstance(sort, z3.BitVecSortRef)

    def constant(self, v: Any) -> Any:
        if isinstance(v, bool):
            return z3.BoolVal(v)
        return z3.BitVecVal(v, self.sort) if self.vectors else z3.IntVal(v)

    def less(self, a: Any, b: Any) -> Any:
        return a < b if self.signed or not self.vectors else z3.ULT(a, b)

    def apply(self, name: str, args: list[Any]) -> Any:
        match name:
            case "add":
                return args[0] + args[1]
            case "sub":
                return args[0] - args[1]
            case "mul":
                return args[0] * args[1]
            case "neg":
                return -args[0]
            case "floordiv":
                return floor_div(*args)
            case "ceil_div":
                return -floor_div(-args[0], args[1])
            case "mod":
                return args[0] - args[1] * floor_div(*args)
            case "minimum":
                return z3.If(self.less(args[1], args[0]), args[1], args[0])
            case "maximum":
                return z3.If(self.less(args[0], args[1]), args[1], args[0])
            case "abs":
                return z3.If(self.less(args[0], self.constant(0)), -args[0], args[0])
            case "lt":
                return self.less(args[0], args[1])
            case "le":
                return z3.Or(self.less(args[0], args[1]), args[0] == args[1])
            case "eq":
                return self.equal(*args)
            case "ne":
                return z3.Not(self.equal(*args))
            case "and":
                return z3.And(*args)
            case "not":
                return z3.Not(args[0])
            case "select":
                return z3.If(args[0], args[1], args[2])
        raise NotImplementedError(name)

    def equal(self, a: Any, b: Any) -> Any:
        if a.sort() == z3.BoolSort() or self.vectors or self.sort == z3.IntSort():
            return a == b
        return z3.Function("equal", self.sort, self.sort, z3.BoolSort())(a, b)  # NaN is not equal to itself


def floor_div(a: Any, b: Any) -> Any:
    quotient = a / b  # of z3: the remainder is never negative
    return z3.If(z3.And(b < 0, a != b * quotient), quotient - 1, quotient)


def encoded(e: Expr, theory: Theory, facts: list[Any]) -> Any:
    if e.head in ("var", "literal"):
        name, kind = e.args
        return z3.Const(name, z3.BoolSort() if kind == "b" else theory.sort)
    if e.head == "const":
        return theory.constant(e.args[0])
    if e.head == "fact":
        # sound and slack: some bound, no better than it has to be
        which, of = e.args
        bound, value = z3.Int(f"{which}_{of.args[0]}"), encoded(of, theory, facts)
        facts.append(bound <= value if which == "lower" else bound >= value)
        return bound
    return theory.apply(e.head, [encoded(a, theory, facts) for a in e.args])


def counterexample(r: Rule, theory: Theory) -> str | None:
    """A model in which the guards hold and the sides differ; None when there is none."""
    literals = [n for n, v in metavariables(r.left).items() if v.head == "literal"]
    solver = z3.Solver()
    solver.set("timeout", 60_000 if r.name not in PRODUCTS else 1000)
    facts: list[Any] = []
    guards = [encoded(g, theory, facts) for g in r.when]
    left, right = encoded(r.left, theory, facts), encoded(r.right, theory, facts)
    solver.add(*guards, *facts, left != right)
    found = solver.check()
    if found == z3.unknown and r.name in PRODUCTS:
        found = z3.unsat
        for values in product(range(-4, 25), repeat=len(literals)):
            with_literals = [z3.Const(n, theory.sort) == v for n, v in zip(literals, values, strict=True)]
            found = max(found, solver.check(*with_literals), key=(z3.unsat, z3.unknown, z3.sat).index)
    assert found != z3.unknown, f"{r.name} is not decided"
    return None if found == z3.unsat else str(solver.model())


def theories(r: Rule) -> dict[str, Theory]:
    kinds = {v.args[1] for v in metavariables(r.left).values()}
    if "f" in kinds:
        return {}
    if "x" in kinds:
        return {"integers": Theory(z3.IntSort())}
    if "i" in kinds or heads(r.left) & {"neg", "abs"}:
        return {f"{'i' if s else 'u'}{w}": Theory(z3.BitVecSort(w), s) for w in (8, 32) for s in (True, False)}
    return {"any": Theory(z3.DeclareSort("Value"))}


def heads(e: Expr) -> set[str]:
    return {e.head}.union(*(heads(a) for a in e.args if isinstance(a, Expr)))


PROVABLE = [(r, name, t) for table in TABLES.values() for r in table for name, t in theories(r).items()]


@pytest.mark.parametrize(("r", "name", "theory"), PROVABLE, ids=[f"{r.name}-{name}" for r, name, _ in PROVABLE])
def test_the_rule_is_proved(r: Rule, name: str, theory: Theory) -> None:
    assert counterexample(r, theory) is None


def test_all_but_rules_of_floats_are_proved() -> None:
    proved = {r.name for r, _, _ in PROVABLE}
    rest = [r for table in TABLES.values() for r in table if r.name not in proved]
    assert all("f" in {v.args[1] for v in metavariables(r.left).values()} for r in rest)


x, y = indices("x y")
m, n = integers("m n")
c, d = literal("c d")
p, q = predicates("p q")

WRONG = [
    rule("mod-small", x % c, x, when=[lo(x) >= 0]),
    rule("floordiv-nest", (x // c) // d, x // (c * d), when=[c > 0]),
    rule("mod-nest", (x % c) % d, x % d, when=[c > 0, d > 0]),
    rule("floordiv-of-sum", (x * c + y) // c, x + y // c),
    rule("halves", (m + m) - m + 1, m),
    rule("wraps", m < m + 1, True),
    rule("abs", call("abs", m), m),
    rule("select", call("select", p, q, p), q),
]


@pytest.mark.parametrize("r", WRONG, ids=lambda r: r.name)
def test_a_wrong_rule_has_a_counterexample(r: Rule) -> None:
    assert any(counterexample(r, t) for t in theories(r).values())
